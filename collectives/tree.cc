// Double binary trees: two trees over the ranks, each with half of the data; a rank is inside at most one of
// them. Source: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan" (2009).
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "collectives/algorithms.h"

namespace podsim {
namespace {

// In-order binary tree over 0 .. n - 1 with root 0: the parent of a rank differs from it by its lowest set
// bit.
std::size_t parent_of(std::size_t rank, std::size_t n) {
  const std::size_t bit = rank & (~rank + 1);
  const std::size_t above = (rank ^ bit) | (bit << 1);
  return above < n ? above : rank ^ bit;
}

// Odd ranks are the leaves of the first tree. Reversed (n even) or rotated by one (n odd), they are inside
// the second.
std::vector<ChipId> second_order(std::vector<ChipId> order) {
  if (order.size() % 2 == 0)
    std::ranges::reverse(order);
  else
    std::rotate(order.begin(), order.begin() + 1, order.end());
  return order;
}

struct Direction {
  bool up;    // reduction, leaves to root
  bool down;  // broadcast, root to leaves
};

int stages_of(Direction direction, std::size_t ranks) {
  return (direction.up + direction.down) * tree_depth(ranks);
}

// Adds one tree and returns its latency: the longest way up plus the longest way down. The `source` of a
// broadcast needs nothing from its parent; where it is not the root, it first sends to the root.
Time add_tree(const Fabric& fabric, std::span<const ChipId> order, Direction direction, ChipId source,
              double units, LoadSum& sum) {
  const std::size_t n = order.size();
  std::vector<Time> up(n), down(n);  // between each rank and the root
  const auto add = [&](ChipId from, ChipId to) { return sum.add(fabric, from, to, units); };
  if (!direction.up && source != order[0]) down[0] = add(source, order[0]);
  std::size_t top = 1;
  while (2 * top < n) top *= 2;
  for (std::size_t bit = top; bit > 0; bit /= 2)
    for (std::size_t rank = bit; rank < n; rank += 2 * bit) {
      const std::size_t parent = parent_of(rank, n);
      if (direction.up) up[rank] = up[parent] + add(order[rank], order[parent]);
      const bool has_it = !direction.up && order[rank] == source;
      if (direction.down && !has_it) down[rank] = down[parent] + add(order[parent], order[rank]);
    }
  return *std::ranges::max_element(up) + *std::ranges::max_element(down);
}

// Adds both trees, each with half of `units`.
Time add_double_tree(const Fabric& fabric, std::span<const ChipId> order, Direction direction, double units,
                     LoadSum& sum) {
  const Time first = add_tree(fabric, order, direction, order[0], units / 2, sum);
  const auto second = second_order({order.begin(), order.end()});
  return std::max(first, add_tree(fabric, second, direction, order[0], units / 2, sum));
}

// Per rail the trees join member r of every domain, with 1 / rails of the data; every domain scatters to and
// gathers from its rails. All parts are pipelined chunk by chunk, so they are one phase.
Phase rail_trees(const Fabric& fabric, const Collective& collective, const Blocks& domains, ChipId source) {
  const bool reduces = collective.kind == CollectiveKind::kAllReduce;
  const int rails = domains.rails();
  LoadSum inside, all;
  for (int b = 0; b < domains.count(); ++b) add_domain_exchange(fabric, domains[b], 1.0, inside);
  const Time exchange = inside.longest_latency();
  for (int b = 0; b < domains.count(); ++b) add_domain_exchange(fabric, domains[b], reduces ? 2.0 : 1.0, all);
  if (!reduces)
    for (const ChipId member : domains[0])
      if (member != source) all.add(fabric, source, member, 1.0 / rails);
  const Time longest = add_rail_trees(fabric, domains, reduces, all);
  return {2 * exchange + longest, all.loads(collective.bytes),
          2 + stages_of({reduces, true}, static_cast<std::size_t>(domains.count()))};
}

// The way between the root and rank 1, a leaf, in the first tree.
Phase branch(const Fabric& fabric, Bytes bytes, std::span<const ChipId> order, Direction direction) {
  LoadSum sum;
  Time latency;
  const auto add = [&](ChipId from, ChipId to) { latency += sum.add(fabric, from, to, 0.5); };
  for (std::size_t rank = 1; rank > 0; rank = parent_of(rank, order.size())) {
    const ChipId parent = order[parent_of(rank, order.size())];
    if (direction.up) add(order[rank], parent);
    if (direction.down) add(parent, order[rank]);
  }
  return {latency, sum.loads(bytes)};
}

std::optional<Direction> direction_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBarrier:
      return Direction{true, true};
    case CollectiveKind::kBroadcast:
      return Direction{false, true};
    default:
      return std::nullopt;
  }
}

}  // namespace

// A rank sends to its parent and, when the sum comes back, to its children.
int busiest_in_double_tree(std::size_t ranks) {
  std::vector<std::uint8_t> sends(ranks, 1);  // [rank] in one tree
  sends[0] = 0;
  for (std::size_t rank = 1; rank < ranks; ++rank) ++sends[parent_of(rank, ranks)];
  int busiest = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t in_second = ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks;
    busiest = std::max(busiest, sends[rank] + sends[in_second]);
  }
  return busiest;
}

int tree_depth(std::size_t ranks) { return static_cast<int>(std::bit_width(ranks - 1)); }

Time add_rail_trees(const Fabric& fabric, const Blocks& blocks, bool reduces, LoadSum& sum) {
  const int rails = blocks.rails();
  Time longest;
  for (int r = 0; r < rails; ++r) {
    std::vector<ChipId> order;
    for (int b = 0; b < blocks.count(); ++b) order.push_back(blocks[b][r]);
    longest = std::max(longest, add_double_tree(fabric, order, {reduces, true}, 1.0 / rails, sum));
  }
  return longest;
}

std::optional<Phases> plan_tree(const Fabric& fabric, const Collective& collective,
                                std::span<const ChipId> group) {
  const auto direction = direction_of(collective.kind);
  if (!direction) return std::nullopt;
  const bool barrier = collective.kind == CollectiveKind::kBarrier;
  const ChipId source = group[0];
  std::vector<ChipId> order(group.begin(), group.end());
  if (fabric.gpus_per_domain > 1) {
    Blocks domains = cut_at_domains(fabric, group);
    if (domains.rails() > 0 && !barrier) return alone(rail_trees(fabric, collective, domains, source));
    order = std::move(domains.chips);
    std::iter_swap(order.begin(), std::ranges::find(order, source));
  }
  LoadSum sum;
  if (barrier) return Phases{{add_tree(fabric, order, *direction, source, 0.0, sum), {}}};
  const Time latency = add_double_tree(fabric, order, *direction, 1.0, sum);
  return alone({latency, sum.loads(collective.bytes), stages_of(*direction, order.size())});
}

std::optional<Phases> outline_tree(const Fabric& fabric, const Collective& collective,
                                   std::span<const ChipId> group) {
  const auto direction = direction_of(collective.kind);
  if (!direction) return std::nullopt;
  if (fabric.gpus_per_domain > 1) return Phases{};  // few and short routes: planned as quickly as outlined
  const Bytes bytes = collective.kind == CollectiveKind::kBarrier ? Bytes{} : collective.bytes;
  return alone(branch(fabric, bytes, group, *direction));
}

}  // namespace podsim
