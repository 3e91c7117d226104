// The keys of docs/guide/import.md.
#include "ingest/chakra/figures.h"

#include <algorithm>
#include <utility>

#include "ingest/hlo/fields.h"
#include "ingest/imported/account.h"
#include "report/text/align.h"

namespace podsim::chakra {
namespace {

using Rows = std::vector<std::vector<std::string>>;

template <class Value>
FigureValue optional_value(const std::optional<Value>& value) {
  return value ? FigureValue(*value) : FigureValue();
}

FigureValue metadata_value(const AttributeValue& value) {
  return std::visit([](const auto& each) { return FigureValue(each); }, value);
}

Figure types_figure(const Summary& summary) {
  std::vector<Figure> parts;
  for (std::size_t type = 0; type < summary.by_type.size(); ++type)
    if (summary.by_type[type] > 0)
      parts.emplace_back(to_string(static_cast<NodeType>(type)), summary.by_type[type]);
  return Figure::group("nodes_by_type", std::move(parts));
}

Figure compute_figure(const Summary& summary) {
  return Figure::group("compute_us", {{"cpu", summary.host_compute_us}, {"gpu", summary.device_compute_us}});
}

Figure untimed_figure(const Summary& summary) {
  return Figure::group("without_duration", {{"cpu", summary.host_untimed}, {"gpu", summary.device_untimed}});
}

Figure communication_figure(const Summary& summary, bool of_one) {
  std::vector<Figure> rows;
  for (const Communication& row : summary.communication) {
    std::vector<Figure> parts = {
        {"kind", row.kind}, {"bytes", optional_value(row.bytes)}, {"group", optional_value(row.group)}};
    if (of_one) {
      parts.emplace_back("src", optional_value(row.source));
      parts.emplace_back("dst", optional_value(row.target));
    }
    parts.emplace_back("count", row.count);
    parts.emplace_back("recorded_us", row.recorded_us);
    rows.push_back(Figure::group("", std::move(parts)));
  }
  return Figure::list("communication", std::move(rows));
}

Figure groups_figure(const std::vector<ProcessGroup>& groups) {
  std::vector<Figure> rows;
  for (const ProcessGroup& group : groups)
    rows.push_back(
        Figure::group("", {{"pg_name", group.name}, Figure::list("ranks", values_of(group.ranks))}));
  return Figure::list("process_groups", std::move(rows));
}

// The first few callers that the file lacks.
Figure problems_figure(const Trace& trace) {
  constexpr std::size_t kMostShown = 5;
  std::vector<std::string> texts;
  for (const Dangling& each : trace.dangling_control) {
    if (texts.size() == kMostShown) break;
    texts.push_back("node " + std::to_string(each.node) + " waits for " + std::to_string(each.other) +
                    " (ctrl), which the file lacks");
  }
  return Figure::list("problems", values_of(texts));
}

Figure other_problems_figure(const Summary& summary) {
  std::vector<std::string> texts;
  if (summary.never_run > 0)
    texts.push_back(std::to_string(summary.never_run) + " nodes lie on or behind a cycle");
  return Figure::list("other_problems", values_of(texts));
}

std::string work_text(const Summary& summary) {
  Rows rows = {{"nodes", "count", "us"}};
  const auto row = [&](const char* name, std::int64_t count, std::int64_t us) {
    if (count > 0) rows.push_back({name, count_text(count), count_text(us)});
  };
  row("computations of hosts", summary.host_operations, summary.host_compute_us);
  row("computations of devices", summary.device_operations, summary.device_compute_us);
  return rows.size() > 1 ? align(rows) + "\n" : "";
}

std::string communication_text(const Summary& summary) {
  if (summary.communication.empty()) return "";
  Rows rows = {{"communication", "bytes", "group", "count", "recorded us"}};
  for (const Communication& each : summary.communication)
    rows.push_back({each.kind, each.bytes ? count_text(*each.bytes) : "-", each.group.value_or("-"),
                    count_text(each.count), count_text(each.recorded_us)});
  return align(rows) + "\n";
}

std::string untimed_text(const Summary& summary) {
  std::string text;
  for (const std::string& note : untimed_notes(summary.host_untimed, summary.device_untimed))
    text += "note: " + note + "\n";
  return text;
}

std::int64_t compute_us(const Summary& summary) {
  return hlo::saturating_add(summary.host_compute_us, summary.device_compute_us);
}

std::int64_t longest_compute_us(const std::vector<RankTrace>& ranks) {
  std::int64_t longest = 0;
  for (const RankTrace& each : ranks) longest = std::max(longest, compute_us(*each.summary));
  return longest;
}

}  // namespace

std::vector<Figure> trace_figures(const Trace& trace, const Summary& summary) {
  std::vector<Figure> metadata;
  for (const auto& [name, value] : trace.metadata) metadata.emplace_back(name, metadata_value(value));
  return {{"kind", std::string("chakra")},
          {"version", trace.version.empty() ? FigureValue() : FigureValue(trace.version)},
          Figure::group("metadata", std::move(metadata)),
          {"nodes", summary.nodes},
          {"last_node", trace.nodes.back().id},
          types_figure(summary),
          {"cpu_operations", summary.host_operations},
          {"gpu_operations", summary.device_operations},
          {"ctrl_dependencies", trace.control_dependencies},
          {"dependencies_used", std::string(to_string(summary.used))},
          {"data_dependencies", trace.data_dependencies},
          problems_figure(trace),
          {"dangling_ctrl", static_cast<std::int64_t>(trace.dangling_control.size())},
          {"dangling_data", std::int64_t{0}},  // a trace with any is refused
          other_problems_figure(summary),
          compute_figure(summary),
          untimed_figure(summary),
          {"num_ops", summary.operations},
          {"tensor_bytes", summary.tensor_bytes},
          communication_figure(summary, true),
          {"communication_bytes", summary.communication_bytes},
          groups_figure(trace.groups),
          Figure::group("critical_path_us", {{"compute_only", summary.compute_path_us},
                                             {"all_recorded", summary.recorded_path_us}}),
          {"duplicate_starts", summary.same_starts},
          counts_figure("attributes", trace.attributes)};
}

std::string trace_text(const std::string& file, const Trace& trace, const Summary& summary) {
  std::string text = file + ": Chakra trace of one rank, " + count_text(summary.nodes) +
                     " nodes, the last of the file node " + std::to_string(trace.nodes.back().id) + "\n";
  if (!trace.dangling_control.empty())
    text += "note: " + count_text(static_cast<std::int64_t>(trace.dangling_control.size())) +
            " control dependencies are on nodes that the file lacks\n";
  if (summary.used == DependenciesUsed::kData)
    text += "note: with control dependencies " + count_text(summary.never_run) +
            " nodes would wait for each other in a circle; only data dependencies count\n";
  return text + untimed_text(summary) + "\n" + work_text(summary) + communication_text(summary) +
         "longest chain of computations " + count_text(summary.compute_path_us) +
         " us, of everything recorded " + count_text(summary.recorded_path_us) + " us\n";
}

std::vector<Figure> ranks_figures(const std::vector<RankTrace>& ranks, const Groups& groups) {
  const Summary sum = sum_of(ranks);
  std::vector<Figure> listed, each_rank;
  for (const auto& [name, members] : groups)
    listed.push_back(Figure::group("", {{"pg_name", name}, Figure::list("ranks", values_of(members))}));
  for (const RankTrace& each : ranks)
    each_rank.push_back(
        Figure::group("", {{"rank", each.rank},
                           {"nodes", each.summary->nodes},
                           compute_figure(*each.summary),
                           {"critical_path_us", each.summary->compute_path_us},
                           {"dependencies_used", std::string(to_string(each.summary->used))}}));
  return {{"kind", std::string("chakra")},
          {"ranks", static_cast<std::int64_t>(ranks.size())},
          {"nodes", sum.nodes},
          types_figure(sum),
          compute_figure(sum),
          untimed_figure(sum),
          {"longest_compute_us", longest_compute_us(ranks)},
          {"num_ops", sum.operations},
          {"tensor_bytes", sum.tensor_bytes},
          communication_figure(sum, false),
          {"communication_bytes", sum.communication_bytes},
          Figure::list("process_groups", std::move(listed)),
          Figure::list("rank", std::move(each_rank))};
}

std::string ranks_text(const std::vector<RankTrace>& ranks) {
  const Summary sum = sum_of(ranks);
  const auto slowest =
      std::ranges::max_element(ranks, {}, [](const RankTrace& each) { return compute_us(*each.summary); });
  return ranks.front().file + " and its sisters: Chakra traces of " +
         count_text(static_cast<std::int64_t>(ranks.size())) + " ranks, " + count_text(sum.nodes) +
         " nodes\n" + untimed_text(sum) + "\n" + work_text(sum) + communication_text(sum) + "rank " +
         std::to_string(slowest->rank) + " computes longest, " + count_text(compute_us(*slowest->summary)) +
         " us\n";
}

}  // namespace podsim::chakra
