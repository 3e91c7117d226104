// Runs the stages one after another: twice where adversities are to be told from the step itself, and for
// several jobs once together and once for each alone.
#include "prediction/predict.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/check_scope.h"
#include "engine/stage_timer.h"
#include "prediction/attribution.h"
#include "prediction/dump.h"
#include "prediction/error_band.h"
#include "prediction/fault_costs.h"
#include "prediction/known_layouts.h"
#include "prediction/memory_advice.h"
#include "prediction/prepare_job.h"
#include "prediction/seed_runs.h"
#include "prediction/shapes.h"
#include "report/pictures/network_drawing.h"
#include "report/pictures/step_counters.h"
#include "report/summary/slow_entries.h"
#include "report/summary/summarize.h"
#include "report/summary/verdict.h"
#include "scheduler/placement/subcluster.h"

namespace podsim {
namespace {

struct Reports {
  std::vector<Report> of_job;
  std::vector<Ensemble> ensembles;  // [job]
  std::string dump;
  Attribution attribution;  // of a lone job with adversities
  std::optional<RecordedTrace> trace;
  std::optional<StepTracks> tracks;
  std::optional<StepDetail> detail;
};

// Intervals are kept where the dump or tracks show them.
SimulateOptions simulation_of(const PredictOptions& options) {
  SimulateOptions how;
  how.loop = options.loop;
  how.steady = options.steady;
  how.keep_intervals = options.tracks || options.detail || dumps_intervals(options.dump);
  how.share_done = options.share_done;
  how.most_events = options.most_events;
  return how;
}

DrawOptions draw_options(const PredictOptions& options, TrafficPlans* plans) {
  return {options.fold, options.threads, options.draw_done, plans};
}

std::string dump_of(const std::string& stage, const Fabric& healthy, std::span<const LaidJob> jobs,
                    const SimulatedJobs& simulated) {
  if (stage.empty()) return "";
  std::vector<Timeline> timelines;
  for (const Ensemble& ensemble : simulated.of_job) timelines.push_back(ensemble.first);
  return dump(stage, simulated.on(healthy), jobs, simulated.system, timelines);
}

// Without adversities; documents stay what they are in each of the draws.
std::vector<SimulateOptions> clean_draws(const Spec& spec, std::size_t jobs,
                                         std::span<const SimulateOptions> draws, const SimulateOptions& how) {
  std::vector<SimulateOptions> clean = draws_of(spec, {}, jobs, how);
  if (!differ_by_seed(spec, {})) return clean;
  for (std::size_t k = 0; k < clean.size(); ++k) clean[k].steps = draws[k].steps;
  return clean;
}

// The jobs at once, and what goes wrong according to `spec` in these draws.
Reports report_all(const Spec& spec, std::span<const LaidJob> jobs, const Fabric& fabric,
                   std::span<const SimulateOptions> draws, const PredictOptions& options,
                   TrafficPlans& plans) {
  const bool healthy = spec.adversities.none();
  SimulateOptions how = simulation_of(options);
  how.keep_intervals = how.keep_intervals && healthy;
  const auto simulated_with = [&](const Adversities& adversities, std::span<const SimulateOptions> of) {
    return simulate_draws(fabric, jobs, adversities, of,
                          draw_options(options, healthy && !options.chosen_on ? nullptr : &plans));
  };
  SimulatedJobs clean = simulated_with({}, clean_draws(spec, jobs.size(), draws, how));
  SimulatedJobs degraded;
  if (!healthy) degraded = simulated_with(spec.adversities, draws);
  SimulatedJobs& simulated = healthy ? clean : degraded;
  const StageTimer timer("report");
  Reports reports;
  reports.dump = dump_of(options.dump, fabric, jobs, simulated);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    Report& report = reports.of_job.emplace_back(
        summarize(jobs[j].spec, jobs[j].program, simulated.of_job[j], clean.of_job[j]));
    report.slow_entries =
        slow_entries(spec.adversities.degradations, simulated.system.hits, simulated.of_job[j].standstills);
    if (jobs[j].spec.job.measured) continue;  // no published run was predicted from measured times
    report.band = builtin_step_time_band(report.step_time, kind_of(jobs[j].spec), options.left_out_group);
  }
  if (jobs.size() == 1) {
    const Timeline& first = simulated.of_job.front().first;
    const SimulateOptions& draw = draws.front();
    if (!healthy) reports.attribution = attribute(simulated.system, jobs.front(), draw, first);
    if (options.trace) reports.trace = trace_of(simulated.system, jobs.front(), draw, first, true);
    if (options.tracks) {
      reports.tracks = step_tracks(simulated.system, 0, jobs.front().program, spec.name, first);
      reports.tracks->counters = step_counters(simulated.system, jobs.front(), first);
    }
    if (options.detail) {
      reports.detail = step_detail(simulated.system, jobs.front(), first,
                                   simulated.of_job.front().draws.front().attention);
      reports.detail->steps = simulated.of_job.front().step_times;
      reports.detail->network =
          network_drawing(simulated.on(fabric), fabric,
                          network_load(simulated.system, first, reports.of_job.front().link_use));
      if (reports.of_job.front().band) reports.detail->near = near_runs(kind_of(jobs.front().spec));
    }
  }
  reports.ensembles = std::move(simulated.of_job);
  return reports;
}

// `draws` = those of its adversities.
Prediction predict_alone(const LaidJob& job, const Fabric& fabric, ChipId first_chip,
                         std::span<const SimulateOptions> draws, const PredictOptions& options,
                         const Fabric* chosen_on = nullptr) {
  TrafficPlans plans(chosen_on);
  Reports reports = report_all(job.spec, {&job, 1}, fabric, draws, options, plans);
  Prediction prediction;
  prediction.report = std::move(reports.of_job.front());
  prediction.dump = std::move(reports.dump);
  prediction.trace = std::move(reports.trace);
  prediction.tracks = std::move(reports.tracks);
  prediction.detail = std::move(reports.detail);
  if (!prediction.report.memory.fits && options.memory_advice)
    prediction.report.memory.advice =
        timed("advise on memory", [&] { return memory_advice(job.spec, fabric, first_chip); });
  if (job.spec.adversities.none()) return prediction;
  Report& report = prediction.report;
  report.fault_costs = fault_costs(job, fabric, draws, draw_options(options, &plans), report);
  report.what_if = std::move(reports.attribution.what_if);
  report.verdict = verdict_of(report, reports.attribution.impossible);
  return prediction;
}

// Mean step under the adversities of the spec, which are not told apart.
Time mean_step_of(const Spec& spec, const Fabric& fabric, const PredictOptions& options) {
  SimulateOptions how;
  how.loop = options.loop;
  how.steady = options.steady;
  std::vector<SimulateOptions> draws = draws_of(spec, spec.adversities, 1, how);
  for (SimulateOptions& draw : draws) draw.keep_passes = 0;
  const LaidJob job = prepare_job(spec, fabric, 0);
  return mean_step_time(simulate_draws(fabric, {&job, 1}, spec.adversities, draws,
                                       {.fold = options.fold, .threads = options.threads})
                            .of_job.front());
}

Prediction predict_together(const Spec& spec, const Fabric& fabric, const PredictOptions& options) {
  std::vector<LaidJob> jobs;
  for (const PlacedJob& job : spec.jobs)
    jobs.push_back(prepare_job(spec_of_job(spec, job), fabric, job.first_chip));
  TrafficPlans plans;
  Reports together =
      report_all(spec, jobs, fabric, draws_of(spec, spec.adversities, jobs.size(), simulation_of(options)),
                 options, plans);
  Prediction prediction;
  JobsReport& report = prediction.jobs.emplace();
  report.scenario_sha256 = spec.sha256;
  report.scenario = spec.name;
  report.question = spec.question;
  report.chip = spec.cluster.chip.name;
  report.chips = spec.cluster.fabric.chips;
  report.fabric = spec.cluster.fabric.name;
  report.seed = spec.seed;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    PredictOptions alone = options;
    alone.dump.clear();
    alone.detail = false;
    std::vector<SimulateOptions> draws =
        draws_of(jobs[j].spec, jobs[j].spec.adversities, 1, simulation_of(alone));
    // Where steps differ the same steps with the same draws, so that neither chance nor what is slow for a
    // time looks like slowdown.
    const bool steps_differ = spec.adversities.random() || spec.adversities.changing();
    for (std::size_t k = 0; steps_differ && k < draws.size(); ++k)
      draws[k].steps = together.ensembles[j].draws[k].steps;
    report.jobs.push_back({spec.jobs[j].name, spec.jobs[j].first_chip,
                           predict_alone(jobs[j], fabric, spec.jobs[j].first_chip, draws, alone).report,
                           std::move(together.of_job[j])});
    report.jobs.back().together.memory.advice = report.jobs.back().alone.memory.advice;
  }
  prediction.dump = std::move(together.dump);
  return prediction;
}

// At once, and not after minutes of planning. A trace has every data rank by itself.
void refuse_what_tells_many_apart(const Fabric& fabric, const PredictOptions& options) {
  if (fabric.chips <= kMaxChips) return;
  const bool alike = fabric.tree() != nullptr && fabric.tree()->trunks_are_wide();
  if (!alike || !options.fold || options.trace) throw TooManyChips(fabric.chips);
}

// How often a spec whose draws are not told one by one is simulated: with and without its adversities, and
// for what each costs; of several jobs together, and each alone.
std::size_t simulations_of(const Spec& spec) {
  const auto of_one = [&](const Adversities& adversities) {
    return adversities.none() ? 1 : 2 + fault_runs(adversities, spec.cluster.fabric);
  };
  if (spec.jobs.empty()) return of_one(spec.adversities);
  std::size_t all = spec.adversities.none() ? 1 : 2;
  for (const PlacedJob& job : spec.jobs) all += of_one(spec_of_job(spec, job).adversities);
  return all;
}

// Tells the share of all simulations when each tells its own.
std::function<void(double)> of_all(std::function<void(double)> told, std::size_t simulations) {
  return [told = std::move(told), simulations, done = std::size_t{0}](double share) mutable {
    told(std::min(1.0, (static_cast<double>(done) + share) / static_cast<double>(simulations)));
    if (share >= 1) ++done;
  };
}

}  // namespace

Prediction predict_step(const Spec& spec, const PredictOptions& options) {
  KnownLayouts none;
  return predict_step(spec, options, none);
}

Prediction predict_step(const Spec& spec, const PredictOptions& asked, KnownLayouts& known) {
  PredictOptions options = asked;
  if (draws_told(spec) > 0) options.share_done = {};
  if (options.share_done) {
    const auto shares =
        std::make_shared<std::function<void(double)>>(of_all(asked.share_done, simulations_of(spec)));
    options.share_done = [shares](double share) { (*shares)(share); };
  }
  const CheckScope scope({.scenario = &spec.name, .seed = &spec.seed, .now_ps = nullptr});
  const StageTimer timer("predict " + spec.name);
  const std::shared_ptr<const Fabric> fabric = known.fabric(spec.cluster.fabric);
  refuse_what_tells_many_apart(*fabric, options);
  if (!spec.jobs.empty()) return predict_together(spec, *fabric, options);
  const std::vector<SimulateOptions> draws = draws_of(spec, spec.adversities, 1, simulation_of(options));
  if (spec.job.shapes) {
    Prediction prediction = predict_alone(known.lay(spec), *fabric, 0, draws, options);
    prediction.report.shapes = shapes_of(
        spec, prediction.report, [&](const Spec& shape) { return mean_step_of(shape, *fabric, options); });
    return prediction;
  }
  if (!options.chosen_on) return predict_alone(known.lay(spec), *fabric, 0, draws, options);
  const Fabric there = build_fabric(options.chosen_on->fabric);
  return predict_alone(prepare_job_as_on(*options.chosen_on, there, spec, *fabric), *fabric, 0, draws,
                       options, &there);
}

std::int64_t draws_told(const Spec& spec) {
  if (spec.seeds < 2) return 0;
  const auto as_it_is_and_clean = [](const Spec& of) {
    std::size_t simulations = differ_by_seed(of, {}) ? 1 : 0;
    if (!of.adversities.none() && differ_by_seed(of, of.adversities)) ++simulations;
    return simulations;
  };
  std::size_t simulations = as_it_is_and_clean(spec);
  if (spec.jobs.empty()) simulations += drawn_fault_runs(spec);
  for (const PlacedJob& job : spec.jobs) {
    const Spec alone = spec_of_job(spec, job);
    simulations += as_it_is_and_clean(alone) + drawn_fault_runs(alone);
  }
  return static_cast<std::int64_t>(simulations) * spec.seeds;
}

}  // namespace podsim
