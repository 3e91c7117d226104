// Roles of units as their nodes fail and are mended.
#include "scheduler/reliability/weeks/pool.h"

#include <algorithm>
#include <cstddef>

#include "engine/check.h"

namespace podsim {

Pool::Pool(int nodes_per_unit, int job_units, int spare_units)
    : nodes_per_unit_(nodes_per_unit),
      faults_(static_cast<std::size_t>(nodes_per_unit) * static_cast<std::size_t>(job_units + spare_units)),
      nodes_down_(static_cast<std::size_t>(job_units + spare_units)),
      times_taken_(nodes_down_.size()),
      role_(nodes_down_.size(), Role::kJob),
      job_(job_units),
      spare_(spare_units) {
  PODSIM_CHECK(nodes_per_unit > 0 && job_units > 0 && spare_units >= 0, "a pool has units of nodes");
  for (int unit = job_units; unit < job_units + spare_units; ++unit) {
    role_[static_cast<std::size_t>(unit)] = Role::kSpare;
    spares_.push_back(unit);
  }
}

void Pool::add_fault(int node, Fault fault) {
  PODSIM_CHECK(node >= 0 && static_cast<std::size_t>(node) < faults_.size(), "the node is in the pool");
  const std::size_t unit = unit_of(node);
  if (fault == Fault::kTakenAway && times_taken_[unit]++ == 0) ++taken_;
  if (faults_[static_cast<std::size_t>(node)]++ > 0) return;
  if (nodes_down_[unit]++ > 0) return;
  --(role_[unit] == Role::kJob ? job_ : spare_);
  role_[unit] = Role::kOut;
}

void Pool::clear_fault(int node, Fault fault) {
  PODSIM_CHECK(!is_up(node), "a node that is mended was out of order");
  const std::size_t unit = unit_of(node);
  if (fault == Fault::kTakenAway && --times_taken_[unit] == 0) --taken_;
  if (--faults_[static_cast<std::size_t>(node)] > 0) return;
  if (--nodes_down_[unit] > 0) return;
  role_[unit] = Role::kSpare;
  ++spare_;
  spares_.push_back(static_cast<int>(unit));
}

int Pool::job_units_in(int first, int end) const {
  return static_cast<int>(std::count(role_.begin() + static_cast<std::ptrdiff_t>(unit_of(first)),
                                     role_.begin() + static_cast<std::ptrdiff_t>(unit_of(end - 1)) + 1,
                                     Role::kJob));
}

bool Pool::take_spare() {
  while (!spares_.empty()) {
    const auto unit = static_cast<std::size_t>(spares_.back());
    spares_.pop_back();
    if (role_[unit] != Role::kSpare) continue;  // it broke since
    role_[unit] = Role::kJob;
    PODSIM_CHECK(spare_ > 0, "a spare that is taken was counted");
    --spare_;
    ++job_;
    return true;
  }
  return false;
}

}  // namespace podsim
