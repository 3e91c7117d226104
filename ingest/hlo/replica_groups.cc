// What the numbers of groups and pairs stand for.
#include "ingest/hlo/replica_groups.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "ingest/hlo/group_lists.h"

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

std::int64_t numbered(const Module& module, GroupMode mode) {
  if (mode == GroupMode::kPartitions) return module.partitions;
  return mode == GroupMode::kDevices ? module.replicas * module.partitions : module.replicas;
}

}  // namespace podsim::hlo
