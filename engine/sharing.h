// Max-min fair sharing of resources among activities.
//
// Activity a progresses at rate x_a and uses u_{a,r} units of resource r per unit of progress; resource r has
// capacity c_r.
//   feasible:      sum_a u_{a,r} x_a <= c_r   for every r
//   max-min fair:  no x_a can grow without lowering some x_b <= x_a
// Solved by progressive filling: all rates rise together; where a resource fills at level L, every activity
// on it is frozen at L; the rest rises on. A resource fills at (c_r - sum_frozen u x) / (sum_unfrozen u).
//
// Usages are fixed-point integers, so sums of usages are exact in any order. Rates therefore do not depend on
// how activities are numbered or grouped: k equal activities on a resource, and one that stands for them with
// k times the usage, get bit-identical rates. Folding (scheduler/fold.h) rests on this.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace podsim {

using ActivityId = std::int32_t;

// One unit of usage. 2^40: finer than 1e-12, and 8 million activities of usage 1 fit on one resource.
inline constexpr std::int64_t kUsageUnit = std::int64_t{1} << 40;

struct Use {
  std::int32_t resource;
  std::int64_t usage;  // in 1 / kUsageUnit units of the resource per unit of progress, > 0
};

// The nearest fixed-point usage, at least the smallest positive one. REQUIRES: 0 < usage < 2^22.
std::int64_t fixed_usage(double usage);

class Sharing {
 public:
  // capacity[r] in units per second, > 0.
  explicit Sharing(std::vector<double> capacity);

  // REQUIRES: at least one use, each resource once; `uses` outlives the activity. O(uses).
  ActivityId add(std::span<const Use> uses);
  void remove(ActivityId activity);  // O(uses)

  // Solves again for every activity connected to what was added or removed since the last call, and only
  // those. Appends to `changed` the activities whose rate differs from before. O(k log r) for k uses and r
  // resources in the touched components.
  void solve(std::vector<ActivityId>& changed);

  double rate(ActivityId activity) const { return activities_[activity].rate; }  // progress per second

 private:
  struct Seat {  // an activity on a resource
    ActivityId activity;
    std::int32_t use;  // index into its uses
  };
  struct Activity {
    std::span<const Use> uses;
    std::vector<std::int32_t> seat;  // [use] position in resources_[r].seats
    double rate = 0;
    double old_rate = 0;
    bool active = false, frozen = false, gathered = false;
  };
  struct Resource {
    double capacity = 0;
    double left = 0;  // capacity minus what frozen activities take
    double level = 0;
    std::int64_t unfrozen = 0;  // sum of usages of unfrozen activities
    std::int64_t freezing = 0;  // sum of usages of those frozen at the current level
    std::vector<Seat> seats;
    bool touched = false, gathered = false;
  };

  void touch(std::int32_t resource);
  void gather_components();
  void fill();

  std::vector<Resource> resources_;
  std::vector<Activity> activities_;
  std::vector<ActivityId> free_;
  std::vector<std::int32_t> touched_;
  std::vector<std::int32_t> component_resources_;
  std::vector<ActivityId> component_activities_;
  std::vector<std::pair<double, std::int32_t>> heap_;
  std::vector<std::int32_t> level_resources_;
  std::vector<std::int32_t> reduced_;
};

}  // namespace podsim
