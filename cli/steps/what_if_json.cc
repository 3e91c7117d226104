// The keys of what-if figures, those of data ranks, stages and steps as objects by number.
#include "cli/steps/what_if_json.h"

#include <utility>
#include <vector>

#include "proto/writing/figure_json.h"
#include "report/figures/what_if_figures.h"

namespace podsim {
namespace {

using Figures = std::vector<Figure>;

// By training step.
Figure by_step(const std::string& key, const WhatIf& result, const std::vector<double>& values) {
  Figures parts;
  for (std::size_t s = 0; s < values.size(); ++s)
    parts.emplace_back(std::to_string(result.steps[s]), values[s]);
  return Figure::group(key, std::move(parts));
}

struct Keyed {
  std::string key;
  const Slowdown* slowdown;
};

Figure means(const std::string& key, const std::vector<Keyed>& slowdowns) {
  Figures parts;
  for (const Keyed& one : slowdowns) parts.emplace_back(one.key, one.slowdown->mean);
  return Figure::group(key, std::move(parts));
}

Figure per_step(const std::string& key, const WhatIf& result, const std::vector<Keyed>& slowdowns) {
  Figures steps;
  for (std::size_t s = 0; s < result.steps.size(); ++s) {
    Figures of_step;
    for (const Keyed& one : slowdowns) of_step.emplace_back(one.key, one.slowdown->per_step[s]);
    steps.push_back(Figure::group(std::to_string(result.steps[s]), std::move(of_step)));
  }
  return Figure::group(key, std::move(steps));
}

std::vector<Keyed> numbered(const std::vector<Slowdown>& slowdowns) {
  std::vector<Keyed> keyed;
  for (std::size_t i = 0; i < slowdowns.size(); ++i) keyed.push_back({std::to_string(i), &slowdowns[i]});
  return keyed;
}

Figure worker_figures(const std::string& key, const Worker& worker) {
  return Figure::group(key, {{"data_rank", worker.data_rank},
                             {"stage", worker.stage},
                             {"rank", worker.global_rank},
                             {"alike", worker.alike}});
}

Figure waits(const WhatIf& result) {
  Figures list;
  for (const WaitedFor& wait : result.waits)
    list.push_back(Figure::group("", {worker_figures("waiter", wait.waiter),
                                      worker_figures("last", wait.last),
                                      {"per_step_s", wait.per_step_s}}));
  return Figure::list("waits", std::move(list));
}

Figure repair_figures(const std::string& key, const Repair& repair) {
  return Figure::group(key, {{"repaired_step_s", repair.repaired_s},
                             {"alone_step_s", repair.alone_s},
                             {"gained", known(repair.gained)},
                             {"caused", known(repair.caused)}});
}

Figure few_workers(const WhatIf& result) {
  Figures workers;
  for (const Worker& worker : result.few) workers.push_back(worker_figures("", worker));
  Figure figure = repair_figures("few_workers", result.few_workers);
  figure.parts.push_back(Figure::list("workers", std::move(workers)));
  return figure;
}

// By data rank, then by stage.
Figure by_worker(const WhatIf& result) {
  Figures ranks;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    const std::string rank = std::to_string(result.workers[w].data_rank);
    if (ranks.empty() || ranks.back().key != rank) ranks.push_back(Figure::group(rank, {}));
    ranks.back().parts.emplace_back(std::to_string(result.workers[w].stage), result.by_worker[w]);
  }
  return Figure::group("S_by_worker", std::move(ranks));
}

Figures decompositions(const WhatIf& result) {
  std::vector<Keyed> types;
  for (const TypeSlowdown& type : result.by_type) types.push_back({type.type, &type.slowdown});
  const auto ranks = numbered(result.by_data_rank), stages = numbered(result.by_stage);
  return {means("S_by_optype", types),
          means("S_by_dp_rank", ranks),
          means("S_by_stage", stages),
          by_worker(result),
          per_step("S_by_optype_per_step", result, types),
          per_step("S_by_dp_rank_per_step", result, ranks),
          per_step("S_by_stage_per_step", result, stages)};
}

}  // namespace

std::string what_if_json(const WhatIf& result, const std::string& trace_sha256) {
  Figures parts = what_if_summary(result);
  append(parts, {{"launch_slowdown", result.launch.mean},
                 {"length_correlation", known(result.length_correlation)},
                 {"likely_cause", result.likely_cause},
                 Figure::list("notes", values_of(result.notes)),
                 culprit_figures(result),
                 waits(result),
                 few_workers(result),
                 repair_figures("last_stage", result.last_stage),
                 by_step("step_time_s", result, result.traced_s),
                 by_step("recorded_step_time_s", result, result.recorded_s),
                 by_step("S_per_step", result, result.S.per_step),
                 by_step("launch_slowdown_per_step", result, result.launch.per_step)});
  append(parts, decompositions(result));
  return json_text(result_figure(trace_sha256, std::move(parts)), JsonNumbers::kWithPoint);
}

}  // namespace podsim
