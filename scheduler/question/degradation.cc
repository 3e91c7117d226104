// Makes degradations of one chip.
#include "scheduler/question/degradation.h"

namespace podsim {

Degradation Degradation::of_chip(ChipId chip, double speed) {
  Degradation slow;
  slow.cause = Cause::kSlowChip;
  slow.chip = chip;
  slow.factor.mean = speed;
  return slow;
}

Degradation Degradation::of_link(ChipId chip, LinkKind kind, double speed) {
  Degradation slow = of_chip(chip, speed);
  slow.cause = Cause::kSlowLink;
  slow.link = kind;
  return slow;
}

std::vector<SlowLink> slow_links(std::span<const Degradation> degradations) {
  std::vector<SlowLink> links;
  for (const Degradation& slow : degradations) {
    if (slow.cause == Degradation::Cause::kSlowLink)
      links.push_back({slow.chip, slow.link, slow.factor.mean});
  }
  return links;
}

}  // namespace podsim
