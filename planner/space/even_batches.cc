// Lays the job out with a batch that every layout divides, and rounds the wanted one by each of these.
#include "planner/space/even_batches.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>

#include "planner/space/space.h"

namespace podsim {

std::vector<int> nearest_even_batches(const Spec& spec, const LayoutSpace& wanted) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  std::int64_t even = spec.cluster.fabric.chips;
  for (const int microbatch : wanted.microbatch) {
    even *= microbatch / std::gcd(even, std::int64_t{microbatch});
    if (even > kMost) return {};
  }
  Spec any = spec;
  any.job.global_batch = static_cast<int>(even);
  const Space space(any, wanted);
  const std::int64_t batch = spec.job.global_batch;
  std::int64_t below = 0, above = kMost + 1;
  for (const JobLayout& stem : space.stems()) {
    const std::int64_t unit = std::int64_t{stem.batch_ranks()} * stem.microbatch;
    below = std::max(below, batch / unit * unit);
    above = std::min(above, (batch + unit - 1) / unit * unit);
  }
  std::set<int> nearest;
  if (below > 0) nearest.insert(static_cast<int>(below));
  if (above <= kMost) nearest.insert(static_cast<int>(above));
  return {nearest.begin(), nearest.end()};
}

}  // namespace podsim
