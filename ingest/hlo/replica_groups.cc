// What the numbers of groups and pairs stand for.
#include "ingest/hlo/replica_groups.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "ingest/hlo/fields.h"
#include "ingest/hlo/group_lists.h"
#include "ingest/hlo/operations.h"

namespace podsim::hlo {
namespace {

constexpr std::size_t kShownIds = 16, kShownPairs = 4;

std::optional<Groups> pairs_of(const Module& module, const Instruction& permute) {
  Groups groups;
  groups.mode = permute.has("channel_id") ? GroupMode::kPartitions : GroupMode::kReplicas;
  const auto pairs = source_target_pairs(permute);
  if (!pairs) return std::nullopt;
  groups.size = numbered(module, groups.mode);
  for (const auto& [source, target] : *pairs)  // of whom the header may leave out how many there are
    groups.size = std::max({groups.size, source + 1, target + 1});
  const std::int64_t apart = groups.mode == GroupMode::kReplicas ? module.partitions : 1;
  if (!pairs->empty()) groups.members = {pairs->front().first * apart, pairs->front().second * apart};
  groups.pairs.assign(pairs->begin(),
                      pairs->begin() + static_cast<std::ptrdiff_t>(std::min(kShownPairs, pairs->size())));
  return groups;
}

GroupMode mode_of(const Instruction& collective) {
  if (!collective.has("channel_id")) return GroupMode::kReplicas;
  const std::string_view global = collective.attribute("use_global_device_ids");
  if (global == "true") return GroupMode::kDevices;
  const bool reduces_or_gathers = collective.opcode.starts_with("all-reduce") ||
                                  collective.opcode.starts_with("all-gather") ||
                                  collective.opcode.starts_with("reduce-scatter");
  return reduces_or_gathers ? GroupMode::kReplicasAndPartitions : GroupMode::kPartitions;
}

// Device r x partitions + p is partition p of replica r.
std::vector<std::int64_t> devices_of_group(const Module& module, GroupMode mode,
                                           const std::vector<std::int64_t>& group) {
  if (mode == GroupMode::kPartitions || mode == GroupMode::kDevices) return group;
  const std::int64_t each = mode == GroupMode::kReplicas ? 1 : module.partitions;
  std::vector<std::int64_t> devices;
  for (const std::int64_t replica : group)
    for (std::int64_t p = 0; p < each && devices.size() < kKeptIds; ++p)
      devices.push_back(replica * module.partitions + p);
  return devices;
}

// A group as it is written, once for each set of devices that it stands for.
void add_devices_of(const Module& module, GroupMode mode, const std::vector<std::int64_t>& group,
                    DeviceGroups& groups) {
  const std::int64_t times = mode == GroupMode::kReplicas     ? module.partitions
                             : mode == GroupMode::kPartitions ? module.replicas
                                                              : 1;
  for (std::int64_t time = 0; time < times; ++time) {
    std::vector<std::int64_t> devices = devices_of_group(module, mode, group);
    for (std::int64_t& device : devices)
      device += mode == GroupMode::kPartitions ? time * module.partitions : time;
    groups.push_back(std::move(devices));
  }
}

// Devices from 0 to the largest that the collective names.
std::int64_t devices_named_by(const Module& module, const Instruction& collective) {
  GroupMode mode = GroupMode::kReplicas;
  std::int64_t largest = -1;
  if (collective.has("source_target_pairs")) {
    mode = collective.has("channel_id") ? GroupMode::kPartitions : GroupMode::kReplicas;
    const auto pairs = source_target_pairs(collective).value();
    for (const auto& [source, target] : pairs) largest = std::max({largest, source, target});
  } else {
    mode = mode_of(collective);
    largest = written_groups(collective).value().named.largest;
  }
  const bool of_replicas = mode == GroupMode::kReplicas || mode == GroupMode::kReplicasAndPartitions;
  return saturating_multiply(largest + 1, of_replicas ? module.partitions : 1);
}

}  // namespace

const char* to_string(GroupMode mode) {
  switch (mode) {
    case GroupMode::kReplicas:
      return "cross_replica";
    case GroupMode::kPartitions:
      return "cross_partition";
    case GroupMode::kReplicasAndPartitions:
      return "cross_replica_and_partition";
    case GroupMode::kDevices:
      return "flattened";
  }
  return "";
}

std::optional<Groups> groups_of(const Module& module, const Instruction& collective) {
  if (collective.has("source_target_pairs")) return pairs_of(module, collective);
  Groups groups;
  groups.mode = mode_of(collective);
  auto list = written_groups(collective);
  if (!list) return std::nullopt;
  if (list->size == 0) {  // everybody
    list->size = numbered(module, groups.mode);
    list->count = 1;
    for (std::int64_t id = 0; id < std::min<std::int64_t>(list->size, kKeptIds); ++id)
      list->first.push_back(id);
  }
  groups.size = list->size * (groups.mode == GroupMode::kReplicasAndPartitions ? module.partitions : 1);
  groups.count = list->count;
  groups.members = devices_of_group(module, groups.mode, list->first);
  groups.first.assign(list->first.begin(), list->first.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                     kShownIds, list->first.size())));
  return groups;
}

DeviceGroups device_groups(const Module& module, const Instruction& collective) {
  DeviceGroups groups;
  if (collective.has("source_target_pairs")) {
    const GroupMode mode = collective.has("channel_id") ? GroupMode::kPartitions : GroupMode::kReplicas;
    const auto pairs = source_target_pairs(collective).value();
    for (const auto& [source, target] : pairs)
      if (source != target) add_devices_of(module, mode, {source, target}, groups);
    return groups;
  }
  const GroupMode mode = mode_of(collective);
  GroupList list = written_groups(collective, Listed::kEveryGroup).value();
  if (list.size == 0) {  // everybody
    list.every.emplace_back();
    for (std::int64_t id = 0; id < numbered(module, mode); ++id) list.every.front().push_back(id);
  }
  for (const auto& group : list.every) add_devices_of(module, mode, group, groups);
  return groups;
}

std::int64_t devices_named(const Module& module) {
  std::int64_t devices = saturating_multiply(module.replicas, module.partitions);
  for (const Computation& computation : module.computations)
    for (const Instruction& each : computation.instructions)
      if (!collective_kind(each.opcode).empty()) devices = std::max(devices, devices_named_by(module, each));
  return devices;
}

std::int64_t numbered(const Module& module, GroupMode mode) {
  if (mode == GroupMode::kPartitions) return module.partitions;
  return mode == GroupMode::kDevices ? module.replicas * module.partitions : module.replicas;
}

}  // namespace podsim::hlo
