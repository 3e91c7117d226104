// The units of a cluster: which the job has, which are spare, which are out of order.
#pragma once

#include <cstdint>
#include <vector>

namespace podsim {

// A unit is a fixed number of consecutive nodes and in order when all of them are. The first units are the
// job's.
class Pool {
 public:
  Pool(int nodes_per_unit, int job_units, int spare_units);

  bool is_up(int node) const { return faults_[static_cast<std::size_t>(node)] == 0; }
  // Of the units with nodes from `first` to before `end`. REQUIRES: first < end.
  int job_units_in(int first, int end) const;

  // Why a node is not there: it is out of order, or its owner has taken it away.
  enum class Fault : std::uint8_t { kBroken, kTakenAway };
  // A fault puts the node, and so its unit, out of order; it leaves the job. A node may have several.
  void add_fault(int node, Fault fault);
  // A unit that is in order again is spare. REQUIRES: the node has such a fault.
  void clear_fault(int node, Fault fault);
  // A spare joins the job; false when there is none.
  bool take_spare();

  int job_units() const { return job_; }
  int spare_units() const { return spare_; }
  int taken_units() const { return taken_; }  // units of which a node was taken away
  int broken_units() const { return static_cast<int>(role_.size()) - job_ - spare_ - taken_; }

 private:
  enum class Role : std::uint8_t { kJob, kSpare, kOut };

  std::size_t unit_of(int node) const { return static_cast<std::size_t>(node / nodes_per_unit_); }

  int nodes_per_unit_;
  std::vector<std::uint16_t> faults_;  // [node]
  std::vector<int> nodes_down_;        // [unit]
  std::vector<int> times_taken_;       // [unit] faults of that kind
  std::vector<Role> role_;             // [unit]
  std::vector<int> spares_;            // all spare units and some that were; last in, first out
  int job_, spare_, taken_ = 0;
};

}  // namespace podsim
