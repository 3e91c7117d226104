// Keeps what is slow in its order.
#include "scheduler/question/spec.h"

#include <algorithm>

namespace podsim {

void Adversities::add(const Degradation& degradation) {
  const auto rank = [](const Degradation& of) { return std::min(of.cause, Degradation::Cause::kSlow); };
  const auto behind = std::ranges::upper_bound(degradations, rank(degradation), {}, rank);
  degradations.insert(behind, degradation);
}

}  // namespace podsim
