// Max-min fair sharing of resources among activities.
//
// Activity a progresses at rate x_a and uses u_{a,r} units of resource r per unit of progress; resource r has
// capacity c_r.
//   feasible:      sum_a u_{a,r} x_a <= c_r   for every r
//   max-min fair:  no x_a can grow without lowering some x_b <= x_a
// Solved by progressive filling: all rates rise together; where a resource fills at level L, every activity
// on it is frozen at L; the rest rises on. A resource fills at (c_r - sum_frozen u x) / (sum_unfrozen u).
//
// Weights: to share in proportion to w_a, that is to make x_a / w_a max-min fair, count the progress of a in
// units of w_a: multiply its usages by w_a (`weighted_usage`) and divide its amount by w_a. The rate is then
// x_a / w_a.
//
// Usages are fixed-point integers, so sums of usages are exact in any order, and what a resource has left is
// computed level by level in rising order. Rates therefore do not depend on how activities are numbered or
// grouped, nor on what came and went before: k equal activities on a resource, and one that stands for them
// with k times the usage, get bit-identical rates. Folding (docs/theory/folding.md) rests on this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/levels.h"

namespace podsim {

using ActivityId = std::int32_t;

// One unit of usage. 2^40: finer than 1e-12, and 8 million activities of usage 1 fit on one resource.
inline constexpr std::int64_t kUsageUnit = std::int64_t{1} << 40;

// What an activity takes of one resource while it progresses.
struct Use {
  std::int32_t resource;
  std::int64_t usage;  // in 1 / kUsageUnit units of the resource per unit of progress, > 0
};

// The nearest fixed-point usage, at least the smallest positive one. REQUIRES: 0 < usage < 2^22.
std::int64_t fixed_usage(double usage);

// The usage of an activity that counts its progress in units of `weight`. REQUIRES: weight > 0, and the
// product stays below 2^22 units.
std::int64_t weighted_usage(std::int64_t usage, double weight);

// The rates of all activities at present. Activities and capacities come and go; `solve` brings rates up to
// date. INVARIANT after a solve: usages times rates sum to at most the capacity on every resource, and every
// activity is on a full resource on which no other has a higher rate. That is max-min fairness (Bertsekas and
// Gallager, Data Networks, 1992, section 6.5.2).
class Sharing {
 public:
  // capacity[r] in units per second, >= 0. At 0 everything on the resource has rate 0.
  explicit Sharing(std::vector<double> capacity);

  void reserve(std::size_t activities);  // room for so many at once; more may come

  // From the next solve on. O(1).
  void set_capacity(std::int32_t resource, double capacity);

  // REQUIRES: at least one use, each resource once; `uses` outlives the activity; the usages on a resource
  // sum to less than 2^23. O(uses), without allocation once as many have been active before.
  // rate_before: that of an activity which went on alone until now, outside this object.
  ActivityId add(std::span<const Use> uses, double rate_before = 0);
  void remove(ActivityId activity);  // O(uses)

  // Solves for everything that was added, removed or given another capacity since the last call. Appends to
  // `changed` the activities whose rate differs from before; a new one counts as rate 0 before.
  //
  // Only what changes is looked at: the change spreads in rising order of levels from the resources that were
  // touched, and an activity whose rate stays stops it. With k uses of the activities on the resources that
  // it reaches and r such resources, O(k log k + r log r); O(k + r) when they are new and their resources
  // fill at few distinct levels. The result is bit by bit that of solving from nothing.
  void solve(std::vector<ActivityId>& changed);

  double rate(ActivityId activity) const { return activities_[activity].rate; }  // progress per second

  // The rate of an activity that has all its resources to itself, bit by bit that of solving. O(uses).
  double rate_alone(std::span<const Use> uses) const;

 private:
  static constexpr double kNoLevel = std::numeric_limits<double>::infinity();

  // Held: at a rate that stands until the present solve shows otherwise. Loose: rising in this solve.
  // Frozen: by this solve. Gone: removed, but still on the lists of its resources.
  enum class State : std::uint8_t { kGone, kHeld, kLoose, kFrozen };
  // Its uses are the caller's: nothing is copied.
  struct Activity {
    const Use* uses;
    double rate;
    std::int32_t count;  // of uses
    State state;
  };
  struct Seat {  // an activity on a resource
    std::int64_t usage;
    ActivityId activity;
  };
  // Settled: fills where it did in the last solve. Open: this solve fills it anew. Full: this solve has
  // filled it.
  enum class Phase : std::uint8_t { kSettled, kOpen, kFull };
  struct Resource {
    double capacity = 0;
    double fill = kNoLevel;  // level at which it was last full; kNoLevel = it has room for all that is on it
    std::int64_t total = 0;  // of the usages on it
    std::vector<Seat> seats;
    std::int32_t added = 0;  // seats at the end that are new since the last solve
    bool touched = false, vacated = false, lowered = false;
    bool joined = false;  // fills with a neighbour that does so a rounding error earlier
    bool affected = false;
    Phase phase = Phase::kSettled;
    // While open; what is below the present level is final.
    std::int32_t cursor = 0, held_end = 0;  // seats of held activities, in rising order of rates
    double left = 0;                        // capacity less what is frozen below
    std::int64_t unfrozen = 0;              // usages not frozen below
    std::int64_t freezing = 0;              // usages frozen at the present level by this solve
    double level = kNoLevel;                // where it fills if nothing more is frozen before
    double key = kNoLevel;                  // of its next event
  };
  struct Moved {
    ActivityId activity;
    double before;  // its rate before the solve
  };
  struct Doubt {  // nothing is known to hold the activity, which is on the resource
    ActivityId activity;
    std::int32_t resource;
  };

  void touch(std::int32_t resource);

  // filling.cc
  void prepare(std::int32_t resource);
  void reset(std::int32_t resource);
  void sort_seats(Resource& resource) const;
  void advance(Resource& resource, double level) const;
  double next_event(const Resource& resource) const;
  void pass_level(double level);
  void visit(std::int32_t resource, double level);
  void open(std::int32_t resource, double level);
  void fill(std::int32_t resource, double level, bool joined);
  void freeze_activities(std::int32_t resource, double level);
  void freeze(ActivityId activity, double level);
  void release(ActivityId activity, double level);
  bool is_held(ActivityId activity, double level);
  void confirm_held(std::int32_t resource, double level);
  void settle_doubts(double level);
  void mark_affected(std::int32_t resource);
  void schedule(std::int32_t resource, double level);
  void finish(std::vector<ActivityId>& changed);

  std::vector<Resource> resources_;
  std::vector<Activity> activities_;
  std::vector<ActivityId> free_, gone_;
  std::vector<std::int32_t> touched_;
  std::vector<Moved> moved_;  // activities that are new, or that this solve gives another rate

  // Of one solve.
  Levels levels_;
  std::vector<std::int32_t> opened_;
  std::vector<std::int32_t> due_;       // with an event at the present level
  std::vector<std::int32_t> filling_;   // full at the present level, their activities to be frozen
  std::vector<std::int32_t> meeting_;   // whose held activities of the present level are to be confirmed
  std::vector<std::int32_t> affected_;  // to be scheduled anew after the present level
  std::vector<Doubt> doubts_;
};

}  // namespace podsim
