// Draws what a trial has, and gives it to a random system.
#include "tests/scheduler/simulation/random_trial.h"

#include <algorithm>
#include <vector>

namespace podsim::testing {
namespace {

class Trial {
 public:
  Trial(int round, const std::array<bool, kFeatures>& may_have)
      : draw_(static_cast<std::uint64_t>(700000 + round)), round_(round), random_(random_system(round)) {
    for (std::size_t f = 0; f < may_have.size(); ++f) has_[f] = draw_.below(2) && may_have[f];
    if (!may_have[static_cast<std::size_t>(Feature::kSeveralJobs)])
      random_.jobs.erase(random_.jobs.begin() + 1, random_.jobs.end());
  }

  RandomTrial make() {
    set(Feature::kSeveralJobs, random_.jobs.size() > 1);
    for (LaidJob& job : random_.jobs) set_stack(job);
    std::vector<Degradation>& slow = random_.adversities.degradations;
    if (!has(Feature::kSpeedsOverTime))
      std::erase_if(slow, [](const Degradation& of) { return of.by_selector(); });
    set(Feature::kSpeedsOverTime, random_.adversities.changing());
    if (!has(Feature::kSlowParts))
      std::erase_if(slow, [](const Degradation& of) { return !of.by_selector(); });
    set(Feature::kSlowParts, !std::ranges::all_of(slow, &Degradation::by_selector));
    draw_chance();
    const Fabric fabric = with_slow_links(random_.fabric, slow_links(slow));
    RandomTrial trial{
        assemble(fabric, random_.jobs, random_.adversities, !has(Feature::kUnfolded)), {}, has_};
    trial.options.seed = static_cast<std::uint64_t>(round_);
    trial.options.steps = has(Feature::kSeveralSteps) ? 2 + draw_.below(3) : 1;
    trial.options.draw(random_.adversities);
    return trial;
  }

 private:
  bool& has(Feature feature) { return has_[static_cast<std::size_t>(feature)]; }
  void set(Feature feature, bool there) { has(feature) = there; }
  Entity entity() { return static_cast<Entity>(draw_.below(3)); }
  Time up_to_ms(double ms) { return Time::seconds(1e-3 * ms * draw_.real()); }

  // What the stack of random_job() draws stays where the trial has it.
  void set_stack(LaidJob& job) {
    Stack& stack = job.spec.job.stack;
    stack.interference = has(Feature::kInterference) ? 0.1 + 0.5 * draw_.real() : 0;
    stack.skew_per_doubling = has(Feature::kSkew) ? 0.02 * (1 + draw_.below(3)) : 0;
    if (has(Feature::kHostLaunches)) stack.host_launch = up_to_ms(2);
    if (has(Feature::kHostLaunches)) stack.launch_queue = draw_.below(4);
    stack.prefetch_forward = has(Feature::kPrefetch) ? 1 + draw_.below(3) : 0;
    stack.prefetch_backward = has(Feature::kPrefetch) ? draw_.below(3) : 0;
    Part& layer = layer_of(job.program);
    for (Block* block : {&layer.forward, &layer.backward}) {
      std::erase_if(*block, [](const ProgramOp& each) { return std::holds_alternative<HostCopy>(each); });
      if (!has(Feature::kHostCopies)) continue;
      for (int i = 0; i < 2; ++i)
        block->insert(block->begin() + draw_.below(static_cast<int>(block->size())),
                      HostCopy{"tensor", {1e5 * (1 + draw_.below(50))}, draw_.below(2) == 0});
    }
    if (has(Feature::kLengths)) set_lengths(job);
  }

  void set_lengths(LaidJob& job) {
    Job& of = job.spec.job;
    of.mesh = job.program.mesh;
    of.rules = {{"batch", {"data"}}};
    of.microbatch = 1 + draw_.below(2);
    of.sequence = 4096;
    of.lengths.bins = {{500, 1}, {2000, 0.5 + draw_.real()}, {6000, 0.3}};
    of.lengths.balance = static_cast<LengthBalance>(draw_.below(3));
    random_.adversities.variation.uneven_lengths = draw_.below(3) > 0;
  }

  void draw_chance() {
    Adversities& adversities = random_.adversities;
    StepVariation& variation = adversities.variation;
    if (has(Feature::kOperationJitter))
      adversities.jitter.coefficient_of_variation = 0.02 + 0.2 * draw_.real();
    if (has(Feature::kStepFactors)) {
      variation.of_step[static_cast<std::size_t>(entity())] = 0.05;
      if (draw_.below(2)) variation.of_run = 0.03;
    }
    if (has(Feature::kHiccups)) variation.hiccups = {{entity(), 0.5, 0.4 * draw_.real()}};
    if (has(Feature::kCollection))
      variation.collection = {entity(), 1 + 2 * draw_.real(), up_to_ms(3), 0.3 * draw_.below(2)};
    if (has(Feature::kInputStalls)) variation.input = {0.5, up_to_ms(10)};
    if (!has(Feature::kLateLaunches)) return;
    for (int i = 1 + draw_.below(2); i > 0; --i) {
      const LateLaunch late{draw_.below(static_cast<int>(random_.fabric.chips)), up_to_ms(2), up_to_ms(1),
                            up_to_ms(1)};
      if (variation.late.empty() || variation.late[0].chip != late.chip) variation.late.push_back(late);
    }
  }

  Draw draw_;
  const int round_;
  RandomSystem random_;
  std::array<bool, kFeatures> has_{};
};

}  // namespace

RandomTrial random_trial(int round) {
  std::array<bool, kFeatures> all;
  all.fill(true);
  return random_trial(round, all);
}

RandomTrial random_trial(int round, const std::array<bool, kFeatures>& may_have) {
  return Trial(round, may_have).make();
}

}  // namespace podsim::testing
