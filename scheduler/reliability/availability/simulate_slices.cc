// Draws what is down, part by part, and counts the slices that what is left makes.
#include "scheduler/reliability/availability/simulate_slices.h"

#include <cmath>

#include "engine/random.h"

namespace podsim {
namespace {

class Draws {
 public:
  Draws(const SlicePool& pool, const PartAvailability& of, std::uint64_t seed)
      : pool_(pool), of_(of), seed_(seed), down_since_(static_cast<std::size_t>(pool.grains()), -1) {}

  // Slices that can be made in draw d.
  int slices(std::int64_t d) {
    draw_ = d;
    index_ = 0;
    down_ = 0;
    bool pod_up = true;
    for_each_down(pool_.pod.switches, of_.ocs, [&](int) { pod_up = false; });
    for_each_down(pool_.groups * pool_.group.blocks, of_.block, [&](int i) { take_group(i); });
    take_grains(pool_.grain.blocks, of_.block);
    take_grains(pool_.grain.cables, of_.cable);
    take_grains(pool_.grain.optical_links, of_.optical_link);
    take_grains(pool_.grain.hosts, of_.host);
    return pod_up ? (pool_.grains() - down_) / pool_.grains_per_slice : 0;
  }

 private:
  // Calls f(i) for each of `count` parts that is down, in order. The gap between two of them is geometric.
  template <class F>
  void for_each_down(int count, double up, const F& f) {
    if (up >= 1 || count == 0) return;
    const double parts = -1 / portable_log(up);
    const RandomStream stream(seed_, RandomPurpose::kAvailability, static_cast<std::uint64_t>(draw_));
    for (double i = 0;; ++i) {
      i += std::floor(stream.exponential(index_++) * parts);
      if (i >= count) return;
      f(static_cast<int>(i));
    }
  }

  void take(int grain) {
    std::int64_t& since = down_since_[static_cast<std::size_t>(grain)];
    down_ += since == draw_ ? 0 : 1;
    since = draw_;
  }
  void take_group(int group) {
    for (int i = 0; i < pool_.grains_per_group; ++i) take(group * pool_.grains_per_group + i);
  }
  void take_grains(int parts_of_each, double up) {
    for_each_down(pool_.grains() * parts_of_each, up, [&](int i) { take(i / parts_of_each); });
  }

  const SlicePool& pool_;
  const PartAvailability& of_;
  std::uint64_t seed_, index_ = 0;
  std::int64_t draw_ = 0;
  std::vector<std::int64_t> down_since_;  // [grain]: the last draw in which it is down
  int down_ = 0;
};

}  // namespace

std::vector<double> simulate_slices(const SlicePool& pool, const PartAvailability& of, std::int64_t draws,
                                    std::uint64_t seed) {
  std::vector<double> seen(static_cast<std::size_t>(pool.most_slices()) + 1, 0.0);
  Draws one(pool, of, seed);
  for (std::int64_t d = 0; d < draws; ++d) ++seen[static_cast<std::size_t>(one.slices(d))];
  for (double& count : seen) count /= static_cast<double>(draws);
  return seen;
}

}  // namespace podsim
