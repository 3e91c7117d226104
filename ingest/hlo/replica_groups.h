// Who takes part in an HLO collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// What the numbers in groups stand for.
enum class GroupMode : std::uint8_t {
  kReplicas,               // replicas; once for each partition
  kPartitions,             // partitions; once for each replica
  kReplicasAndPartitions,  // replicas with all their partitions
  kDevices                 // replica x partitions + partition
};
const char* to_string(GroupMode mode);  // "cross_replica", ...

// Who takes part in a collective together. INVARIANT: all groups have the same size, or size is the largest.
struct Groups {
  GroupMode mode = GroupMode::kReplicas;
  std::int64_t size = 1;              // members of a group
  std::int64_t count = 1;             // groups as written; 1 where everybody is in one
  std::vector<std::int64_t> first;    // the first 16 numbers of the first group
  std::vector<std::int64_t> members;  // devices of the first group or pair, of these the first 65,536
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;  // of a permute: source and target, the first 4
  friend auto operator<=>(const Groups&, const Groups&) = default;
};

// By channel, use_global_device_ids, and replica_groups in any of their four forms: {{0,1},{2,3}}, {},
// [2,4]<=[4,2]T(1,0), mesh['data'=2,'model'=4] {'data'}; or source_target_pairs. Nothing where they cannot be
// read.
std::optional<Groups> groups_of(const Module& module, const Instruction& collective);

// Devices of all groups, in each in their order; of a permute its pairs, source and target, but for those
// that send to themselves. Groups of replicas stand there for each partition, those of partitions for each
// replica. REQUIRES: the module was read by parse_modules.
using DeviceGroups = std::vector<std::vector<std::int64_t>>;
DeviceGroups device_groups(const Module& module, const Instruction& collective);

// Devices from 0 to the largest that the header or a collective names; at least 1. REQUIRES: likewise.
std::int64_t devices_named(const Module& module);

// Whom numbers of this mode can name, 0 and up: replicas, partitions, or all devices. A module whose header
// leaves them out has 1.
std::int64_t numbered(const Module& module, GroupMode mode);

}  // namespace podsim::hlo
