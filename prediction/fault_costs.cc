// Leaves out one adversity after the other.
#include "prediction/fault_costs.h"

#include <algorithm>
#include <string>

#include "report/slow_entries.h"
#include "report/text.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/question/spec.h"
#include "topology/failures.h"

namespace podsim {
namespace {

// More adversities than this are told together, so that a long list does not multiply the time of a
// prediction.
constexpr std::size_t kMostFaultsToldApart = 8;

struct Fault {
  std::string what;
  Adversities without;  // all but this one
};

std::vector<Fault> random_faults(const Adversities& all) {
  std::vector<Fault> faults;
  if (all.jitter.coefficient_of_variation > 0) {
    faults.push_back({"jitter of operations", all});
    faults.back().without.jitter = {};
  }
  if (all.variation.factors()) {
    faults.push_back({"jitter of steps", all});
    faults.back().without.variation.leave_out_factors();
  }
  if (all.variation.collection.every_steps > 0) {
    faults.push_back({"garbage collection", all});
    faults.back().without.variation.collection = {};
  }
  if (all.variation.input.probability > 0) {
    faults.push_back({"stalls of input", all});
    faults.back().without.variation.input = {};
  }
  if (all.variation.uneven_lengths) {
    faults.push_back({"lengths of documents", all});
    faults.back().without.variation.uneven_lengths = false;
  }
  for (std::size_t i = 0; i < all.variation.late.size(); ++i) {
    faults.push_back({"late launches of chip " + std::to_string(all.variation.late[i].chip), all});
    std::vector<LateLaunch>& left = faults.back().without.variation.late;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return faults;
}

std::size_t constant_faults(const Adversities& all) { return all.degradations.size() + all.failures.size(); }

std::vector<Fault> faults_of(const Fabric& fabric, const Adversities& all) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < all.degradations.size(); ++i) {
    faults.push_back({describe(all.degradations[i]), all});
    std::vector<Degradation>& left = faults.back().without.degradations;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < all.failures.size(); ++i) {
    faults.push_back({describe(fabric, all.failures[i]) + " failed", all});
    std::vector<Failure>& left = faults.back().without.failures;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (Fault& fault : random_faults(all)) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace

std::vector<FaultCost> fault_costs(const LaidJob& job, const Fabric& healthy,
                                   std::span<const SimulateOptions> draws, bool fold_chips,
                                   const DrawPool& pool, TrafficPlans& plans, const Report& report) {
  std::vector<Fault> faults = faults_of(healthy, job.spec.adversities);
  if (faults.size() > kMostFaultsToldApart)
    return {{std::to_string(faults.size()) + " adversities together", report.straggler_delay}};
  SimulateOptions how;
  how.loop = draws.front().loop;
  how.steady = draws.front().steady;
  how.share_done = draws.front().share_done;
  const std::vector<SimulateOptions> only = draws_of(job.spec, {}, 1, how);
  std::vector<FaultCost> costs;
  for (const Fault& fault : faults) {
    Time cost = report.straggler_delay;
    if (faults.size() > 1) {
      std::vector<SimulateOptions> same(draws.begin(), draws.end());
      for (SimulateOptions& draw : same) draw.draw(fault.without);
      const SimulatedJobs left = simulate_draws(
          healthy, {&job, 1}, fault.without, fault.without.random() || fault.without.changing() ? same : only,
          fold_chips, pool, &plans);
      cost = report.step_time - mean_step_time(left.of_job.front());
    }
    costs.push_back({fault.what, cost});
  }
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.cost > b.cost; });
  return costs;
}

std::size_t fault_runs(const Adversities& adversities) {
  const std::size_t all = constant_faults(adversities) + random_faults(adversities).size();
  return all < 2 || all > kMostFaultsToldApart ? 0 : all;
}

std::size_t random_fault_runs(const Adversities& adversities) {
  if (!adversities.random() || fault_runs(adversities) == 0) return 0;
  const std::vector<Fault> random = random_faults(adversities);
  const std::size_t others = constant_faults(adversities);
  const auto still_random = [&](const Adversities& without) {
    return without.random() || without.changing();
  };
  std::size_t runs = 0;
  for (const Fault& fault : random) runs += still_random(fault.without);
  for (std::size_t i = 0; i < adversities.degradations.size(); ++i) {
    Adversities without = adversities;
    without.degradations.erase(without.degradations.begin() + static_cast<std::ptrdiff_t>(i));
    runs += still_random(without);
  }
  return runs + others - adversities.degradations.size();
}

}  // namespace podsim
