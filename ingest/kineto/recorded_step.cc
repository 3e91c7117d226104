// Collects times over steps and ranks, and takes the middle of each.
#include "ingest/kineto/recorded_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace podsim::kineto {
namespace {

// REQUIRES: there is one.
Time middle_of(std::vector<std::int64_t> ns) {
  constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>((ns.size() - 1) / 2);
  std::ranges::nth_element(ns, middle);
  return {*middle * kPicosecondsPerNanosecond};
}

}  // namespace

std::optional<RecordedStep> recorded_step(const std::vector<RankProfile>& ranks) {
  std::vector<std::int64_t> step, computing, communicating, exposed;
  for (const RankProfile& rank : ranks)
    for (const StepTime& each : rank.summary.steps) {
      if (!each.to_next_ns || each.launched == 0) continue;
      step.push_back(*each.to_next_ns);
      computing.push_back(each.device.compute);
      communicating.push_back(each.device.communication);
      exposed.push_back(each.device.exposed);
    }
  if (step.empty()) return std::nullopt;
  RecordedStep recorded;
  recorded.steps = static_cast<std::int64_t>(step.size());
  recorded.step = middle_of(step);
  recorded.computing = middle_of(computing);
  recorded.communicating = middle_of(communicating);
  recorded.exposed = middle_of(exposed);
  return recorded;
}

}  // namespace podsim::kineto
