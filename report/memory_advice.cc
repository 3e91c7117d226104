// Re-partitions the job under each change and keeps those that fit.
#include "report/memory_advice.h"

#include <algorithm>
#include <optional>

#include "report/text.h"
#include "workload/program.h"

namespace podsim {
namespace {

struct Change {
  std::string words;
  Job job;
};

Bytes worst_stage(const Job& job) {
  Bytes worst;
  for (const MemoryUse& stage : partition(job).memory) worst = std::max(worst, stage.total());
  return worst;
}

std::optional<Change> recompute(Job job, Recompute policy, const std::string& words) {
  if (job.recompute >= policy) return std::nullopt;
  job.recompute = policy;
  return Change{words, std::move(job)};
}

// The largest smaller microbatch that divides the batch, or nothing.
std::optional<Change> smaller_microbatch(Job job) {
  const int sequences = job.microbatch;
  while (--job.microbatch > 0) {
    if (sequences % job.microbatch != 0 || !explain_invalid(job).empty()) continue;
    return Change{"microbatch_sequences " + std::to_string(job.microbatch), std::move(job)};
  }
  return std::nullopt;
}

// The axes that carry the batch: devices along them hold the same parameters unless a rule cuts those too.
std::vector<std::string> batch_axes(const Job& job) {
  for (const ShardingRule& rule : job.rules) {
    if (rule.dimension == "batch") return rule.axes;
  }
  return {};
}

// Cuts a parameter dimension over every batch axis that it does not lie on yet.
std::optional<Change> sharded_over_batch(Job job, const std::string& dimension, const std::string& what) {
  const auto found = std::find_if(job.rules.begin(), job.rules.end(),
                                  [&](const ShardingRule& rule) { return rule.dimension == dimension; });
  ShardingRule& rule =
      found == job.rules.end() ? job.rules.emplace_back(ShardingRule{dimension, {}}) : *found;
  std::string added;
  for (const std::string& axis : batch_axes(job)) {
    if (std::find(rule.axes.begin(), rule.axes.end(), axis) != rule.axes.end()) continue;
    rule.axes.push_back(axis);
    added += (added.empty() ? "" : " and ") + axis;
  }
  if (added.empty() || !explain_invalid(job).empty()) return std::nullopt;
  return Change{what + " sharded over " + added + " (rule " + dimension + ")", std::move(job)};
}

// The changes that apply to this job, mildest first.
std::vector<Change> changes(const Job& job) {
  std::vector<Change> found;
  const auto add = [&](std::optional<Change> change) {
    if (change) found.push_back(*std::move(change));
  };
  add(recompute(job, Recompute::kSelective, "recompute selective"));
  add(smaller_microbatch(job));
  add(sharded_over_batch(job, "state_param_embed", "optimizer state"));
  add(recompute(job, Recompute::kFull, "recompute full"));
  add(sharded_over_batch(job, "param_embed", "parameters and their gradients"));
  return found;
}

}  // namespace

std::vector<std::string> memory_advice(const Job& job, Bytes capacity) {
  std::vector<std::string> advice;
  for (const Change& change : changes(job)) {
    const Bytes needed = worst_stage(change.job);
    if (needed <= capacity) advice.push_back(change.words + ": " + gib(needed) + " per chip");
  }
  if (!advice.empty()) return advice;

  // No single change is enough: pile up whichever saves most until it fits or nothing helps.
  Job best = job;
  Bytes needed = worst_stage(job);
  std::string words;
  while (needed > capacity) {
    const Bytes before = needed;
    Change chosen;
    for (Change& change : changes(best)) {
      const Bytes bytes = worst_stage(change.job);
      if (bytes < needed) {
        needed = bytes;
        chosen = std::move(change);
      }
    }
    if (needed == before) break;
    words += (words.empty() ? "" : ", ") + chosen.words;
    best = std::move(chosen.job);
  }
  if (needed <= capacity) return {words + ": " + gib(needed) + " per chip"};
  const std::string even_with =
      words.empty() ? "recompute, microbatch and sharding cannot save more" : "even with " + words;
  return {even_with + ": " + gib(needed) +
          " per chip; more tensor or pipeline parallelism, or more chips, are needed"};
}

}  // namespace podsim
