// Memory for a terminal: the stage that needs most part by part, the stages side by side, and what would make
// a job fit.
#include "report/tables/memory_text.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kStagesShown = 8;

std::string worst_stage(const MemoryReport& use) {
  Rows rows = {{"memory per chip, stage " + std::to_string(use.worst_stage), "GiB"}};
  const std::pair<const char*, double> parts[] = {{"weights", use.weights},
                                                  {"gradients", use.gradients},
                                                  {"optimizer state", use.optimizer},
                                                  {"activations", use.activations},
                                                  {"logits", use.logits},
                                                  {"collective buffers", use.buffers},
                                                  {"fragmentation", use.fragmentation},
                                                  {"total", use.total},
                                                  {"capacity", use.capacity}};
  for (const auto& [part, gibibytes] : parts) rows.push_back({part, fixed(gibibytes, 2)});
  return align(rows);
}

// The fullest stages, in the order of the pipeline.
std::vector<std::size_t> shown_stages(const MemoryReport& use) {
  std::vector<std::size_t> stages(use.stages.size());
  std::iota(stages.begin(), stages.end(), std::size_t{0});
  if (stages.size() <= kStagesShown) return stages;
  std::stable_sort(stages.begin(), stages.end(),
                   [&](std::size_t a, std::size_t b) { return use.stages[a].total > use.stages[b].total; });
  stages.resize(kStagesShown);
  std::sort(stages.begin(), stages.end());
  return stages;
}

std::string by_stage(const MemoryReport& use) {
  const std::vector<std::size_t> shown = shown_stages(use);
  const std::string title = shown.size() == use.stages.size()
                                ? "GiB per chip, by stage"
                                : "GiB per chip, fullest of " + std::to_string(use.stages.size()) + " stages";
  Rows rows = {{title, "weights", "gradients", "optimizer", "activations", "logits", "buffers", "total"}};
  for (std::size_t stage : shown) {
    const MemoryParts& parts = use.stages[stage];
    rows.push_back({"stage " + std::to_string(stage), fixed(parts.weights, 2), fixed(parts.gradients, 2),
                    fixed(parts.optimizer, 2), fixed(parts.activations, 2), fixed(parts.logits, 2),
                    fixed(parts.buffers, 2), fixed(parts.total, 2)});
  }
  return align(rows);
}

}  // namespace

std::string memory_table(const MemoryReport& use) {
  const std::string risk = memory_risk(use.total, use.capacity, use.retry_free_share);
  return worst_stage(use) + (risk.empty() ? "" : risk + "\n") +
         (use.stages.size() > 1 ? "\n" + by_stage(use) : "");
}

std::string memory_risk(double needed, double capacity, double retry_free_share) {
  const double free = 1 - needed / capacity;
  if (free < 0 || free >= retry_free_share) return "";
  return "risk: " + fixed(100 * free, 0) + " % of memory free: allocator retries likely";
}

std::string memory_verdict(const Report& report) {
  const MemoryReport& use = report.memory;
  if (use.fits) return "";
  std::string text = report.scenario + " does not fit: a chip of stage " + std::to_string(use.worst_stage) +
                     " needs " + fixed(use.total, 2) + " GiB and has " + fixed(use.capacity, 2) + " GiB.\n";
  if (use.advice.empty()) return text;
  text += use.advice.front().fits ? "What would make it fit, fastest step first:\n"
                                  : "Nothing that was tried makes it fit; it takes more tensor or pipeline "
                                    "parallelism, or more chips. Nearest:\n";
  Rows rows = {{"change", "GiB per chip", "step time, s", "against now"}};
  const Time now = report.step_time - report.straggler_delay;
  for (const MemoryChange& change : use.advice) {
    const double ratio = change.step_time.in_seconds() / now.in_seconds();
    rows.push_back({change.change, fixed(change.total, 2), fixed(change.step_time.in_seconds(), 4),
                    fixed(ratio, 3) + " x"});
  }
  return text + align(rows);
}

}  // namespace podsim
