// Runs the stages one after another, twice where adversities are to be told from the step itself.
#include "planner/predict.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "planner/dump.h"
#include "report/summarize.h"
#include "report/text.h"
#include "scheduler/place.h"
#include "scheduler/simulate.h"
#include "scheduler/system.h"

namespace podsim {
namespace {

// Everything up to the system that does not depend on what goes wrong, except for links.
struct Laid {
  Fabric fabric;
  Placement placement;
  StepProgram program;
};

Laid lay(const Spec& spec) {
  Laid laid;
  laid.fabric = build_fabric(spec.cluster.fabric);
  laid.placement = place(laid.fabric, spec.job.mesh, spec.placement);
  const MatmulRate& rate = spec.cluster.chip.matmul.at(spec.job.matmul_dtype);
  laid.program = partition(
      spec.job, {axis_bandwidth(laid.fabric, spec.job.mesh, laid.placement), rate.peak * rate.sustained});
  return laid;
}

// Without what failed, and with the links that are slow.
Fabric degrade(const Fabric& fabric, const Adversities& adversities) {
  return with_slow_links(with_failures(fabric, adversities.failures), adversities.slow_links);
}

System make_system(const Spec& spec, const Laid& laid, const Fabric& fabric, const Adversities& adversities,
                   bool fold_chips) {
  bool jitter = adversities.jitter.coefficient_of_variation > 0;
  LoweredStep step = lower(laid.program, spec, !jitter);
  Traffic traffic = plan_traffic(fabric, spec.job.mesh, laid.placement, step.messages);

  std::vector<int> stage_of(fabric.chips, 0);
  if (laid.program.stages > 1) {
    AxisSet pipeline = AxisSet{1} << laid.program.pipeline_axis;
    for (const std::vector<ChipId>& line : groups_along(spec.job.mesh, laid.placement, pipeline))
      for (std::size_t stage = 0; stage < line.size(); ++stage)
        stage_of[line[stage]] = static_cast<int>(stage);
  }
  std::vector<double> speed_of(fabric.chips, 1);
  for (const SlowChip& slow : adversities.slow_chips) speed_of[slow.chip] *= slow.speed;
  return fold(fabric, spec.job.mesh, laid.placement, std::move(step), std::move(traffic), stage_of, speed_of,
              fold_chips, jitter);
}

Timeline run(const Spec& spec, const System& system, const Adversities& adversities, bool keep_intervals) {
  SimulateOptions options;
  options.seed = spec.seed;
  options.jitter = adversities.jitter.coefficient_of_variation;
  // Without jitter all steps are the same step.
  options.steps = options.jitter > 0 ? spec.steps : 1;
  options.interference = spec.job.stack.interference;
  options.keep_intervals = keep_intervals;
  return simulate(system, options);
}

// More adversities than this are told together, so that a long list does not multiply the time of a
// prediction.
constexpr std::size_t kMostFaultsToldApart = 8;

struct Fault {
  std::string what;
  Adversities without;  // all but this one
};

std::vector<Fault> faults_of(const Fabric& fabric, const Adversities& all) {
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < all.slow_chips.size(); ++i) {
    const SlowChip& slow = all.slow_chips[i];
    faults.push_back({"chip " + std::to_string(slow.chip) + " at speed " + shortest(slow.speed), all});
    std::vector<SlowChip>& left = faults.back().without.slow_chips;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < all.slow_links.size(); ++i) {
    const SlowLink& slow = all.slow_links[i];
    faults.push_back({std::string(to_string(slow.kind)) + " of chip " + std::to_string(slow.chip) +
                          " at speed " + shortest(slow.factor),
                      all});
    std::vector<SlowLink>& left = faults.back().without.slow_links;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t i = 0; i < all.failures.size(); ++i) {
    faults.push_back({describe(fabric, all.failures[i]) + " failed", all});
    std::vector<Failure>& left = faults.back().without.failures;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (all.jitter.coefficient_of_variation > 0) {
    faults.push_back({"jitter of operations", all});
    faults.back().without.jitter = {};
  }
  return faults;
}

// Simulates the step again without each adversity. A lone one costs the whole straggler delay, and so do many
// together.
std::vector<FaultCost> fault_costs(const Spec& spec, const Laid& laid, bool fold_chips,
                                   const Report& report) {
  std::vector<Fault> faults = faults_of(laid.fabric, spec.adversities);
  if (faults.size() > kMostFaultsToldApart)
    return {{std::to_string(faults.size()) + " adversities together", report.straggler_delay}};
  std::vector<FaultCost> costs;
  for (const Fault& fault : faults) {
    Time cost = report.straggler_delay;
    if (faults.size() > 1) {
      const Fabric fabric = degrade(laid.fabric, fault.without);
      const System system = make_system(spec, laid, fabric, fault.without, fold_chips);
      cost = report.step_time - mean_step_time(run(spec, system, fault.without, false));
    }
    costs.push_back({fault.what, cost});
  }
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.cost > b.cost; });
  return costs;
}

}  // namespace

Prediction predict_step(const Spec& spec, const PredictOptions& options) {
  Prediction prediction;
  Laid laid = lay(spec);
  const bool timeline_wanted = options.dump == "timeline";
  System clean_system = make_system(spec, laid, laid.fabric, {}, options.fold);
  Timeline clean = run(spec, clean_system, {}, timeline_wanted && spec.adversities.none());
  if (spec.adversities.none()) {
    prediction.dump =
        dump(options.dump, spec, laid.fabric, laid.program, laid.placement, clean_system, clean);
    prediction.report = summarize(spec, laid.program, clean, clean);
    return prediction;
  }
  Fabric slowed = degrade(laid.fabric, spec.adversities);
  System system = make_system(spec, laid, slowed, spec.adversities, options.fold);
  Timeline timeline = run(spec, system, spec.adversities, timeline_wanted);
  prediction.dump = dump(options.dump, spec, slowed, laid.program, laid.placement, system, timeline);
  prediction.report = summarize(spec, laid.program, timeline, clean);
  prediction.report.fault_costs = fault_costs(spec, laid, options.fold, prediction.report);
  return prediction;
}

}  // namespace podsim
