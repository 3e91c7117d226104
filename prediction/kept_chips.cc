// Renumbers each adversity, or leaves it out.
#include "prediction/kept_chips.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "topology/parts.h"

namespace podsim {
namespace {

class Renumbering {
 public:
  Renumbering(const FabricSpec& before, const std::vector<ChipId>& number)
      : before_(before), number_(number) {
    for (ChipId chip = 0; chip < before.chips; ++chip)
      if (static_cast<std::size_t>(host_of(before, chip)) == first_of_host_.size())
        first_of_host_.push_back(chip);
  }

  std::optional<Degradation> kept(Degradation slow) const {
    if (!slow.by_selector()) {
      slow.chip = number_[slow.chip];
      return slow.chip < 0 ? std::nullopt : std::optional(slow);
    }
    if (slow.which.numbers.empty()) return slow;
    slow.which.numbers = kept(slow.which.kind, slow.which.numbers);
    return slow.which.numbers.empty() ? std::nullopt : std::optional(slow);
  }

  std::optional<Failure> kept(const Failure& failure) const {
    if (const auto* cable = std::get_if<FailedCable>(&failure)) {
      const FailedCable moved{node(cable->a), node(cable->b)};
      return moved.a < 0 || moved.b < 0 ? std::nullopt : std::optional<Failure>(moved);
    }
    if (const auto* port = std::get_if<FailedPort>(&failure)) {
      const ChipId chip = number_[port->chip];
      return chip < 0 ? std::nullopt : std::optional<Failure>(FailedPort{chip, port->kind});
    }
    if (const auto* failed = std::get_if<FailedSwitch>(&failure);
        failed && failed->kind == NodeKind::kNvSwitch) {
      const int index = domain(failed->index);
      return index < 0 ? std::nullopt : std::optional<Failure>(FailedSwitch{failed->kind, index});
    }
    return failure;
  }

  std::optional<LateLaunch> kept(LateLaunch late) const {
    late.chip = number_[static_cast<std::size_t>(late.chip)];
    return late.chip < 0 ? std::nullopt : std::optional(late);
  }

 private:
  // Switches, whose nodes come after the chips, stay as they are.
  NodeId node(NodeId id) const { return id < before_.chips ? number_[id] : id; }

  int host(int number) const {
    const ChipId chip = number_[first_of_host_[static_cast<std::size_t>(number)]];
    return chip < 0 ? -1 : host_of(before_, chip);
  }

  // An NVLink domain is there while one of its chips is.
  int domain(int number) const {
    const int chips = before_.gpu ? before_.gpu->gpus_per_domain : 1;
    for (ChipId chip = number * chips; chip < std::min(before_.chips, (number + 1) * chips); ++chip)
      if (number_[chip] >= 0) return number_[chip] / chips;
    return -1;
  }

  int part(PartKind kind, int number) const {
    if (kind == PartKind::kHost || kind == PartKind::kDcn) return host(number);
    if (kind == PartKind::kNvSwitch) return domain(number);
    return is_switch(kind) ? number : number_[number];
  }

  // Neighbours stay in one range.
  std::vector<std::pair<int, int>> kept(PartKind kind, const std::vector<std::pair<int, int>>& ranges) const {
    std::vector<std::pair<int, int>> left;
    for (const auto& [first, last] : ranges)
      for (int each = first; each <= last; ++each) {
        const int moved = part(kind, each);
        if (moved < 0) continue;
        if (!left.empty() && left.back().second + 1 >= moved && left.back().first <= moved)
          left.back().second = std::max(left.back().second, moved);
        else
          left.emplace_back(moved, moved);
      }
    return left;
  }

  const FabricSpec& before_;
  const std::vector<ChipId>& number_;
  std::vector<ChipId> first_of_host_;
};

template <class Each>
void renumber(std::vector<Each>& list, const Renumbering& by) {
  std::vector<Each> left;
  for (const Each& each : list)
    if (auto kept = by.kept(each)) left.push_back(*std::move(kept));
  list = std::move(left);
}

}  // namespace

Adversities of_kept_chips(const Adversities& all, const FabricSpec& before,
                          const std::vector<ChipId>& number) {
  Adversities left = all;
  const Renumbering by(before, number);
  renumber(left.degradations, by);
  renumber(left.failures, by);
  renumber(left.variation.late, by);
  return left;
}

}  // namespace podsim
