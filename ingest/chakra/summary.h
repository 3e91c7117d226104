// What a rank computes and sends in a step, of its Chakra trace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ingest/chakra/trace.h"
#include "ingest/imported/account.h"
#include "proto/text/problem.h"

namespace podsim::chakra {

// Which of the lists of a trace say when a node starts. Traces converted from PyTorch list callers as control
// dependencies: with the data they make a circle, and only the data count.
enum class DependenciesUsed { kControlAndData, kData };
const char* to_string(DependenciesUsed used);

// Nodes that move, or start to move, the same.
struct Communication {
  std::string kind;  // "ALL_REDUCE", "COMM_SEND", or "no comm_type"
  std::optional<std::int64_t> bytes;
  std::optional<std::string> group;
  std::optional<std::int64_t> source, target;
  std::int64_t count = 0, recorded_us = 0;
};

// Times are sums over nodes but for the critical paths.
struct Summary {
  std::int64_t nodes = 0;
  std::array<std::int64_t, kNodeTypes> by_type{};
  std::int64_t host_operations = 0, device_operations = 0;  // computations
  std::int64_t host_compute_us = 0, device_compute_us = 0;
  std::int64_t operations = 0, tensor_bytes = 0;
  std::int64_t host_untimed = 0, device_untimed = 0;  // computations with operations and without duration
  std::vector<Communication> communication;           // in the order of the file
  std::int64_t communication_bytes = 0;
  std::int64_t same_starts = 0;  // nodes that start when another starts

  // Of one rank.
  DependenciesUsed used = DependenciesUsed::kControlAndData;
  std::int64_t never_run = 0;         // on or behind a cycle with both lists
  std::vector<std::int32_t> order;    // the nodes, each behind all that it waits for
  std::int64_t compute_path_us = 0;   // the longest chain, all else taking no time
  std::int64_t recorded_path_us = 0;  // with every recorded duration
};

// The lists of a trace that count.
std::vector<const Lists*> waits_of(const Trace& trace, DependenciesUsed used);

// Nothing, and a problem that names the nodes, where they wait for each other in a circle.
std::optional<Summary> summarize(const std::string& file, const Trace& trace, std::vector<Problem>& problems);

// What takes no time although it has operations: without a roofline on chips too.
std::vector<std::string> untimed_notes(std::int64_t on_hosts, std::int64_t on_devices);

// Nodes, and the attributes that they have.
std::vector<Account> accounts_of(const Trace& trace);

}  // namespace podsim::chakra
