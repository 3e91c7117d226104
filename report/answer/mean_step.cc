// Averages bucket totals over chips and steps without losing a picosecond.
#include "report/answer/mean_step.h"

#include <algorithm>
#include <numeric>

#include "engine/check.h"

namespace podsim {
namespace {

// Order of the parts of a mean step before the communication classes.
enum StepPart : std::size_t {
  kComputePart,
  kOptimizerPart,
  kBubblePart,
  kInputPart,
  kOffloadPart,
  kSkewPart,
  kPausePart,
  kExposedParts
};

}  // namespace

void check_conservation(const Timeline& timeline) {
  PODSIM_CHECK(!timeline.step_end.empty() && !timeline.chips.empty(), "a timeline has a step and a chip");
  for (const ChipTotals& chips : timeline.chips) {
    PODSIM_CHECK(chips.bucket.size() == kBuckets, "a chip has time in every bucket");
    Time all, exposed;
    for (const Time part : chips.bucket) all += part;
    for (const Time part : chips.exposed) exposed += part;
    PODSIM_CHECK(all == timeline.step_end.back(), "the buckets of a chip must cover its steps");
    PODSIM_CHECK(exposed == chips.bucket[static_cast<std::size_t>(Bucket::kCommunication)],
                 "exposed collectives must sum to the communication bucket");
  }
}

std::vector<std::int64_t> divide_exactly(std::span<const Int128> parts, Int128 divisor) {
  std::vector<std::int64_t> quotients;
  std::vector<Int128> remainders;
  Int128 remainder_sum = 0;
  for (const Int128 part : parts) {
    quotients.push_back(static_cast<std::int64_t>(part / divisor));
    remainders.push_back(part % divisor);
    remainder_sum += remainders.back();
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  const auto rounded_up = static_cast<std::size_t>((remainder_sum + divisor / 2) / divisor);
  for (std::size_t i = 0; i < rounded_up; ++i) ++quotients[order[i]];
  return quotients;
}

void ChipTime::add(const Timeline& timeline) {
  check_conservation(timeline);
  parts.resize(kExposedParts + timeline.communication.size(), 0);
  Int128 chips_of_all = 0;
  for (const ChipTotals& chips : timeline.chips) {
    const auto in = [&](Bucket bucket) { return chips.bucket[static_cast<std::size_t>(bucket)]; };
    const auto add_to = [&](std::size_t part, Time time) { parts[part] += Int128{chips.chips} * time.ps; };
    add_to(kComputePart, in(Bucket::kCompute));
    add_to(kOptimizerPart, in(Bucket::kOptimizer));
    add_to(kBubblePart, in(Bucket::kBubble) + in(Bucket::kPeerWait));
    add_to(kInputPart, in(Bucket::kInput));
    add_to(kOffloadPart, in(Bucket::kOffload));
    add_to(kSkewPart, in(Bucket::kSkew));
    add_to(kPausePart, in(Bucket::kPause));
    for (std::size_t c = 0; c < chips.exposed.size(); ++c) add_to(kExposedParts + c, chips.exposed[c]);
    chips_of_all += chips.chips;
  }
  chip_steps += chips_of_all * Int128(timeline.step_end.size());
}

WaitShares wait_shares(const ChipTime& sum) {
  const auto all_from = [&](std::size_t part) {
    return std::accumulate(sum.parts.begin() + static_cast<std::ptrdiff_t>(part), sum.parts.end(), Int128{0});
  };
  const auto all = static_cast<double>(all_from(0));
  return {static_cast<double>(sum.parts[kInputPart]) / all,
          static_cast<double>(sum.parts[kOffloadPart]) / all,
          static_cast<double>(all_from(kExposedParts)) / all};
}

MeanStep mean_step(const ChipTime& sum) {
  const std::vector<std::int64_t> parts = divide_exactly(sum.parts, sum.chip_steps);
  MeanStep step;
  step.step_time = {std::accumulate(parts.begin(), parts.end(), std::int64_t{0})};
  step.compute = {parts[kComputePart]};
  step.optimizer = {parts[kOptimizerPart]};
  step.bubble = {parts[kBubblePart]};
  step.input = {parts[kInputPart]};
  step.offload = {parts[kOffloadPart]};
  step.skew = {parts[kSkewPart]};
  step.pause = {parts[kPausePart]};
  for (std::size_t part = kExposedParts; part < parts.size(); ++part) step.exposed.push_back({parts[part]});
  return step;
}

}  // namespace podsim
