// Flow cases in, as JSON; every problem at once, each with its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"
#include "topology/flow_case.h"

namespace podsim {

// A flow case and the answer that its file expects, which may be none or that of the first flows only.
struct FlowCaseFile {
  FlowCase flows;
  std::vector<double> expected_after_s, expected_first_s;  // [flow], by convention of latency
};

struct LoadFlowsResult {
  std::optional<FlowCaseFile> file;  // present when there are no problems
  std::vector<Problem> problems;
};

// Keys of a case:
//   name, note      text
//   nodes           their number; nodes are 0 .. nodes-1
//   edges           [{from, to, bytes_per_s, latency_s, down}]; `down`: true = no capacity at the start
//   flows           [{src, dst, bytes, start, weight, deps, and path or paths}]; start in seconds, default 0;
//                   weight 1; deps = flows that must have finished; path = edges in order; paths = several,
//                   the flow split equally. Or {"generator": "all ordered pairs src!=dst, src-major; start 0;
//                   bytes 1000000"}
//   route           "minimal_ecmp": of flows without a path (topology/flow_case.h)
//   capacity_events [{time, edge, bytes_per_s}]
//   jobs            [[first, end]]: flows first .. end-1 belong together
//   expected_finish_s  {after, first}: seconds of each flow, in order
// makespan_s, mean_finish_s, expected_finish_note, max_edge_bytes and mean_edge_bytes are notes for readers.
// ENSURES: at most 20 problems; never throws, never crashes; at most 32 MiB of text, 4 million values, a
// million flows, edges and nodes, and 30 million hops of routes.
LoadFlowsResult load_flow_case(const std::string& file_name, const std::string& text);

// Reads the file first, standard input where it is "-"; a missing or unreadable file is a problem.
LoadFlowsResult load_flow_case_file(const std::string& path);

}  // namespace podsim
