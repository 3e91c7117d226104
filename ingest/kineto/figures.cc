// The keys of docs/guide/import.md.
#include "ingest/kineto/figures.h"

#include <algorithm>
#include <utility>

#include "ingest/imported/account.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim::kineto {
namespace {

using Rows = std::vector<std::vector<std::string>>;

template <class Value>
FigureValue optional_value(const std::optional<Value>& value) {
  return value ? FigureValue(*value) : FigureValue();
}

std::string milliseconds(std::int64_t ns) { return fixed(static_cast<double>(ns) / 1e6, 3); }
std::string microseconds(std::int64_t ns) { return fixed(static_cast<double>(ns) / 1e3, 1); }

Figure run_figure(const RunInfo& run) {
  std::map<std::string, std::int64_t> sizes;
  if (run.groups)
    for (const ListedGroup& group : *run.groups)
      ++sizes[std::to_string(group.size.value_or(static_cast<std::int64_t>(group.ranks.size())))];
  Figure size_figure = counts_figure("group_sizes", sizes);
  if (!run.groups) size_figure = Figure("group_sizes", FigureValue());
  return Figure::group(
      "distributed",
      {{"rank", optional_value(run.rank)},
       {"world_size", optional_value(run.world_size)},
       {"backend", optional_value(run.backend)},
       {"process_groups",
        run.groups ? FigureValue(static_cast<std::int64_t>(run.groups->size())) : FigureValue()},
       std::move(size_figure)});
}

Figure whole_figure(const DeviceTime& time) {
  return Figure::group("whole", {{"span_ns", time.span},
                                 {"busy_ns", time.busy},
                                 {"idle_ns", time.span - time.busy},
                                 {"compute_busy_ns", time.compute},
                                 {"communication_busy_ns", time.communication},
                                 {"memory_busy_ns", time.memory},
                                 {"overlap_ns", time.overlap},
                                 {"exposed_communication_ns", time.exposed},
                                 {"exposed_communication_beyond_memory_ns", time.exposed_beyond_memory}});
}

Figure device_figure(const Summary& summary) {
  std::vector<Figure> streams;
  for (const auto& [name, stream] : summary.streams)
    streams.push_back(Figure::group(name, {{"events", stream.events}, {"busy_ns", stream.busy_ns}}));
  return Figure::group("gpu", {{"kernels", summary.compute_kernels + summary.communication_kernels},
                               {"compute_kernels", summary.compute_kernels},
                               {"communication_kernels", summary.communication_kernels},
                               {"memory_operations", summary.memory_operations},
                               {"sum_compute_ns", summary.sum_compute_ns},
                               {"sum_communication_ns", summary.sum_communication_ns},
                               {"sum_memory_ns", summary.sum_memory_ns},
                               Figure::group("streams", std::move(streams)),
                               whole_figure(summary.whole)});
}

Figure step_figure(const StepTime& step) {
  std::vector<Figure> parts = {{"step", step.step.number},
                               {"host_begin_ns", step.step.begin_ns},
                               {"host_duration_ns", step.step.end_ns - step.step.begin_ns},
                               {"launched", step.launched}};
  if (step.launched > 0) {
    parts.emplace_back("device_span_ns", step.device.span);
    parts.emplace_back("compute_busy_ns", step.device.compute);
    parts.emplace_back("communication_busy_ns", step.device.communication);
    parts.emplace_back("exposed_communication_ns", step.device.exposed);
  }
  if (step.to_next_ns) parts.emplace_back("to_next_begin_ns", *step.to_next_ns);
  return Figure::group("", std::move(parts));
}

Figure collective_figure(const CollectiveTime& row) {
  return Figure::group("", {{"kind", row.call.kind},
                            {"group_size", optional_value(row.call.group_size)},
                            {"ranks", optional_value(row.call.ranks)},
                            {"dtype", optional_value(row.call.type)},
                            {"in_bytes", optional_value(row.call.in_bytes)},
                            {"out_bytes", optional_value(row.call.out_bytes)},
                            {"count", row.count},
                            {"sum_ns", row.sum_ns},
                            {"shortest_ns", row.shortest_ns}});
}

Figure flags_figure(const Profile& profile, const Summary& summary) {
  std::map<std::string, std::int64_t> flags;
  if (summary.undescribed > 0)
    flags["communication kernel without collective arguments"] = summary.undescribed;
  if (profile.without_duration > 0) flags["zero or negative duration"] = profile.without_duration;
  return counts_figure("flags", flags);
}

std::string heading(const std::string& title, const Profile& profile) {
  std::string text = title;
  if (profile.run && profile.run->rank) {
    text += " of rank " + std::to_string(*profile.run->rank);
    if (profile.run->world_size) text += " of " + std::to_string(*profile.run->world_size);
  }
  for (const Device& device : profile.devices) text += ", " + device.name;
  return text + "\n";
}

std::string time_text(const Summary& summary) {
  const DeviceTime& whole = summary.whole;
  return align({{"device", "ms"},
                {"from first to last", milliseconds(whole.span)},
                {"busy", milliseconds(whole.busy)},
                {"computing", milliseconds(whole.compute)},
                {"communicating", milliseconds(whole.communication)},
                {"of it while computing", milliseconds(whole.overlap)},
                {"of it exposed", milliseconds(whole.exposed)},
                {"copying and setting memory", milliseconds(whole.memory)}});
}

std::string steps_text(const Summary& summary) {
  if (summary.steps.empty()) return "";
  Rows rows = {
      {"step", "host ms", "launched", "device ms", "computing ms", "communicating ms", "exposed ms"}};
  for (const StepTime& step : summary.steps)
    rows.push_back({std::to_string(step.step.number), milliseconds(step.step.end_ns - step.step.begin_ns),
                    count_text(step.launched), milliseconds(step.device.span),
                    milliseconds(step.device.compute), milliseconds(step.device.communication),
                    milliseconds(step.device.exposed)});
  return "\n" + align(rows);
}

std::string collectives_text(const Summary& summary) {
  if (summary.collectives.empty()) return "";
  Rows rows = {{"collective", "group", "bytes in", "bytes out", "count", "sum ms", "shortest us"}};
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? count_text(*value) : "-";
  };
  for (const CollectiveTime& row : summary.collectives)
    rows.push_back({row.call.kind, number(row.call.group_size), number(row.call.in_bytes),
                    number(row.call.out_bytes), count_text(row.count), milliseconds(row.sum_ns),
                    microseconds(row.shortest_ns)});
  return "\n" + align(rows) + "A kernel's time holds its waiting for other ranks.\n";
}

Figure joined_figure(std::size_t index, const JoinedCollective& each) {
  return Figure::group("", {{"index", static_cast<std::int64_t>(index)},
                            Figure::list("kernels", values_of(each.kernels)),
                            {"kind", each.kind},
                            {"group", each.group.empty() ? FigureValue() : FigureValue(each.group)},
                            {"shortest_ns", each.shortest_ns},
                            {"longest_ns", each.longest_ns},
                            {"last_arrival", each.last_arrival},
                            {"first_arrival", each.first_arrival},
                            {"spread_of_begins_ns", each.spread_of_begins_ns},
                            {"transfer_ns", each.transfer_ns},
                            {"waited_ns", each.waited_ns}});
}

}  // namespace

std::vector<Figure> profile_figures(const Profile& profile, const Summary& summary) {
  std::vector<Figure> devices, steps, collectives;
  for (const Device& device : profile.devices)
    devices.push_back(Figure::group("", {{"name", device.name}, {"memory", device.memory_bytes}}));
  for (const StepTime& step : summary.steps) steps.push_back(step_figure(step));
  for (const CollectiveTime& row : summary.collectives) collectives.push_back(collective_figure(row));
  std::vector<Figure> figures = {{"kind", std::string("kineto")},
                                 {"events", profile.events},
                                 counts_figure("events_by_category", profile.by_category),
                                 counts_figure("events_not_complete", profile.not_complete)};
  if (profile.run) figures.push_back(run_figure(*profile.run));
  append(figures, {{"base_time_ns", profile.base_ns},
                   Figure::list("devices", std::move(devices)),
                   device_figure(summary),
                   Figure::list("steps", std::move(steps)),
                   Figure::list("collectives", std::move(collectives)),
                   {"device_step_annotations", profile.device_steps},
                   flags_figure(profile, summary)});
  return figures;
}

std::string profile_text(const std::string& title, const Profile& profile, const Summary& summary) {
  return heading(title, profile) + "\n" + time_text(summary) + steps_text(summary) +
         collectives_text(summary);
}

std::vector<Figure> ranks_figures(const std::vector<RankProfile>& ranks, const JoinedRanks& joined) {
  std::vector<Figure> counts, matched, each_rank;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankProfile& rank = ranks[i];
    counts.emplace_back(std::to_string(rank.rank), rank.summary.communication_kernels);
    each_rank.push_back(Figure::group("", {{"rank", rank.rank},
                                           {"file", rank.file},
                                           {"compute_busy_ns", rank.summary.whole.compute},
                                           {"communication_busy_ns", rank.summary.whole.communication},
                                           {"exposed_communication_ns", rank.summary.whole.exposed},
                                           {"slowness", joined.ranks[i].slowness},
                                           {"last_to_arrive", joined.ranks[i].last},
                                           {"waited_ns", joined.ranks[i].waited_ns},
                                           {"waited_for_ns", joined.ranks[i].waited_for_ns},
                                           {"clock_shift_ns", joined.shift_ns[i]}}));
  }
  for (std::size_t i = 0; i < joined.collectives.size(); ++i)
    matched.push_back(joined_figure(i, joined.collectives[i]));
  return {{"kind", std::string("kineto")},
          {"ranks", static_cast<std::int64_t>(ranks.size())},
          Figure::group("communication_kernels", std::move(counts)),
          Figure::list("matched_by_order", std::move(matched)),
          {"unmatched_kernels", joined.unmatched},
          {"mixed_collectives", joined.mixed},
          {"clock_residual_ns", joined.residual_ns},
          Figure::list("rank", std::move(each_rank))};
}

std::string ranks_text(const std::string& title, const std::vector<RankProfile>& ranks,
                       const JoinedRanks& joined) {
  std::string text = title + ", " + count_text(static_cast<std::int64_t>(joined.collectives.size())) +
                     " collectives joined\n";
  if (joined.unmatched > 0)
    text += "note: " + count_text(joined.unmatched) + " kernels have no counterpart\n";
  if (joined.mixed > 0)
    text += "note: ranks name different kernels in " + count_text(joined.mixed) + " of them\n";
  if (std::ranges::any_of(joined.shift_ns, [](std::int64_t ns) { return ns != 0; }))
    text += "note: clocks are shifted so that collectives end together, to within " +
            microseconds(joined.residual_ns) + " us\n";
  Rows rows = {{"rank", "computing ms", "of the median", "exposed ms", "came last", "waited ms",
                "kept others waiting ms"}};
  for (std::size_t i = 0; i < ranks.size(); ++i)
    rows.push_back({std::to_string(ranks[i].rank), milliseconds(ranks[i].summary.whole.compute),
                    percent(joined.ranks[i].slowness), milliseconds(ranks[i].summary.whole.exposed),
                    count_text(joined.ranks[i].last), milliseconds(joined.ranks[i].waited_ns),
                    milliseconds(joined.ranks[i].waited_for_ns)});
  text += "\n" + align(rows);
  const auto slowest = std::ranges::max_element(joined.ranks, {}, &RankWaits::waited_for_ns);
  if (slowest != joined.ranks.end() && slowest->waited_for_ns > 0)
    text += "Rank " + std::to_string(slowest->rank) + " kept the others waiting longest: it came last to " +
            count_text(slowest->last) + " of " +
            count_text(static_cast<std::int64_t>(joined.collectives.size())) + " collectives.\n";
  return text;
}

}  // namespace podsim::kineto
