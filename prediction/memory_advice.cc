// What would make a job fit: memory first, which is cheap to know, then a simulated step of what is left.
#include "prediction/memory_advice.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/binary_units.h"
#include "engine/stage_timer.h"
#include "prediction/evaluate.h"
#include "prediction/memory_changes.h"
#include "prediction/step_length.h"
#include "report/summary/summarize.h"
#include "scheduler/placement/fabric_cost.h"
#include "scheduler/simulation/simulate.h"
#include "workload/partition/program.h"

namespace podsim {
namespace {

constexpr std::size_t kMostSimulated = 8;  // single changes
constexpr std::size_t kMostPairsSimulated = 12;
constexpr std::size_t kMostPairsTold = 3;

Bytes worst_stage(const StepProgram& program) {
  Bytes worst;
  for (const MemoryUse& stage : program.memory) worst = std::max(worst, stage.total());
  return worst;
}

// Changes of which a part alone takes no longer and needs no more, to a thousandth: the rest of them is for
// nothing.
void drop_idle_parts(std::vector<MemoryChange>& changes) {
  constexpr double kAlike = 1.001;
  const std::vector<MemoryChange> all = changes;
  std::erase_if(changes, [&](const MemoryChange& change) {
    return std::ranges::any_of(all, [&](const MemoryChange& part) {
      return part.change != change.change && change.change.find(part.change) != std::string::npos &&
             part.step_time.in_seconds() <= kAlike * change.step_time.in_seconds() &&
             part.total <= kAlike * change.total;
    });
  });
}

class Adviser {
 public:
  Adviser(const Spec& spec, const Fabric& fabric, ChipId first_chip)
      : spec_(spec),
        fabric_(fabric),
        placement_(place(fabric, spec.job.mesh, spec.placement, first_chip)),
        cost_(fabric, spec.job.mesh, placement_,
              spec.cluster.chip.matmul.at(spec.job.precision.dtype).reached()),
        capacity_(spec.cluster.chip.hbm_capacity),
        host_link_(spec.cluster.chip.host_link.value > 0) {}

  std::vector<MemoryChange> run() const {
    std::vector<JobChange> enough;
    for (const auto& degrees : memory_changes(spec_.job, host_link_)) {
      if (enough.size() == kMostSimulated) break;
      if (const auto change = mildest(degrees)) enough.push_back(*change);
    }
    std::vector<MemoryChange> advice = by_time(enough), together = by_time(pairs());
    // Two changes are worth telling where they cost less time than the best single one.
    if (!advice.empty())
      std::erase_if(together, [&](const auto& pair) { return pair.step_time >= advice.front().step_time; });
    together.resize(std::min(together.size(), kMostPairsTold));
    advice.insert(advice.begin(), together.begin(), together.end());
    if (advice.empty()) return by_time({pile()});
    drop_idle_parts(advice);
    return advice;
  }

 private:
  // No change has another mesh, so that plans of one job's operations are known to the next.
  StepProgram program_of(const Job& job) const { return partition(job, cost_); }
  Bytes needed(const Job& job) const { return worst_stage(program_of(job)); }
  bool fits(const Job& job) const { return needed(job) <= capacity_; }

  // By bisection: every degree needs less memory than the one before.
  std::optional<JobChange> mildest(const std::vector<JobChange>& degrees) const {
    const auto found = std::partition_point(degrees.begin(), degrees.end(),
                                            [&](const JobChange& change) { return !fits(change.job); });
    if (found == degrees.end()) return std::nullopt;
    return *found;
  }

  // Two changes of which the first alone is not enough: its mildest degree, and the mildest of the second on
  // top. Those that keep most of what was computed come first: pipeline and sharding before recompute.
  std::vector<JobChange> pairs() const {
    std::vector<JobChange> found;
    std::set<std::string> known;  // in one order or the other they are the same
    auto firsts = memory_changes(spec_.job, host_link_);
    std::reverse(firsts.begin(), firsts.end());
    for (const auto& degrees : firsts) {
      const JobChange& first = degrees.front();
      if (fits(first.job)) continue;
      auto seconds = memory_changes(first.job, host_link_);
      std::reverse(seconds.begin(), seconds.end());
      for (const auto& more : seconds) {
        if (found.size() == kMostPairsSimulated) return found;
        const auto second = mildest(more);
        if (!second) continue;
        const auto [one, other] = std::minmax(first.words, second->words);
        if (known.insert(one + ", " + other).second)
          found.push_back({first.words + ", " + second->words, second->job});
      }
    }
    return found;
  }

  // One change on top of the other, always the one that saves most, until the job fits or nothing helps.
  JobChange pile() const {
    JobChange all{"", spec_.job};
    Bytes now = needed(all.job);
    while (now > capacity_) {
      std::optional<JobChange> best;
      for (const auto& degrees : memory_changes(all.job, host_link_)) {
        const JobChange change = mildest(degrees).value_or(degrees.back());
        const Bytes bytes = needed(change.job);
        if (bytes >= now) continue;
        now = bytes;
        best = change;
      }
      if (!best) break;
      all.words += (all.words.empty() ? "" : ", ") + best->words;
      all.job = std::move(best->job);
    }
    if (all.words.empty()) all.words = "no change of recompute, offload, microbatch, sharding or pipeline";
    return all;
  }

  std::vector<MemoryChange> by_time(const std::vector<JobChange>& changes) const {
    std::vector<MemoryChange> results;
    for (const JobChange& change : changes) {
      try {
        results.push_back(simulated(change));
      } catch (const StepTooLong&) {  // no advice
      }
    }
    std::ranges::stable_sort(results, {}, &MemoryChange::step_time);
    return results;
  }

  // Throws StepTooLong.
  MemoryChange simulated(const JobChange& change) const {
    Spec changed = spec_;
    changed.job = change.job;
    StepProgram program = timed("partition", [&] { return program_of(changed.job); });
    const LaidJob laid{std::move(changed), std::move(program), placement_};
    const System system = assemble(fabric_, {&laid, 1}, {}, true);
    SimulateOptions options;
    options.seed = spec_.seed;
    refuse_endless(system, {&options, 1});
    const Time step = mean_step_time(simulate(system, options).front()) +
                      EvaluationPasses(laid, fabric_, {}, true).per_step(options);
    const Bytes bytes = worst_stage(laid.program);
    return {change.words, bytes.value / kBytesPerGib, step, bytes <= capacity_};
  }

  const Spec& spec_;
  const Fabric& fabric_;
  const Placement placement_;
  const FabricCost cost_;
  const Bytes capacity_;
  const bool host_link_;
};

}  // namespace

std::vector<MemoryChange> memory_advice(const Spec& spec, const Fabric& fabric, ChipId first_chip) {
  return Adviser(spec, fabric, first_chip).run();
}

}  // namespace podsim
