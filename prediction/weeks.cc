// Many simulated runs on several threads, each in its own place of the result.
#include "prediction/weeks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/parallel_for.h"
#include "engine/random.h"
#include "engine/stage_timer.h"
#include "engine/unit_factors.h"
#include "prediction/interval_search.h"
#include "prediction/predict.h"
#include "prediction/step_error.h"
#include "report/summary/summarize_runs.h"
#include "report/summary/weeks_course.h"
#include "scheduler/question/plan_limits.h"
#include "scheduler/reliability/weeks/closed_forms.h"

namespace podsim {
namespace {

constexpr int kSearchSeeds = 200;
constexpr std::size_t kMostCourses = 200;  // runs whose course is kept
constexpr int kSlices = 160;               // of a course
// A run to a target ends at so many times what it takes without failures.
constexpr double kLongestFactor = 20;
constexpr double kLongestS = kPlanDays.most * kSecondsPerDay;  // of any run
constexpr double kMostCheckpoints = 1'000'000;                 // of a run where the interval is not given

std::vector<RunResult> simulate_runs(const TrainingRun& run, std::uint64_t seed, int seeds, int threads,
                                     const StepError& error = {}, const std::function<void()>& run_done = {},
                                     std::span<RunCourse> courses = {}) {
  const StageTimer timer("simulate " + std::to_string(seeds) + " training runs");
  std::vector<RunResult> results(static_cast<std::size_t>(seeds));
  parallel_for(results.size(), threads, [&](std::size_t k) {
    TrainingRun drawn = run;
    if (run.work_chip_ms)
      drawn.work_chip_ms = std::llround(error(seed + k, 0) * static_cast<double>(*run.work_chip_ms));
    results[k] = simulate_run(drawn, seed + k, k < courses.size() ? &courses[k] : nullptr);
    if (run_done) run_done();
  });
  return results;
}

// What the run repeats.
struct PredictedStep {
  double time_s = 0, tokens = 0, mfu = 0;
  double training_w_per_chip = 0;
  std::optional<StepTimeBand> band;
  bool fits = true;  // in memory
};

// The mean step and its tokens of documents, where `longest` is of the longest shape. Errors are as large,
// and the rest is as there.
PredictedStep of_all_shapes(const PredictedStep& longest, const ShapesReport& shapes) {
  PredictedStep step = longest;
  step.time_s = shapes.whole().in_seconds();
  step.tokens = shapes.tokens_per_s * step.time_s;
  const double ratio = step.time_s / longest.time_s;
  if (step.band)
    for (Time* end : {&step.band->low, &step.band->high}) *end = Time::seconds(ratio * end->in_seconds());
  return step;
}

// Of the time of a step, what its adversities cost; where there are several shapes, of the mean over all.
double straggler_share(const Spec& spec, const Report& report, const PredictOptions& how) {
  double delay_s = report.straggler_delay.in_seconds(), step_s = report.step_time.in_seconds();
  if (report.shapes && !spec.adversities.none()) {
    Spec healthy = spec;
    healthy.adversities = {};
    step_s = report.shapes->whole().in_seconds();
    delay_s = step_s - predict_step(healthy, how).report.shapes->whole().in_seconds();
  }
  return std::max(0.0, delay_s) / step_s;
}

PredictedStep step_of(const ReliabilityQuestion& question, const WeeksOptions& options, TrainingRun& run) {
  const Chip& chip = question.cluster.chip;
  const double pue = question.cluster.price.pue;
  if (!question.step)
    return {question.step_time_s,
            question.tokens_per_step,
            question.mfu,
            with_host_w(chip, chip.power_busy_w, question.cluster.fabric.chips_per_host) * pue,
            std::nullopt,
            true};
  PredictOptions how;
  how.fold = options.fold;
  how.steady = options.steady;
  const Report report = predict_step(*question.step, how).report;
  const double step_s = report.step_time.in_seconds();
  run.straggler_share = straggler_share(*question.step, report, how);
  run.input_share = std::min(report.input_stall.in_seconds() / step_s, 1 - run.straggler_share);
  const PredictedStep step = {
      step_s,      report.tokens_per_step, report.mfu_causal, report.power_kw * 1e3 / report.chips,
      report.band, report.memory.fits};
  return report.shapes ? of_all_shapes(step, *report.shapes) : step;
}

void set_target(double tokens, const PredictedStep& step, TrainingRun& run) {
  const double work_s = std::min(std::ceil(tokens / step.tokens) * step.time_s, 2 * kLongestS);
  run.work_chip_ms = std::llround(work_s * 1e3 * static_cast<double>(run.job_chips()));
  run.length = Milliseconds::seconds(std::min(work_s * kLongestFactor, kLongestS));
}

// A checkpoint must be written before the next is begun, and a run is not only checkpoints.
double least_interval_s(const TrainingRun& run) {
  const auto& replicas = run.checkpoints.replicas;
  const double persist_s =
      run.checkpoints.persist.in_seconds() / (replicas ? replicas->saves_per_storage_save : 1);
  const double trained_s = run.length.in_seconds() / (run.work_chip_ms ? kLongestFactor : 1);
  return std::max({0.001, persist_s, trained_s / kMostCheckpoints});
}

double interval_by_formula_s(IntervalChoice choice, double save_s, double mttf_s) {
  switch (choice) {
    case IntervalChoice::kYoung:
      return young_interval_s(save_s, mttf_s);
    case IntervalChoice::kDaly:
      return daly_interval_s(save_s, mttf_s);
    default:
      return best_interval_s(save_s, mttf_s);
  }
}

// Mean over the first seeds.
double simulated_ettr(const ReliabilityQuestion& question, const TrainingRun& run, int threads) {
  const int seeds = std::min(question.seeds, kSearchSeeds);
  double sum = 0;
  for (const RunResult& result : simulate_runs(run, question.seed, seeds, threads))
    sum += static_cast<double>(result.work_chip_ms) / static_cast<double>(result.end.ms);
  return sum / seeds / static_cast<double>(run.job_chips());
}

IntervalReport choose_interval(const ReliabilityQuestion& question, TrainingRun run, int threads) {
  constexpr const char* kNames[] = {"given", "young", "daly", "exact", "simulated"};
  IntervalReport report;
  report.choice = kNames[static_cast<int>(question.interval)];
  report.interval_s = run.checkpoints.interval.in_seconds();
  if (question.interval == IntervalChoice::kGiven) return report;
  const double per_s = rollbacks_per_s(run), least_s = least_interval_s(run);
  const double mttf = per_s > 0 ? 1 / per_s : run.length.in_seconds();
  report.interval_s =
      std::max(least_s, interval_by_formula_s(question.interval, mean_save_s(run.checkpoints), mttf));
  if (question.interval != IntervalChoice::kSimulated) return report;
  return search_interval(Milliseconds::seconds(report.interval_s), Milliseconds::seconds(least_s),
                         [&](Milliseconds interval) {
                           run.checkpoints.interval = interval;
                           return simulated_ettr(question, run, threads);
                         });
}

// Of runs to a target without failures.
Milliseconds expected_length(const TrainingRun& run) {
  return run.work_chip_ms ? Milliseconds{*run.work_chip_ms / run.job_chips()} : run.length;
}

void describe_weeks(const ReliabilityQuestion& question, const TrainingRun& run, ReliabilityReport& report) {
  report.scenario_sha256 = question.sha256;
  report.scenario = question.name;
  report.question = question.question;
  report.chip = question.cluster.chip.name;
  report.fabric = question.cluster.fabric.name;
  report.failures = question.failures;
  const Price& price = question.cluster.price;
  report.price = price.name == price.term ? price.term : price.name + " " + price.term;
  report.usd_per_chip_hour = price.usd_per_chip_hour;
  report.low_usd_per_chip_hour = price.low_usd_per_chip_hour;
  report.high_usd_per_chip_hour = price.high_usd_per_chip_hour;
  report.minimum_days = price.minimum_days;
  report.job_chips = static_cast<int>(run.job_chips());
  report.spare_chips = static_cast<int>(run.chips() - run.job_chips());
  report.job_nodes = run.job_nodes();
  report.spare_nodes = run.nodes() - run.job_nodes();
  report.seed = question.seed;
  report.seeds = question.seeds;
  report.target_tokens = question.target_tokens;
  report.longest_days = run.length.in_seconds() / kSecondsPerDay;
}

}  // namespace

ReliabilityReport predict_weeks(const ReliabilityQuestion& question, const WeeksOptions& options) {
  TrainingRun run = question.run;
  const PredictedStep step = step_of(question, options, run);
  if (question.target_tokens) set_target(*question.target_tokens, step, run);
  ReliabilityReport report;
  report.interval = choose_interval(question, run, options.threads);
  run.checkpoints.interval = Milliseconds::seconds(report.interval.interval_s);
  report.step_time_s = step.time_s;
  report.mfu = step.mfu;
  report.fits_in_memory = step.fits;
  describe_weeks(question, run, report);
  report.closed_forms = closed_forms_of(run, report.interval.interval_s);
  StepError error;
  if (question.target_tokens && question.step_error && step.band) {
    report.step_band = step.band;
    error = StepError(*step.band, step.time_s);
  }
  std::vector<RunCourse> courses(
      options.course ? std::min(kMostCourses, static_cast<std::size_t>(question.seeds)) : 0);
  for (RunCourse& course : courses) course.every.ms = expected_length(run).ms / kSlices;
  const std::vector<RunResult> results =
      simulate_runs(run, question.seed, question.seeds, options.threads, error, options.run_done, courses);
  if (!courses.empty()) report.course = weeks_course(run, courses);
  if (question.target_tokens)
    report.unfinished = static_cast<int>(
        std::count_if(results.begin(), results.end(), [](const RunResult& r) { return !r.finished; }));
  const Chip& chip = question.cluster.chip;
  summarize_runs(run, results,
                 {question.cluster.price, step.training_w_per_chip,
                  with_host_w(chip, chip.power_idle_w, question.cluster.fabric.chips_per_host) *
                      question.cluster.price.pue,
                  question.cluster.carbon, question.egress},
                 report);
  report.figures.power_range = chip.power_range;
  return report;
}

}  // namespace podsim
