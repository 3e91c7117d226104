// Sums over the nodes of a trace, and its critical paths.
#include "ingest/chakra/summary.h"

#include <algorithm>
#include <set>

#include "engine/check.h"
#include "ingest/chakra/order.h"
#include "ingest/hlo/fields.h"

namespace podsim::chakra {
namespace {

// Communication is told apart by these: type, kind of a collective, bytes, group, source, target.
using Key = std::tuple<NodeType, std::int8_t, std::int64_t, std::int32_t, std::int32_t, std::int32_t>;

std::optional<std::int64_t> if_said(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

std::string kind_words(const Node& node) {
  if (node.type != NodeType::kCollective) return to_string(node.type);
  return node.collective < 0 ? "no comm_type" : collective_name(node.collective);
}

void add_communication(const Trace& trace, const Node& node, std::map<Key, std::size_t>& rows,
                       Summary& summary) {
  const bool collective = node.type == NodeType::kCollective;
  const Key key = {node.type,   collective ? node.collective : std::int8_t{0},
                   node.bytes,  node.group,
                   node.source, node.target};
  const auto [found, added] = rows.try_emplace(key, summary.communication.size());
  if (added)
    summary.communication.push_back({kind_words(node), if_said(node.bytes), trace.group_of(node),
                                     if_said(node.source), if_said(node.target), 0, 0});
  Communication& row = summary.communication[found->second];
  ++row.count;
  row.recorded_us = hlo::saturating_add(row.recorded_us, node.duration_us);
  summary.communication_bytes =
      hlo::saturating_add(summary.communication_bytes, std::max<std::int64_t>(node.bytes, 0));
}

void add_node(const Trace& trace, const Node& node, std::map<Key, std::size_t>& rows, Summary& summary) {
  ++summary.by_type[static_cast<std::size_t>(node.type)];
  summary.operations = hlo::saturating_add(summary.operations, node.operations);
  summary.tensor_bytes = hlo::saturating_add(summary.tensor_bytes, node.tensor_bytes);
  if (node.type == NodeType::kCompute) {
    ++(node.on_host ? summary.host_operations : summary.device_operations);
    std::int64_t& sum = node.on_host ? summary.host_compute_us : summary.device_compute_us;
    sum = hlo::saturating_add(sum, node.duration_us);
    if (node.operations > 0 && node.duration_us == 0)
      ++(node.on_host ? summary.host_untimed : summary.device_untimed);
  }
  if (node.type >= NodeType::kSend) add_communication(trace, node, rows, summary);
}

std::int64_t same_starts(const std::vector<Node>& nodes) {
  std::vector<std::int64_t> starts;
  starts.reserve(nodes.size());
  for (const Node& node : nodes) starts.push_back(node.start_us);
  if (!std::ranges::is_sorted(starts)) std::ranges::sort(starts);
  std::int64_t same = 0;
  for (std::size_t i = 0; i < starts.size(); ++i)
    if ((i > 0 && starts[i - 1] == starts[i]) || (i + 1 < starts.size() && starts[i + 1] == starts[i]))
      ++same;
  return same;
}

// The latest end, where a node starts when all that it waits for has ended.
template <class Duration>
std::int64_t longest_path_us(const Trace& trace, const Summary& summary, const Duration& duration_us) {
  const std::vector<const Lists*> waits = waits_of(trace, summary.used);
  std::vector<std::int64_t> end(trace.nodes.size(), 0);
  std::int64_t latest = 0;
  for (const std::int32_t node : summary.order) {
    const auto index = static_cast<std::size_t>(node);
    for (const Lists* lists : waits)
      for (const std::int32_t other : lists->of(index))
        end[index] = std::max(end[index], end[static_cast<std::size_t>(other)]);
    end[index] = hlo::saturating_add(end[index], duration_us(trace.nodes[index]));
    latest = std::max(latest, end[index]);
  }
  return latest;
}

std::string cycle_text(const Trace& trace, const std::vector<const Lists*>& waits) {
  constexpr std::size_t kMostNamed = 12;
  const std::vector<std::int32_t> cycle = nodes_of_a_cycle(trace.nodes, waits);
  std::vector<std::uint64_t> ids;
  for (const std::int32_t node : cycle) ids.push_back(trace.nodes[static_cast<std::size_t>(node)].id);
  std::sort(ids.begin(), ids.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ids[i]);
  if (ids.size() > kMostNamed) text += " and " + std::to_string(ids.size() - kMostNamed) + " more";
  return text;
}

bool find_order(const std::string& file, const Trace& trace, Summary& summary,
                std::vector<Problem>& problems) {
  for (const DependenciesUsed used : {DependenciesUsed::kControlAndData, DependenciesUsed::kData}) {
    const std::vector<const Lists*> waits = waits_of(trace, used);
    summary.used = used;
    summary.order = order_of(trace.nodes, waits);
    if (summary.order.size() == trace.nodes.size()) return true;
    if (used == DependenciesUsed::kControlAndData)
      summary.never_run = static_cast<std::int64_t>(trace.nodes.size() - summary.order.size());
    else
      problems.push_back(
          {file, 0, 0, "a cycle: nodes " + cycle_text(trace, waits) + " wait for each other", "", ""});
  }
  return false;
}

}  // namespace

const char* to_string(DependenciesUsed used) {
  return used == DependenciesUsed::kControlAndData ? "ctrl+data" : "data";
}

std::vector<const Lists*> waits_of(const Trace& trace, DependenciesUsed used) {
  if (used == DependenciesUsed::kData) return {&trace.data};
  return {&trace.control, &trace.data};
}

std::optional<Summary> summarize(const std::string& file, const Trace& trace,
                                 std::vector<Problem>& problems) {
  Summary summary;
  summary.nodes = static_cast<std::int64_t>(trace.nodes.size());
  std::map<Key, std::size_t> rows;
  for (const Node& node : trace.nodes) add_node(trace, node, rows, summary);
  summary.same_starts = same_starts(trace.nodes);
  if (!find_order(file, trace, summary, problems)) return std::nullopt;
  summary.compute_path_us = longest_path_us(trace, summary, [](const Node& node) {
    return node.type == NodeType::kCompute ? node.duration_us : 0;
  });
  summary.recorded_path_us =
      longest_path_us(trace, summary, [](const Node& node) { return node.duration_us; });
  return summary;
}

std::vector<std::string> untimed_notes(std::int64_t on_hosts, std::int64_t on_devices) {
  const std::string reason = " have operations but no duration: they take no time here";
  std::vector<std::string> notes;
  if (on_devices > 0)
    notes.push_back(std::to_string(on_devices) + " nodes" + reason +
                    "; --compute roofline --chip NAME times them by the chip's rates");
  if (on_hosts > 0) notes.push_back(std::to_string(on_hosts) + " nodes of hosts" + reason);
  return notes;
}

std::vector<Account> accounts_of(const Trace& trace) {
  static const std::set<std::string> kUsed = {"is_cpu_op", "num_ops",   "tensor_size",
                                              "comm_type", "comm_size", "comm_src",
                                              "comm_dst",  "comm_tag",  "pg_name"};
  static const std::set<std::string> kNotOfTime = {
      "comm_priority", "involved_dim", "op_schema", "fw_parent",      "fw_tid",     "seq_id",
      "rf_id",         "scope",        "tid",       "kernel_backend", "kernel_file"};
  Account nodes{"nodes", 0, 0, {}, {}}, attributes{"attributes", 0, 0, {}, {}};
  for (const Node& node : trace.nodes) {
    ++nodes.read;
    if (node.type == NodeType::kInvalid)
      ++nodes.unknown["type INVALID"];
    else if (node.type == NodeType::kCollective && node.moves_data() && node.collective < 0)
      ++nodes.unknown["collective without comm_type"];
    else if (node.type == NodeType::kMetadata)
      ++nodes.passed_over["metadata"];
    else
      ++nodes.used;
  }
  for (const auto& [name, count] : trace.attributes) {
    attributes.read += count;
    if (kUsed.count(name) != 0)
      attributes.used += count;
    else if (kNotOfTime.count(name) != 0)
      attributes.passed_over["of the traced program"] += count;
    else
      attributes.unknown[name] += count;
  }
  return {nodes, attributes};
}

}  // namespace podsim::chakra
