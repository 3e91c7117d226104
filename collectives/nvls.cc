// In-switch reduction: the NVLink switches of a domain add up what all members send and send the sum to all;
// trees join the sums of several domains.
#include "collectives/algorithms.h"

namespace podsim {
namespace {

// Each member sends and receives the tensor once: its links carry what a ring with one full pass would.
void add_switch_reduction(const Fabric& fabric, std::span<const ChipId> members, LoadSum& sum) {
  for (std::size_t i = 0; i < members.size(); ++i)
    sum.add(fabric, members[i], members[(i + 1) % members.size()], 1.0);
}

constexpr int kUpAndDown = 2;  // stages: to the switch that reduces, and back

}  // namespace

void add_inside_all_reduce(const Fabric& fabric, std::span<const ChipId> members, LoadSum& sum) {
  if (fabric.nvls)
    add_switch_reduction(fabric, members, sum);
  else
    add_domain_exchange(fabric, members, 2.0, sum);
}

std::optional<Phases> plan_nvls(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group) {
  const bool applies = fabric.nvls && fabric.gpus_per_domain > 1 &&
                       collective.kind == CollectiveKind::kAllReduce &&
                       cut_at_domains(fabric, group).count() == 1;
  if (!applies) return std::nullopt;
  LoadSum sum;
  add_switch_reduction(fabric, group, sum);
  const Time up_and_down = sum.longest_latency();
  return alone({up_and_down, sum.loads(collective.bytes), kUpAndDown});
}

// The switch leaves 1 / rails of its sum with each member; per rail a double tree joins these and brings the
// total back, which the switch sends to all. Chunk by chunk, so that all is one phase.
std::optional<Phases> plan_nvls_tree(const Fabric& fabric, const Collective& collective,
                                     std::span<const ChipId> group) {
  if (!fabric.nvls || fabric.gpus_per_domain <= 1 || collective.kind != CollectiveKind::kAllReduce)
    return std::nullopt;
  const Blocks domains = cut_at_domains(fabric, group);
  if (domains.rails() == 0) return std::nullopt;
  LoadSum inside, all;
  add_switch_reduction(fabric, domains[0], inside);
  for (int b = 0; b < domains.count(); ++b) add_switch_reduction(fabric, domains[b], all);
  const Time across = add_rail_trees(fabric, domains, /*reduces=*/true, all);
  const int stages = kUpAndDown + 2 * tree_depth(static_cast<std::size_t>(domains.count()));
  return alone({2 * inside.longest_latency() + across, all.loads(collective.bytes), stages});
}

}  // namespace podsim
