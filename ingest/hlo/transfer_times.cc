// Plans every group, and adds up what they put on links, phase by phase, as crowd.h does for groups that are
// alike.
#include "ingest/hlo/transfer_times.h"

#include <algorithm>

#include "collectives/candidates.h"

namespace podsim::hlo {
namespace {

// The message of a group as collective.h counts it.
Collective message_of(CollectiveKind kind, double operands, const std::vector<ChipId>& group) {
  const double size = static_cast<double>(group.size());
  return {kind, {kind == CollectiveKind::kAllGather ? operands * size : operands}};
}

// What its plan takes with links busy for so long in each phase.
double seconds_beside(const CollectivePlan& plan, const std::vector<std::vector<double>>& busy) {
  double sum = plan.launch.in_seconds();
  for (std::size_t f = 0; f < plan.phases.size(); ++f) {
    const Phase& phase = plan.phases[f];
    double busiest = 0;
    for (const LinkLoad& load : phase.loads) busiest = std::max(busiest, busy[f][load.link]);
    sum += (phase.latency + phase.ramp.at(plan.bytes)).in_seconds() + busiest;
  }
  return sum;
}

}  // namespace

CollectiveKind collective_of(std::string_view kind) {
  if (kind == "all-gather") return CollectiveKind::kAllGather;
  if (kind == "reduce-scatter") return CollectiveKind::kReduceScatter;
  if (kind == "all-to-all" || kind == "ragged-all-to-all") return CollectiveKind::kAllToAll;
  if (kind == "collective-permute") return CollectiveKind::kSendReceive;
  if (kind == "collective-broadcast") return CollectiveKind::kBroadcast;
  return CollectiveKind::kAllReduce;
}

double TransferTimes::seconds(const Instruction& collective, CollectiveKind kind, double operands) {
  const Groups& groups = groups_of(collective);
  if (groups.empty() || operands <= 0) return 0;
  // Of podsim's partitioner, which does not say who sends to whom within the group.
  if (kind == CollectiveKind::kSendReceive && !collective.has("source_target_pairs"))
    kind = CollectiveKind::kPermute;
  const auto [found, added] = known_.try_emplace({&groups, kind, operands}, 0);
  if (added) found->second = slowest(groups, kind, operands);
  return found->second;
}

// But for those of one device, which send nothing.
const TransferTimes::Groups& TransferTimes::groups_of(const Instruction& collective) {
  std::string key;
  for (const char* attribute :
       {"source_target_pairs", "replica_groups", "device_ids", "use_global_device_ids"})
    key += std::string(collective.attribute(attribute)) + ";";
  key += (collective.has("channel_id") ? "channel " : "") + std::string(collective.opcode.text());
  const auto [found, added] = groups_.try_emplace(key);
  if (added)
    for (const auto& group : device_groups(module_, collective))
      if (group.size() > 1) found->second.emplace_back(group.begin(), group.end());
  return found->second;
}

double TransferTimes::slowest(const Groups& groups, CollectiveKind kind, double operands) const {
  std::vector<CollectivePlan> alone;
  double longest = 0;
  for (const std::vector<ChipId>& group : groups) {
    alone.push_back(plan(fabric_, message_of(kind, operands, group), group));
    longest = std::max(longest, predict(fabric_, alone.back()).in_seconds());
  }
  const bool permutes = kind == CollectiveKind::kSendReceive;
  const auto shares = [&](const std::vector<ChipId>& group) { return crowd_.shares_links(group); };
  if (groups.size() == 1 || (!permutes && std::ranges::none_of(groups, shares))) return longest;
  // The largest group has the algorithms to choose from, that which is best for all at once.
  const auto& largest = *std::ranges::max_element(groups, {}, [](const auto& group) { return group.size(); });
  double best = together(groups, alone);
  for (const CollectivePlan& first :
       every_plan(fabric_, message_of(kind, operands, largest), largest, nullptr)) {
    std::vector<CollectivePlan> plans;
    for (std::size_t g = 0; g < groups.size(); ++g)
      plans.push_back(plan_with(first.algorithm, fabric_, message_of(kind, operands, groups[g]), groups[g])
                          .value_or(alone[g]));
    best = std::min(best, together(groups, plans));
  }
  return best;
}

double TransferTimes::together(const Groups& groups, const std::vector<CollectivePlan>& plans) const {
  std::vector<std::vector<double>> busy;  // [phase][link] seconds
  for (const CollectivePlan& each : plans)
    for (std::size_t f = 0; f < each.phases.size(); ++f) {
      if (f == busy.size()) busy.emplace_back(fabric_.links.size(), 0.0);
      for (const LinkLoad& load : each.phases[f].loads)
        busy[f][load.link] += load.bytes / fabric_.cable(load.link).bandwidth.value;
    }
  double longest = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) longest = std::max(longest, seconds_beside(plans[g], busy));
  return longest;
}

}  // namespace podsim::hlo
