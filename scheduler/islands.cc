// Joins what meets, the communicators that meet most often first, for as long as more than one island is
// left.
#include "scheduler/islands.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace podsim {
namespace {

// Disjoint sets of chip and link classes.
class Parts {
 public:
  explicit Parts(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }

  std::size_t find(std::size_t x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

class Finder {
 public:
  Finder(const System& system, const Lanes& lanes)
      : system_(system), lanes_(lanes), parts_(system.chips.size() + system.links.size()) {}

  Islands find() {
    const std::vector<std::int32_t> order = busiest_first();
    Islands found;
    for (std::size_t joined = 1; joined <= order.size(); ++joined) {
      join(order[joined - 1]);
      if (joined < order.size() && operations_[order[joined]] >= kTransfer) continue;
      const std::vector<std::int32_t> island_of = number_islands();
      if (largest_ * 2 > system_.chips.size()) break;
      if (all_span({order.begin() + static_cast<std::ptrdiff_t>(joined), order.end()}, island_of))
        found = describe({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(joined)}, island_of);
    }
    return found;
  }

 private:
  // Of a transfer, in operations: more than any step has.
  static constexpr std::int64_t kTransfer = std::int64_t{1} << 40;

  // Communicators by the operations that their chips take part in over a step; before all others those of
  // transfers, which never are shared: they wait for nobody but their source.
  std::vector<std::int32_t> busiest_first() {
    std::vector<std::int64_t> chips_of(system_.step.stages.size(), 0);
    for (const ChipClass& chip : system_.chips) ++chips_of[chip.program];
    for (std::size_t program = 0; program < chips_of.size(); ++program)
      for (const Lane& lane : lanes_.lanes_of(static_cast<int>(program)))
        for (std::int32_t i = 0; i < lane.count; ++i) {
          const std::int32_t message = lanes_.operation(lane, i).message;
          const auto communicator = static_cast<std::size_t>(system_.communicator_of[message]);
          if (communicator >= operations_.size()) operations_.resize(communicator + 1, 0);
          operations_[communicator] +=
              system_.step.messages[message].scope.neighbour != 0 ? kTransfer : chips_of[program];
        }
    std::vector<std::int32_t> order;
    for (std::size_t c = 0; c < operations_.size(); ++c)
      if (operations_[c] > 0) order.push_back(static_cast<std::int32_t>(c));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return operations_[a] > operations_[b]; });
    return order;
  }

  void join(std::int32_t communicator) {
    for (const GroupClass& group : system_.groups) {
      if (group.communicator != communicator) continue;
      const auto first = static_cast<std::size_t>(group.members.front());
      for (const std::int32_t c : group.members) parts_.join(first, static_cast<std::size_t>(c));
      for (const std::vector<ClassPhase>& pattern : group.patterns)
        for (const ClassPhase& phase : pattern)
          for (const Use& use : phase.uses)
            parts_.join(first, system_.chips.size() + static_cast<std::size_t>(use.resource));
    }
  }

  // [chip class] its island, in the order of their first chips.
  std::vector<std::int32_t> number_islands() {
    std::vector<std::int32_t> number(system_.chips.size() + system_.links.size(), -1);
    std::vector<std::int32_t> island_of;
    std::vector<std::size_t> sizes;
    for (std::size_t c = 0; c < system_.chips.size(); ++c) {
      std::int32_t& island = number[parts_.find(c)];
      if (island < 0) {
        island = static_cast<std::int32_t>(sizes.size());
        sizes.push_back(0);
      }
      ++sizes[island];
      island_of.push_back(island);
    }
    islands_ = sizes.size();
    largest_ = *std::max_element(sizes.begin(), sizes.end());
    return island_of;
  }

  // Whether all groups of these communicators have members in all islands.
  bool all_span(std::span<const std::int32_t> communicators,
                const std::vector<std::int32_t>& island_of) const {
    std::vector<std::size_t> seen_by(islands_, SIZE_MAX);  // the last group that has a member there
    for (std::size_t g = 0; g < system_.groups.size(); ++g) {
      const GroupClass& group = system_.groups[g];
      if (std::find(communicators.begin(), communicators.end(), group.communicator) == communicators.end())
        continue;
      std::size_t spanned = 0;
      for (const std::int32_t c : group.members) {
        spanned += seen_by[island_of[c]] != g;
        seen_by[island_of[c]] = g;
      }
      if (spanned < islands_) return false;
    }
    return true;
  }

  Islands describe(std::span<const std::int32_t> joined, const std::vector<std::int32_t>& island_of) const {
    Islands result;
    result.chips.resize(islands_);
    for (std::size_t c = 0; c < island_of.size(); ++c)
      result.chips[island_of[c]].push_back(static_cast<std::int32_t>(c));
    for (const Lanes::Meeting& meeting : lanes_.meetings()) {
      const GroupClass& group = system_.groups[meeting.group];
      const bool own = std::find(joined.begin(), joined.end(), group.communicator) != joined.end();
      result.of_meeting.push_back(own ? island_of[group.members.front()] : Islands::kShared);
    }
    return result;
  }

  const System& system_;
  const Lanes& lanes_;
  Parts parts_;
  std::vector<std::int64_t> operations_;  // [communicator]
  std::size_t islands_ = 0, largest_ = 0;
};

}  // namespace

Islands find_islands(const System& system, const Lanes& lanes) { return Finder(system, lanes).find(); }

}  // namespace podsim
