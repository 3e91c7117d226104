// Leaves out one adversity after the other.
#include "prediction/fault_costs.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "report/summary/slow_entries.h"
#include "report/text/text.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/question/spec.h"
#include "topology/failures.h"
#include "topology/parts.h"

namespace podsim {
namespace {

// So many are told apart. Of more the gravest are, and the others together, so that a list does not multiply
// the time of a prediction; a list of very many is one. Both chosen.
constexpr std::size_t kMostToldApart = 8, kMostListed = 64;

// Told first: how much slower it makes anything is not known.
constexpr double kGravest = std::numeric_limits<double>::infinity();

// A source of chance that is one adversity.
struct SourceOfChance {
  std::string_view what;
  bool (*any)(const Adversities&);
  void (*leave_out)(Adversities&);
};

constexpr std::array<SourceOfChance, 5> kChances = {{
    {"jitter of operations", [](const Adversities& all) { return all.jitter.coefficient_of_variation > 0; },
     [](Adversities& all) { all.jitter = {}; }},
    {"jitter of steps", [](const Adversities& all) { return all.variation.factors(); },
     [](Adversities& all) { all.variation.leave_out_factors(); }},
    {"garbage collection", [](const Adversities& all) { return all.variation.collection.every_steps > 0; },
     [](Adversities& all) { all.variation.collection = {}; }},
    {"stalls of input", [](const Adversities& all) { return all.variation.input.probability > 0; },
     [](Adversities& all) { all.variation.input = {}; }},
    {"lengths of documents", [](const Adversities& all) { return all.variation.uneven_lengths; },
     [](Adversities& all) { all.variation.uneven_lengths = false; }},
}};

// What is left out at once, by places in the lists of the adversities, and of kChances.
struct Fault {
  std::set<std::size_t> degradations = {}, failures = {}, late = {}, chances = {};
  double gravity = kGravest;  // by how much more time the slowest of its parts takes
  int adversities = 1;
};

// Chips of one host, or links of one kind there, are one.
bool is_of(const Fault& fault, const Degradation& next, const Adversities& all, const FabricSpec& fabric) {
  if (fault.degradations.empty() || next.by_selector()) return false;
  const Degradation& first = all.degradations[*fault.degradations.begin()];
  return first.cause == next.cause &&
         (next.cause == Degradation::Cause::kSlowChip || first.link == next.link) &&
         host_of(fabric, first.chip) == host_of(fabric, next.chip);
}

// By chip, which may have several entries: their speeds multiply.
std::map<ChipId, double> speeds_of(const std::set<std::size_t>& places, const Adversities& all) {
  std::map<ChipId, double> speeds;
  for (const std::size_t place : places) {
    const Degradation& slow = all.degradations[place];
    speeds.try_emplace(slow.chip, 1).first->second *= slow.factor.mean;
  }
  return speeds;
}

std::vector<Fault> constant_faults(const Adversities& all, const FabricSpec& fabric) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < all.degradations.size(); ++i) {
    const Degradation& next = all.degradations[i];
    auto fault =
        std::ranges::find_if(faults, [&](const Fault& each) { return is_of(each, next, all, fabric); });
    if (fault == faults.end()) fault = faults.insert(faults.end(), Fault{.gravity = 0});
    fault->degradations.insert(i);
  }
  for (Fault& fault : faults)
    for (const auto& [chip, speed] : speeds_of(fault.degradations, all))
      fault.gravity = std::max(fault.gravity, 1 / speed - 1);
  for (std::size_t i = 0; i < all.failures.size(); ++i) faults.push_back({.failures = {i}});
  return faults;
}

// In the order of the scenario, what is told together last.
std::vector<Fault> faults_of(const Adversities& all, const FabricSpec& fabric) {
  std::vector<Fault> faults = constant_faults(all, fabric);
  for (std::size_t i = 0; i < kChances.size(); ++i)
    if (kChances[i].any(all)) faults.push_back({.chances = {i}});
  for (std::size_t i = 0; i < all.variation.late.size(); ++i) faults.push_back({.late = {i}});
  if (faults.size() <= kMostToldApart) return faults;
  std::ranges::stable_sort(faults, std::ranges::greater{}, &Fault::gravity);
  const std::size_t apart = faults.size() > kMostListed ? 0 : kMostToldApart - 1;
  Fault together{.gravity = 0, .adversities = 0};
  for (std::size_t i = apart; i < faults.size(); ++i) {
    together.degradations.merge(faults[i].degradations);
    together.failures.merge(faults[i].failures);
    together.late.merge(faults[i].late);
    together.chances.merge(faults[i].chances);
    together.adversities += faults[i].adversities;
  }
  faults.resize(apart);
  faults.push_back(std::move(together));
  return faults;
}

template <class Each>
void erase(std::vector<Each>& from, const std::set<std::size_t>& places) {
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(*place));
}

Adversities without(const Fault& fault, const Adversities& all) {
  Adversities left = all;
  erase(left.degradations, fault.degradations);
  erase(left.failures, fault.failures);
  erase(left.variation.late, fault.late);
  for (const std::size_t chance : fault.chances) kChances[chance].leave_out(left);
  return left;
}

// "8 chips of host 17 at speed 0.8".
std::string describe_host(const std::set<std::size_t>& places, const Adversities& all,
                          const FabricSpec& fabric) {
  Degradation first = all.degradations[*places.begin()];
  const std::map<ChipId, double> speeds = speeds_of(places, all);
  const auto [slowest, fastest] = std::ranges::minmax_element(
      speeds, {}, [](const std::pair<const ChipId, double>& each) { return each.second; });
  if (speeds.size() == 1) {
    first.factor.mean = slowest->second;
    return describe(first);
  }
  const double least = slowest->second, most = fastest->second;
  const bool links = first.cause == Degradation::Cause::kSlowLink;
  return (links ? std::string(to_string(first.link)) + " of " : "") + std::to_string(speeds.size()) +
         " chips of host " + std::to_string(host_of(fabric, first.chip)) +
         (least == most ? " at speed " : " at speeds " + shortest(least) + " to ") + shortest(most);
}

std::string describe_fault(const Fault& fault, const Adversities& all, const Fabric& healthy,
                           const FabricSpec& fabric) {
  if (!fault.failures.empty()) return describe(healthy, all.failures[*fault.failures.begin()]) + " failed";
  if (!fault.chances.empty()) return std::string(kChances[*fault.chances.begin()].what);
  if (!fault.late.empty())
    return "late launches of chip " + std::to_string(all.variation.late[*fault.late.begin()].chip);
  if (fault.degradations.size() > 1) return describe_host(fault.degradations, all, fabric);
  return describe(all.degradations[*fault.degradations.begin()]);
}

std::vector<Adversities> all_left(const Adversities& all, const FabricSpec& fabric) {
  std::vector<Adversities> left;
  for (const Fault& fault : faults_of(all, fabric)) left.push_back(without(fault, all));
  return left;
}

bool draws(const Spec& spec, const Adversities& adversities) {
  return differ_by_seed(spec, adversities) || adversities.changing();
}

}  // namespace

std::vector<FaultCost> fault_costs(const LaidJob& job, const Fabric& healthy,
                                   std::span<const SimulateOptions> draws_of_all, const DrawOptions& options,
                                   const Report& report) {
  const Adversities& all = job.spec.adversities;
  const FabricSpec& fabric = job.spec.cluster.fabric;
  const std::vector<Fault> faults = faults_of(all, fabric);
  SimulateOptions how;
  how.loop = draws_of_all.front().loop;
  how.steady = draws_of_all.front().steady;
  how.share_done = draws_of_all.front().share_done;
  const std::vector<SimulateOptions> only = draws_of(job.spec, {}, 1, how);
  std::vector<FaultCost> costs;
  for (const Fault& fault : faults) {
    FaultCost told{"", report.straggler_delay, fault.adversities};
    if (fault.adversities > 1)
      told.what = std::to_string(fault.adversities) + (faults.size() > 1 ? " slighter" : "") +
                  " adversities together";
    else
      told.what = describe_fault(fault, all, healthy, fabric);
    if (faults.size() > 1) {
      const Adversities left = without(fault, all);
      std::vector<SimulateOptions> same(draws_of_all.begin(), draws_of_all.end());
      for (SimulateOptions& draw : same) draw.draw(left);
      const SimulatedJobs simulated =
          simulate_draws(healthy, {&job, 1}, left, draws(job.spec, left) ? same : only, options);
      told.cost = report.step_time - mean_step_time(simulated.of_job.front());
    }
    costs.push_back(std::move(told));
  }
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.cost > b.cost; });
  return costs;
}

std::size_t fault_runs(const Adversities& adversities, const FabricSpec& fabric) {
  const std::size_t all = all_left(adversities, fabric).size();
  return all < 2 ? 0 : all;
}

std::size_t drawn_fault_runs(const Spec& spec) {
  const FabricSpec& fabric = spec.cluster.fabric;
  if (!differ_by_seed(spec, spec.adversities) || fault_runs(spec.adversities, fabric) == 0) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      all_left(spec.adversities, fabric), [&](const Adversities& left) { return draws(spec, left); }));
}

}  // namespace podsim
