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
  bool in_job(int node) const { return role_[unit_of(node)] == Role::kJob; }

  // A fault puts the node, and so its unit, out of order; it leaves the job. A node may have several.
  void add_fault(int node);
  // A unit that is in order again is spare. REQUIRES: the node has a fault.
  void clear_fault(int node);
  // A spare joins the job; false when there is none.
  bool take_spare();

  int job_units() const { return job_; }
  int spare_units() const { return spare_; }
  int broken_units() const { return static_cast<int>(role_.size()) - job_ - spare_; }

 private:
  enum class Role : std::uint8_t { kJob, kSpare, kBroken };

  std::size_t unit_of(int node) const { return static_cast<std::size_t>(node / nodes_per_unit_); }

  int nodes_per_unit_;
  std::vector<std::uint16_t> faults_;  // [node]
  std::vector<int> nodes_down_;        // [unit]
  std::vector<Role> role_;             // [unit]
  std::vector<int> spares_;            // all spare units and some that were; last in, first out
  int job_, spare_;
};

}  // namespace podsim
