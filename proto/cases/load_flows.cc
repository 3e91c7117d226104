// JSON flow cases: keys, ranges, paths that hang together, and routes for the flows that have none.
#include "proto/cases/load_flows.h"

#include <algorithm>

#include "engine/number_text.h"
#include "proto/text/json_values.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

constexpr std::int32_t kMostItems = 1'000'000;  // nodes; edges; flows
constexpr std::int32_t kMostHops = 30'000'000;  // of all routes together
constexpr double kMostBytesOfFlow = 1e18, kMostBytesPerS = 1e18, kMostSeconds = 1e9;
constexpr double kLeastWeight = 1e-6, kMostWeight = 1e6;
constexpr const char* kAllToAll = "all ordered pairs src!=dst, src-major; start 0; bytes ";

class FlowReader {
 public:
  FlowReader(Document& document, const JsonTree& tree) : values_(document, tree) {}

  void read() {
    const auto found =
        values_.object(0, {"name", "note", "nodes", "edges", "flows", "route", "capacity_events", "jobs",
                           "expected_finish_s", "expected_finish_note", "makespan_s", "mean_finish_s",
                           "max_edge_bytes", "mean_edge_bytes"});
    if (!found) return;
    const std::vector<std::int32_t>& key = *found;
    case_.name = values_.text(key[0]).value_or("");
    values_.text(key[1]);
    const char* const required[] = {"nodes", "edges", "flows"};
    for (std::size_t k = 0; k < 3; ++k)
      if (key[2 + k] == kMissing) values_.report_missing(0, required[k]);
    const auto nodes = values_.index(key[2], kMostItems + 1, "a number of nodes");
    if (!nodes) return;
    case_.nodes = *nodes;
    read_route(key[5]);
    if (!read_edges(key[3])) return;  // what names edges would only echo their problems
    read_flows(key[4]);
    for (const std::int32_t step : values_.array(key[6])) read_step(step);
    for (const std::int32_t job : values_.array(key[7])) read_job(job);
    if (key[8] != kMissing) read_expected(key[8]);
  }

  FlowCaseFile take() { return std::move(file_); }

  // Gives the flows without a path theirs. REQUIRES: no problem so far.
  void route_flows() {
    const std::int32_t flows = flows_value_;
    const Routed routed = route_minimal_ecmp(case_, kMostHops);
    if (routed.too_long) {
      values_.report(flows, "have routes of more than 30 million hops in all");
      return;
    }
    const auto listed =
        values_.is(flows, JsonKind::kArray) ? values_.array(flows) : std::vector<std::int32_t>{};
    for (const std::int32_t f : routed.unreachable) {
      const Flow& flow = case_.flows[f];
      const std::string ends = std::to_string(flow.source) + " to " + std::to_string(flow.destination) +
                               " over edges with capacity";
      if (listed.empty()) {
        values_.report(flows, "are not all possible: there is no way from " + ends);
      } else {
        values_.report(listed[f], "has no way from " + ends);
      }
      if (values_.full()) return;
    }
  }

 private:
  // False when an edge is not as it should be.
  bool read_edges(std::int32_t value) {
    static const std::vector<std::string> keys = {"from", "to", "bytes_per_s", "latency_s", "down"};
    const auto edges = values_.array(value);
    if (edges.size() > static_cast<std::size_t>(kMostItems)) {
      values_.report(value, "must not be more than a million");
      return false;
    }
    bool whole = true;
    for (const std::int32_t v : edges) {
      const auto found = values_.object(v, keys);
      whole &= found.has_value();
      if (!found) continue;
      for (std::size_t k = 0; k < 3; ++k)
        if ((*found)[k] == kMissing) values_.report_missing(v, keys[k]);
      const auto from = values_.index((*found)[0], case_.nodes, "a node");
      const auto to = values_.index((*found)[1], case_.nodes, "a node");
      const auto capacity = values_.number((*found)[2], 0, kMostBytesPerS);
      const auto latency = values_.number((*found)[3], 0, kMostSeconds);
      const bool down = values_.boolean((*found)[4]).value_or(false);
      whole &= from && to && capacity;
      if (from && to && *from == *to) values_.report(v, "leads from a node to itself");
      case_.edges.push_back(
          {from.value_or(0), to.value_or(0), down ? 0 : capacity.value_or(0), latency.value_or(0)});
    }
    return whole;
  }

  void read_route(std::int32_t value) {
    const auto rule = values_.text(value);
    if (!rule) return;
    if (*rule == "minimal_ecmp") {
      has_rule_ = true;
    } else {
      values_.report(value, "must be \"minimal_ecmp\", not \"" + *rule + "\"");
    }
  }

  void read_flows(std::int32_t value) {
    flows_value_ = value;
    if (value == kMissing) return;
    if (values_.is(value, JsonKind::kObject)) {
      read_generator(value);
      return;
    }
    const auto flows = values_.array(value);
    if (flows.size() > static_cast<std::size_t>(kMostItems)) {
      values_.report(value, "must not be more than a million");
      return;
    }
    count_ = static_cast<std::int32_t>(flows.size());
    case_.flows.reserve(flows.size());
    for (std::int32_t f = 0; f < count_ && !values_.full(); ++f) read_flow(f, flows[f]);
  }

  void read_generator(std::int32_t value) {
    const auto found = values_.object(value, {"generator"});
    if ((*found)[0] == kMissing) {
      values_.report_missing(value, "generator");
      return;
    }
    const auto text = values_.text((*found)[0]);
    if (!text) return;
    const std::string start = kAllToAll;
    const double bytes =
        text->starts_with(start) ? whole_text_as<double>(text->substr(start.size())).value_or(-1) : -1;
    if (!(bytes >= 0 && bytes <= kMostBytesOfFlow)) {
      values_.report((*found)[0], "must be \"" + start + "1000000\", with any number of bytes");
      return;
    }
    if (!has_rule_) values_.report(value, "needs a rule for routes", "add \"route\": \"minimal_ecmp\"");
    const auto pairs = static_cast<std::int64_t>(case_.nodes) * (case_.nodes - 1);
    if (pairs > kMostItems) {
      values_.report(value, "gives " + std::to_string(pairs) + " flows; at most a million are simulated");
      return;
    }
    add_all_to_all(case_, bytes);
    count_ = static_cast<std::int32_t>(case_.flows.size());
  }

  void read_flow(std::int32_t f, std::int32_t v) {
    static const std::vector<std::string> keys = {"src",  "dst",   "bytes",  "start",
                                                  "path", "paths", "weight", "deps"};
    Flow& flow = case_.flows.emplace_back();
    const auto found = values_.object(v, keys);
    if (!found) return;
    for (std::size_t k = 0; k < 3; ++k)
      if ((*found)[k] == kMissing) values_.report_missing(v, keys[k]);
    const auto source = values_.index((*found)[0], case_.nodes, "a node");
    const auto destination = values_.index((*found)[1], case_.nodes, "a node");
    flow.source = source.value_or(0);
    flow.destination = destination.value_or(0);
    flow.bytes = values_.number((*found)[2], 0, kMostBytesOfFlow).value_or(0);
    flow.start_s = values_.number((*found)[3], 0, kMostSeconds).value_or(0);
    flow.weight = values_.number((*found)[6], kLeastWeight, kMostWeight).value_or(1);
    if (source && destination) read_paths(v, flow, (*found)[4], (*found)[5]);
    flow.after.first = static_cast<std::int32_t>(case_.predecessors.size());
    for (const std::int32_t d : values_.array((*found)[7])) {
      const auto before = values_.index(d, count_, "a flow");
      if (before && *before == f) values_.report(d, "must be another flow than this one");
      if (before && *before != f) case_.predecessors.push_back(*before);
    }
    flow.after.count = static_cast<std::int32_t>(case_.predecessors.size()) - flow.after.first;
  }

  void read_paths(std::int32_t v, Flow& flow, std::int32_t path, std::int32_t paths) {
    std::vector<std::vector<std::int32_t>> read;
    bool whole = true;
    if (path != kMissing && paths != kMissing) {
      values_.report(paths, "must not stand beside \"path\"");
    } else if (path != kMissing) {
      whole = read_path(path, flow, read.emplace_back());
    } else if (paths != kMissing) {
      for (const std::int32_t p : values_.array(paths)) whole &= read_path(p, flow, read.emplace_back());
      if (read.empty()) values_.report(paths, "must have at least one path");
    } else if (!has_rule_ && flow.source != flow.destination) {
      values_.report(v, "has neither \"path\" nor \"paths\"", "or give the case \"route\": \"minimal_ecmp\"");
    }
    if (whole && !read.empty()) flow.uses = add_route(case_, read);
  }

  // Edges that follow each other from the source of the flow to its destination.
  bool read_path(std::int32_t value, const Flow& flow, std::vector<std::int32_t>& path) {
    std::int32_t at = flow.source;
    if (!values_.is(value, JsonKind::kArray)) {
      values_.array(value);
      return false;
    }
    for (const std::int32_t e : values_.array(value)) {
      const auto edge = values_.index(e, static_cast<std::int32_t>(case_.edges.size()), "an edge");
      if (!edge) return false;
      if (case_.edges[*edge].from != at) {
        values_.report(e, "must be an edge from node " + std::to_string(at) + "; edge " +
                              std::to_string(*edge) + " begins at node " +
                              std::to_string(case_.edges[*edge].from));
        return false;
      }
      at = case_.edges[*edge].to;
      path.push_back(*edge);
    }
    if (at == flow.destination) return true;
    values_.report(value, "ends at node " + std::to_string(at) + ", not at the destination " +
                              std::to_string(flow.destination));
    return false;
  }

  void read_step(std::int32_t v) {
    static const std::vector<std::string> keys = {"time", "edge", "bytes_per_s"};
    const auto found = values_.object(v, keys);
    if (!found) return;
    for (std::size_t k = 0; k < keys.size(); ++k)
      if ((*found)[k] == kMissing) values_.report_missing(v, keys[k]);
    const auto time = values_.number((*found)[0], 0, kMostSeconds);
    const auto edge = values_.index((*found)[1], static_cast<std::int32_t>(case_.edges.size()), "an edge");
    const auto capacity = values_.number((*found)[2], 0, kMostBytesPerS);
    if (time && edge && capacity) case_.capacity_steps.push_back({*time, *edge, *capacity});
  }

  void read_job(std::int32_t v) {
    const auto ends = values_.array(v);
    if (!values_.is(v, JsonKind::kArray)) return;
    if (ends.size() != 2) {
      values_.report(v, "must be [first flow, one past the last]");
      return;
    }
    const auto first = values_.index(ends[0], count_ + 1, "a flow");
    const auto end = values_.index(ends[1], count_ + 1, "one past a flow");
    if (first && end && *first >= *end) values_.report(v, "has no flow: its end must be above its beginning");
    if (first && end && *first < *end) case_.jobs.push_back({*first, *end});
  }

  void read_expected(std::int32_t v) {
    const auto found = values_.object(v, {"after", "first"});
    if (!found) return;
    const auto read = [&](std::int32_t list, std::vector<double>& seconds) {
      for (const std::int32_t s : values_.array(list))
        if (const auto value = values_.number(s, 0, 1e300)) seconds.push_back(*value);
      if (seconds.size() > static_cast<std::size_t>(count_))
        values_.report(list, "has more entries than there are flows");
    };
    read((*found)[0], file_.expected_after_s);
    read((*found)[1], file_.expected_first_s);
  }

  JsonValues values_;
  FlowCaseFile file_;
  FlowCase& case_ = file_.flows;
  std::int32_t flows_value_ = kMissing, count_ = 0;  // of flows
  bool has_rule_ = false;
};

}  // namespace

LoadFlowsResult load_flow_case(const std::string& file_name, const std::string& text) {
  LoadFlowsResult result;
  if (text.size() > kMostJsonBytes) {
    result.problems.push_back({file_name, 0, 0, "the file is larger than 32 MiB", "", ""});
    return result;
  }
  Document document(file_name, text);
  JsonTree tree;
  if (parse_json_tree(document, kMostJsonValues, tree)) {
    FlowReader reader(document, tree);
    reader.read();
    if (document.clean()) reader.route_flows();
    if (document.clean()) result.file = reader.take();
  }
  result.problems = document.problems();
  return result;
}

LoadFlowsResult load_flow_case_file(const std::string& path) {
  std::vector<Problem> problems;
  const auto input = read_input(path, problems, kMostJsonBytes);
  if (!input) return {std::nullopt, std::move(problems)};
  return load_flow_case(input->name, input->text);
}

}  // namespace podsim
