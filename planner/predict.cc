// Runs the stages one after another: twice where adversities are to be told from the step itself, and for
// several jobs once together and once for each alone.
#include "planner/predict.h"

#include <algorithm>
#include <utility>

#include "planner/dump.h"
#include "planner/error_band.h"
#include "planner/evaluate.h"
#include "planner/lay.h"
#include "planner/memory_advice.h"
#include "report/summarize.h"
#include "report/text.h"
#include "scheduler/portion.h"
#include "scheduler/simulate.h"
#include "scheduler/system.h"

namespace podsim {
namespace {

// Jobs that share a fabric are simulated for this many steps at least, so that jobs of different step times
// meet in many phases.
constexpr int kFewestSharedSteps = 16;

// Without what failed, and with the links that are slow.
Fabric degrade(const Fabric& fabric, const Adversities& adversities) {
  return with_slow_links(with_failures(fabric, adversities.failures), adversities.slow_links);
}

std::vector<Timeline> run(const Spec& spec, const System& system, const Adversities& adversities,
                          bool keep_intervals, bool steady) {
  SimulateOptions options;
  options.seed = spec.seed;
  options.jitter = adversities.jitter.coefficient_of_variation;
  // Alone and without jitter all steps are the same step.
  if (options.jitter > 0) options.steps = spec.steps;
  if (system.meshes.size() > 1) options.steps = std::max(spec.steps, kFewestSharedSteps);
  options.keep_intervals = keep_intervals;
  options.steady = steady;
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
std::vector<FaultCost> fault_costs(const LaidJob& job, const Fabric& fabric, bool fold_chips,
                                   const Report& report) {
  std::vector<Fault> faults = faults_of(fabric, job.spec.adversities);
  if (faults.size() > kMostFaultsToldApart)
    return {{std::to_string(faults.size()) + " adversities together", report.straggler_delay}};
  std::vector<FaultCost> costs;
  for (const Fault& fault : faults) {
    Time cost = report.straggler_delay;
    if (faults.size() > 1) {
      const Fabric degraded = degrade(fabric, fault.without);
      const System system = assemble(degraded, {&job, 1}, fault.without, fold_chips);
      cost = report.step_time - mean_step_time(run(job.spec, system, fault.without, false, true).front()) -
             evaluation_time(job, degraded, fault.without, fold_chips);
    }
    costs.push_back({fault.what, cost});
  }
  std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.cost > b.cost; });
  return costs;
}

struct Reports {
  std::vector<Report> of_job;
  std::string dump;
};

// The jobs at once, and what goes wrong according to `spec`.
Reports report_all(const Spec& spec, std::span<const LaidJob> jobs, const Fabric& fabric,
                   const PredictOptions& options) {
  Reports reports;
  const auto summarize_all = [&](const Fabric& degraded, std::span<const Timeline> timelines,
                                 std::span<const Timeline> clean) {
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      EvaluationTime evaluation;
      evaluation.clean = evaluation.mean = evaluation_time(jobs[j], fabric, {}, options.fold);
      if (!spec.adversities.none())
        evaluation.mean = evaluation_time(jobs[j], degraded, spec.adversities, options.fold);
      Report& report = reports.of_job.emplace_back(
          summarize(jobs[j].spec, jobs[j].program, timelines[j], clean[j], evaluation));
      if (jobs[j].spec.job.measured) continue;  // no published run was predicted from measured times
      report.band = step_time_band(report.step_time, kind_of(jobs[j].spec), builtin_residuals(),
                                   options.left_out_group);
    }
  };
  const bool intervals_wanted = dumps_intervals(options.dump);
  const System clean_system = assemble(fabric, jobs, {}, options.fold);
  const std::vector<Timeline> clean =
      run(spec, clean_system, {}, intervals_wanted && spec.adversities.none(), options.steady);
  if (spec.adversities.none()) {
    reports.dump = dump(options.dump, fabric, jobs, clean_system, clean);
    summarize_all(fabric, clean, clean);
    return reports;
  }
  const Fabric degraded = degrade(fabric, spec.adversities);
  const System system = assemble(degraded, jobs, spec.adversities, options.fold);
  const std::vector<Timeline> timelines = run(spec, system, spec.adversities, intervals_wanted, options.steady);
  reports.dump = dump(options.dump, degraded, jobs, system, timelines);
  summarize_all(degraded, timelines, clean);
  return reports;
}

Prediction predict_alone(const LaidJob& job, const Fabric& fabric, ChipId first_chip,
                         const PredictOptions& options) {
  Reports reports = report_all(job.spec, {&job, 1}, fabric, options);
  Prediction prediction;
  prediction.report = std::move(reports.of_job.front());
  prediction.dump = std::move(reports.dump);
  if (!prediction.report.memory.fits)
    prediction.report.memory.advice = memory_advice(job.spec, fabric, first_chip);
  if (!job.spec.adversities.none())
    prediction.report.fault_costs = fault_costs(job, fabric, options.fold, prediction.report);
  return prediction;
}

Prediction predict_together(const Spec& spec, const Fabric& fabric, const PredictOptions& options) {
  std::vector<LaidJob> jobs;
  for (const PlacedJob& job : spec.jobs) jobs.push_back(lay(spec_of_job(spec, job), fabric, job.first_chip));
  Reports together = report_all(spec, jobs, fabric, options);
  Prediction prediction;
  JobsReport& report = prediction.jobs.emplace();
  report.scenario = spec.name;
  report.question = spec.question;
  report.chip = spec.cluster.chip.name;
  report.chips = spec.cluster.fabric.chips;
  report.fabric = spec.cluster.fabric.name;
  report.seed = spec.seed;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    PredictOptions alone = options;
    alone.dump.clear();
    // Under jitter the same steps with the same draws, so that chance does not look like slowdown.
    jobs[j].spec.steps = together.of_job[j].steps;
    report.jobs.push_back({spec.jobs[j].name, spec.jobs[j].first_chip,
                           predict_alone(jobs[j], fabric, spec.jobs[j].first_chip, alone).report,
                           std::move(together.of_job[j])});
    report.jobs.back().together.memory.advice = report.jobs.back().alone.memory.advice;
  }
  prediction.dump = std::move(together.dump);
  return prediction;
}

}  // namespace

Prediction predict_step(const Spec& spec, const PredictOptions& options) {
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  if (!spec.jobs.empty()) return predict_together(spec, fabric, options);
  return predict_alone(lay(spec, fabric, 0), fabric, 0, options);
}

}  // namespace podsim
