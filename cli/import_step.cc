// Ranks become chips in their order; every transfer takes as long as podsim predicts for it alone.
#include "cli/import_step.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "cli/batch.h"
#include "report/text.h"
#include "report/write.h"
#include "scheduler/replay/run_graph.h"

namespace podsim {
namespace {

// A run on a fabric, and what it was run for.
struct StepRun {
  StepGraph graph;
  std::vector<Time> transfers;
  GraphRun run;
  std::optional<SlowRank> slow;
};

std::string step_ms(Time time) { return fixed(time.in_seconds() * 1e3, 3); }

// Parts of the critical path; what is neither is waiting of streams for the host, and copies.
struct PathParts {
  Time computing, communicating, other;
};
PathParts path_parts(const StepRun& step) {
  PathParts parts;
  Time at;
  for (const std::int32_t op : step.run.critical_path) {
    const StepOp& of = step.graph.ops[static_cast<std::size_t>(op)];
    const Time end = step.run.end[static_cast<std::size_t>(op)];
    if (end <= at) continue;
    (of.transfer >= 0 ? parts.communicating : of.computes ? parts.computing : parts.other) += end - at;
    at = end;
  }
  return parts;
}

bool alike(const RankTime& a, const RankTime& b) {
  return a.computing == b.computing && a.communicating == b.communicating && a.waiting == b.waiting;
}

// Neighbouring ranks that do alike are one row.
std::string rank_rows(const StepRun& step) {
  constexpr std::size_t kMostRows = 40;
  std::vector<std::vector<std::string>> rows = {
      {"rank", "computing ms", "communicating ms", "waiting ms", "last end ms"}};
  const std::vector<RankTime>& ranks = step.run.ranks;
  for (std::size_t i = 0; i < ranks.size() && rows.size() <= kMostRows;) {
    std::size_t end = i + 1;
    while (end < ranks.size() && alike(ranks[i], ranks[end]) && ranks[i].end == ranks[end].end) ++end;
    std::string name = std::to_string(step.graph.rank_number[i]);
    if (end > i + 1) name += " to " + std::to_string(step.graph.rank_number[end - 1]);
    rows.push_back({name, step_ms(ranks[i].computing), step_ms(ranks[i].communicating),
                    step_ms(ranks[i].waiting), step_ms(ranks[i].end)});
    i = end;
  }
  return align(rows);
}

std::string step_text(const std::string& of, const Fabric& fabric, const StepRun& step) {
  const PathParts parts = path_parts(step);
  std::string text = of + " on " + fabric.name + ", " + std::to_string(fabric.chips) +
                     " chips: the step takes " + step_ms(step.run.step) + " ms\n";
  for (const std::string& note : step.graph.notes) text += "note: " + note + "\n";
  text += "\n" + rank_rows(step) + "\nOn the critical path: " + step_ms(parts.computing) + " ms computing, " +
          step_ms(parts.communicating) + " ms communicating, " + step_ms(parts.other) + " ms else\n";
  if (step.slow)
    text += "Rank " + std::to_string(step.graph.rank_number[step.slow->rank]) + " computes " +
            fixed(step.slow->slowness, 2) +
            " times as long as the rank in the middle: without that the step would take " +
            step_ms(step.run.step - step.slow->delay) + " ms\n";
  return text + "Transfers take as long as alone on the fabric; rank r is chip r.\n";
}

std::vector<Figure> step_figures(const Fabric& fabric, const StepRun& step) {
  const PathParts parts = path_parts(step);
  std::vector<Figure> ranks;
  for (std::size_t i = 0; i < step.run.ranks.size(); ++i) {
    const RankTime& rank = step.run.ranks[i];
    ranks.push_back(Figure::group("", {{"rank", step.graph.rank_number[i]},
                                       {"computing_s", rank.computing},
                                       {"communicating_s", rank.communicating},
                                       {"waiting_s", rank.waiting},
                                       {"end_s", rank.end}}));
  }
  Figure culprit("culprit", FigureValue());
  if (step.slow)
    culprit = Figure::group("culprit", {{"rank", step.graph.rank_number[step.slow->rank]},
                                        {"slowness", step.slow->slowness},
                                        {"delay_s", step.slow->delay}});
  return {{"fabric", fabric.name},
          {"chips", static_cast<std::int64_t>(fabric.chips)},
          {"step_s", step.run.step},
          {"step_ps", step.run.step.ps},
          Figure::group("critical_path", {{"computing_s", parts.computing},
                                          {"communicating_s", parts.communicating},
                                          {"other_s", parts.other}}),
          std::move(culprit),
          Figure::list("notes", values_of(step.graph.notes)),
          Figure::list("rank", std::move(ranks))};
}

// Whether every rank of every group has a chip; says what is missing.
bool fits(const std::string& of, const StepGraph& graph, const Fabric& fabric) {
  std::int64_t most = 0;
  for (const std::int64_t rank : graph.rank_number) most = std::max(most, rank);
  for (const StepTransfer& transfer : graph.transfers)
    for (const std::int32_t rank : transfer.group) most = std::max<std::int64_t>(most, rank);
  if (most < fabric.chips) return true;
  spdlog::error("{}: rank {} needs a chip, and the fabric has {} (--chips)", of, most, fabric.chips);
  return false;
}

}  // namespace

std::optional<Imported> run_imported_step(const std::string& of, const Imported& imported,
                                          const NetworkOptions& network) {
  const auto catalog = open_catalog({});
  const auto spec = catalog ? choose_network(*catalog, network) : std::nullopt;
  if (!spec) return std::nullopt;
  const Fabric fabric = build_fabric(*spec);
  try {
    StepRun step;
    step.graph = imported.step(fabric.chips);
    if (!fits(of, step.graph, fabric)) return std::nullopt;
    step.transfers = transfer_times(step.graph, fabric);
    step.run = run_graph(step.graph, step.transfers);
    step.slow = slowest_rank(step.graph, step.transfers, step.run);
    Imported answer;
    answer.figures = step_figures(fabric, step);
    answer.text = step_text(of, fabric, step);
    return answer;
  } catch (const ReplayError& error) {
    spdlog::error("{}: {}", of, error.what());
    return std::nullopt;
  }
}

}  // namespace podsim
