// Many simulated runs on several threads, each in its own place of the result.
#include "planner/weeks.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "planner/interval_search.h"
#include "planner/predict.h"
#include "report/summarize_runs.h"
#include "scheduler/weeks/closed_forms.h"

namespace podsim {
namespace {

constexpr int kSearchSeeds = 200;
constexpr double kLongestFactor =
    20;  // a run to a target ends at so many times what it takes without failures

std::vector<RunResult> simulate_runs(const TrainingRun& run, std::uint64_t seed, int seeds, int threads) {
  std::vector<RunResult> results(static_cast<std::size_t>(seeds));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < results.size(); k = next++) results[k] = simulate_run(run, seed + k);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(threads, seeds); ++t) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return results;
}

// What the run repeats.
struct Step {
  double time_s = 0, tokens = 0, mfu = 0;
  double training_w_per_chip = 0;
};

Step step_of(const ReliabilityQuestion& question, const WeeksOptions& options, TrainingRun& run) {
  const Chip& chip = question.cluster.chip;
  const double pue = question.cluster.price.pue;
  if (!question.step)
    return {question.step_time_s, question.tokens_per_step, question.mfu,
            (chip.power_busy_w + chip.power_overhead_w) * pue};
  PredictOptions how;
  how.fold = options.fold;
  how.steady = options.steady;
  const Report report = predict_step(*question.step, how).report;
  const double step_s = report.step_time.in_seconds();
  run.straggler_share = std::max(0.0, report.straggler_delay.in_seconds()) / step_s;
  run.input_share = std::min(report.input_stall.in_seconds() / step_s, 1 - run.straggler_share);
  return {step_s, report.tokens_per_step, report.mfu_causal, report.power_kw * 1e3 / report.chips};
}

void set_target(double tokens, const Step& step, TrainingRun& run) {
  const double work_ms = std::ceil(tokens / step.tokens) * step.time_s * 1e3;
  run.work_chip_ms = std::llround(work_ms * static_cast<double>(run.job_chips()));
  run.length = Tick::seconds(work_ms / 1e3 * kLongestFactor);
}

IntervalReport choose_interval(const ReliabilityQuestion& question, TrainingRun run, int threads) {
  IntervalReport report;
  const double per_s = interruptions_per_s(run), save_s = mean_save_s(run.checkpoints);
  const int saves = run.checkpoints.replicas ? run.checkpoints.replicas->saves_per_storage_save : 1;
  const Tick least = {std::max<std::int64_t>(1, (run.checkpoints.persist.ms + saves - 1) / saves)};
  const double mttf = per_s > 0 ? 1 / per_s : run.length.in_seconds();
  double interval_s = 0;
  switch (question.interval) {
    case IntervalChoice::kGiven:
      return {"given", run.checkpoints.interval.in_seconds(), {}, 0, 0};
    case IntervalChoice::kYoung:
      report.choice = "young";
      interval_s = young_interval_s(save_s, mttf);
      break;
    case IntervalChoice::kDaly:
      report.choice = "daly";
      interval_s = daly_interval_s(save_s, mttf);
      break;
    case IntervalChoice::kExact:
    case IntervalChoice::kSimulated:
      report.choice = "exact";
      interval_s = best_interval_s(save_s, mttf);
      break;
  }
  const Tick by_formula = std::max(least, Tick::seconds(interval_s));
  report.interval_s = by_formula.in_seconds();
  if (question.interval != IntervalChoice::kSimulated) return report;
  return search_interval(by_formula, least, [&](Tick interval) {
    run.checkpoints.interval = interval;
    double sum = 0;
    for (const RunResult& result :
         simulate_runs(run, question.seed, std::min(question.seeds, kSearchSeeds), threads))
      sum += static_cast<double>(result.work_chip_ms) / static_cast<double>(result.end.ms);
    return sum / std::min(question.seeds, kSearchSeeds) / static_cast<double>(run.job_chips());
  });
}

void describe(const ReliabilityQuestion& question, const TrainingRun& run, ReliabilityReport& report) {
  report.scenario = question.name;
  report.question = question.question;
  report.chip = question.cluster.chip.name;
  report.fabric = question.cluster.fabric.name;
  report.failures = question.failures;
  report.price = question.cluster.price.name + " " + question.cluster.price.term;
  report.job_chips = static_cast<int>(run.job_chips());
  report.spare_chips = static_cast<int>(run.chips() - run.job_chips());
  report.job_nodes = run.job_nodes();
  report.spare_nodes = run.nodes() - run.job_nodes();
  report.seed = question.seed;
  report.seeds = question.seeds;
  report.target_tokens = question.target_tokens;
  report.longest_days = run.length.in_seconds() / 86400;
}

}  // namespace

ReliabilityReport predict_weeks(const ReliabilityQuestion& question, const WeeksOptions& options) {
  TrainingRun run = question.run;
  const Step step = step_of(question, options, run);
  if (question.target_tokens) set_target(*question.target_tokens, step, run);
  ReliabilityReport report;
  report.interval = choose_interval(question, run, options.threads);
  run.checkpoints.interval = Tick::seconds(report.interval.interval_s);
  report.step_time_s = step.time_s;
  report.mfu = step.mfu;
  describe(question, run, report);
  report.closed_forms = closed_forms_of(run);
  const std::vector<RunResult> results = simulate_runs(run, question.seed, question.seeds, options.threads);
  if (question.target_tokens)
    report.unfinished = static_cast<int>(
        std::count_if(results.begin(), results.end(), [](const RunResult& r) { return !r.finished; }));
  const Chip& chip = question.cluster.chip;
  const Price& price = question.cluster.price;
  summarize_runs(run, results,
                 {price.usd_per_chip_hour, price.usd_per_kwh, step.training_w_per_chip,
                  (chip.power_idle_w + chip.power_overhead_w) * price.pue},
                 report);
  return report;
}

}  // namespace podsim
