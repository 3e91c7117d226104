// Collects times over steps and ranks, and takes the middle of each.
#include "ingest/kineto/recorded_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/check.h"

namespace podsim::kineto {
namespace {

// REQUIRES: there is one.
Time middle_of(std::vector<std::int64_t> ns) {
  PODSIM_CHECK(!ns.empty(), "one of them is in the middle");
  constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>((ns.size() - 1) / 2);
  std::ranges::nth_element(ns, middle);
  return {*middle * kPicosecondsPerNanosecond};
}

bool any_follows(const std::vector<RankProfile>& ranks) {
  return std::ranges::any_of(ranks, [](const RankProfile& rank) {
    return std::ranges::any_of(rank.summary.steps, [](const StepTime& step) {
      return step.to_next_ns.has_value() && step.launched > 0;
    });
  });
}

}  // namespace

std::optional<RecordedStep> recorded_step(const std::vector<RankProfile>& ranks) {
  std::vector<std::int64_t> step, computing, communicating, exposed;
  const bool by_marks = !any_follows(ranks);
  for (const RankProfile& rank : ranks)
    for (const StepTime& each : rank.summary.steps) {
      if ((!by_marks && !each.to_next_ns) || each.launched == 0) continue;
      step.push_back(each.lasts_ns());
      computing.push_back(each.device.compute);
      communicating.push_back(each.device.communication);
      exposed.push_back(each.device.exposed);
    }
  if (step.empty()) return std::nullopt;
  RecordedStep recorded;
  recorded.by_marks = by_marks;
  recorded.steps = static_cast<std::int64_t>(step.size());
  recorded.step = middle_of(step);
  recorded.computing = middle_of(computing);
  recorded.communicating = middle_of(communicating);
  recorded.exposed = middle_of(exposed);
  return recorded;
}

}  // namespace podsim::kineto
