// Renumbers each adversity, or leaves it out.
#include "prediction/kept_chips.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "scheduler/folding/drawn_degradations.h"
#include "topology/parts.h"

namespace podsim {
namespace {

// Numbers that are listed, as ranges of neighbours. REQUIRES: ascending.
std::vector<std::pair<int, int>> ranges_of(const std::vector<int>& numbers) {
  std::vector<std::pair<int, int>> ranges;
  for (const int number : numbers) {
    if (ranges.empty() || ranges.back().second + 1 < number) ranges.emplace_back(number, number);
    ranges.back().second = number;
  }
  return ranges;
}

class Renumbering {
 public:
  Renumbering(const Spec& before, const std::vector<ChipId>& number)
      : before_(before.cluster.fabric),
        number_(number),
        fabric_(build_fabric(before_)),
        parts_(fabric_, before_.chips_per_host),
        roles_(roles_of(fabric_, before.job, before.placement)) {
    for (ChipId chip = 0; chip < before_.chips; ++chip)
      if (static_cast<std::size_t>(host_of(before_, chip)) == first_of_host_.size())
        first_of_host_.push_back(chip);
  }
  Renumbering(const Renumbering&) = delete;
  Renumbering& operator=(const Renumbering&) = delete;

  std::optional<Degradation> kept(Degradation slow) const {
    if (!slow.by_selector()) {
      slow.chip = number_[slow.chip];
      return slow.chip < 0 ? std::nullopt : std::optional(slow);
    }
    Selector& which = slow.which;
    const bool of_chips = !is_switch(which.kind) || which.kind == PartKind::kNvSwitch;
    const bool chosen = !which.numbers.empty() || !which.stages.empty() || !which.data_ranks.empty();
    if (!of_chips || (!chosen && !slow.drawn())) return slow;
    std::map<int, int> drawn_as;  // by what is left, of two parts that are one there the first
    for (const int part : candidates(which, parts_, roles_))
      if (const int now = number_of(which.kind, part); now >= 0)
        drawn_as.try_emplace(now, drawn_number(which, parts_, part));
    if (drawn_as.empty()) return std::nullopt;
    std::vector<int> left;
    for (const auto& [now, as] : drawn_as) left.push_back(now);
    which.stages.clear();
    which.data_ranks.clear();
    if (chosen) which.numbers = ranges_of(left);
    which.drawn_as.clear();
    if (!slow.drawn()) return slow;
    which.drawn_as.assign(static_cast<std::size_t>(left.back()) + 1, -1);
    for (const auto& [now, as] : drawn_as) which.drawn_as[static_cast<std::size_t>(now)] = as;
    return slow;
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

  int number_of(PartKind kind, int number) const {
    if (kind == PartKind::kHost || kind == PartKind::kDcn) return host(number);
    if (kind == PartKind::kNvSwitch) return domain(number);
    return number_[number];
  }

  const FabricSpec& before_;
  const std::vector<ChipId>& number_;
  const Fabric fabric_;
  const Parts parts_;
  const ChipRoles roles_;
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

Adversities of_kept_chips(const Spec& before, const std::vector<ChipId>& number) {
  Adversities left = before.adversities;
  const Renumbering by(before, number);
  renumber(left.degradations, by);
  renumber(left.failures, by);
  renumber(left.variation.late, by);
  return left;
}

}  // namespace podsim
