// Simulates draws on several threads and adds them up in order.
#include "prediction/seed_runs.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "engine/parallel_for.h"
#include "engine/stage_timer.h"
#include "prediction/attribution.h"
#include "prediction/evaluate.h"
#include "prediction/step_length.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/question/spec.h"
#include "scheduler/simulation/state/step_draws.h"
#include "workload/job/job.h"

namespace podsim {
namespace {

// Jobs that share a fabric are simulated for this many steps at least, so that jobs of different step times
// meet in many phases.
constexpr int kFewestSharedSteps = 16;

// [job]
struct SimulatedDraw {
  std::vector<Timeline> timelines;
  std::vector<Time> evaluations;
  std::vector<std::vector<double>> attention;  // Draw::attention
};

class DrawWork {
 public:
  DrawWork(const System& system, std::span<const EvaluationPasses> evaluations,
           std::span<const SimulateOptions> draws, const DrawOptions& how)
      : system_(system),
        evaluations_(evaluations),
        draws_(draws),
        how_(how),
        ensembles_(system.meshes.size()) {}

  std::vector<Ensemble> run() {
    parallel_for(draws_.size(), how_.threads, [this](std::size_t k) {
      try {
        if (!failed_before(k)) add(k, simulate_one(draws_[k]));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        first_failed_ = std::min(first_failed_, k);
        turn_.notify_all();
        throw;
      }
    });
    return std::move(ensembles_);
  }

 private:
  // Those before a failed one go on, so that it is always the same failure that is told.
  bool failed_before(std::size_t k) {
    const std::lock_guard lock(mutex_);
    return first_failed_ < k;
  }

  SimulatedDraw simulate_one(SimulateOptions draw) const {
    if (system_.chips.size() > kMostTracedClasses) draw.keep_passes = 0;
    SimulatedDraw result{simulate(system_, draw), {}, {}};
    const StepDraws drawn(system_, draw);
    for (std::size_t j = 0; j < result.timelines.size(); ++j) {
      draw.steps = static_cast<int>(result.timelines[j].step_end.size());
      result.attention.push_back(drawn.mean_attention(static_cast<int>(j), draw.steps));
      result.evaluations.push_back(evaluations_[j].per_step(draw));
    }
    return result;
  }

  // Waits for the turn of draw k. Draws begin in their order, so the one whose turn it is always gets there,
  // unless one before it has failed.
  void add(std::size_t k, SimulatedDraw draw) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return first_failed_ < k || added_ == k; });
    if (first_failed_ < k) return;
    for (std::size_t j = 0; j < ensembles_.size(); ++j)
      add_draw(ensembles_[j], std::move(draw.timelines[j]), draw.evaluations[j],
               std::move(draw.attention[j]));
    ++added_;
    turn_.notify_all();
    if (draws_.size() > 1 && how_.one_done) how_.one_done();
  }

  const System& system_;
  const std::span<const EvaluationPasses> evaluations_;
  const std::span<const SimulateOptions> draws_;
  const DrawOptions& how_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t added_ = 0;
  std::size_t first_failed_ = SIZE_MAX;  // of draws
  std::vector<Ensemble> ensembles_;      // [job]
};

// Then the documents of every step differ, even where all microbatches have the same load.
bool has_lengths(const Spec& spec) {
  return spec.job.lengths.any() || std::any_of(spec.jobs.begin(), spec.jobs.end(),
                                               [](const PlacedJob& each) { return each.job.lengths.any(); });
}

}  // namespace

bool differ_by_seed(const Spec& spec, const Adversities& adversities) {
  return adversities.random() || has_lengths(spec);
}

std::vector<SimulateOptions> draws_of(const Spec& spec, const Adversities& adversities, std::size_t jobs,
                                      const SimulateOptions& how) {
  SimulateOptions first = how;
  first.seed = spec.seed;
  first.draw(adversities);
  // Alone, without chance and at constant speeds all steps are the same step.
  const bool drawn = differ_by_seed(spec, adversities);
  if (drawn || adversities.changing()) first.steps = spec.steps;
  // Without jumps what chips did can be kept along the way; else it is simulated again (attribution.h).
  if (jobs == 1 && !adversities.none() && !first.may_jump()) first.keep_passes = kMostTracedSteps;
  if (jobs > 1) first.steps = std::max(spec.steps, kFewestSharedSteps);
  std::vector<SimulateOptions> draws(drawn ? spec.seeds : 1, first);
  for (std::size_t k = 1; k < draws.size(); ++k) {
    draws[k].seed += k;
    draws[k].keep_intervals = false;
    draws[k].keep_passes = 0;
  }
  return draws;
}

SimulatedJobs simulate_draws(const Fabric& healthy, std::span<const LaidJob> jobs,
                             const Adversities& adversities, std::span<const SimulateOptions> draws,
                             const DrawOptions& how) {
  SimulatedJobs result;
  const std::vector<SlowLink> slow = slow_links(adversities.degradations);
  if (!adversities.failures.empty() || !slow.empty())
    result.changed = with_slow_links(with_failures(healthy, adversities.failures), slow);
  const Fabric& fabric = result.on(healthy);
  result.system = assemble(fabric, jobs, adversities, how.fold, how.plans);
  refuse_endless(result.system, draws);
  std::vector<EvaluationPasses> evaluations;
  for (const LaidJob& job : jobs) evaluations.emplace_back(job, fabric, adversities, how.fold);
  const StageTimer timer(draws.size() == 1 ? "simulate"
                                           : "simulate " + std::to_string(draws.size()) + " draws");
  result.of_job = DrawWork(result.system, evaluations, draws, how).run();
  return result;
}

}  // namespace podsim
