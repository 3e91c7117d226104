// Ranks become chips in their order; every transfer takes as long as podsim predicts for it alone.
#include "cli/import_step.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
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
  Time without_transfers;  // the step, if data moved in no time
};

// What it ran on, and how transfers were timed.
struct Where {
  std::string name;
  std::int64_t chips = 0;
  std::string how;
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
  const auto ranks = ranks_in_order(step.graph);
  const auto time = [&](std::size_t i) -> const RankTime& { return step.run.ranks[ranks[i].second]; };
  for (std::size_t i = 0; i < ranks.size() && rows.size() <= kMostRows;) {
    std::size_t end = i + 1;
    while (end < ranks.size() && alike(time(i), time(end)) && time(i).end == time(end).end) ++end;
    std::string name = std::to_string(ranks[i].first);
    if (end > i + 1) name += " to " + std::to_string(ranks[end - 1].first);
    rows.push_back({name, step_ms(time(i).computing), step_ms(time(i).communicating),
                    step_ms(time(i).waiting), step_ms(time(i).end)});
    i = end;
  }
  return align(rows);
}

std::string step_text(const std::string& of, const Where& where, const StepRun& step) {
  const PathParts parts = path_parts(step);
  std::string text = of + " on " + where.name + ", " + std::to_string(where.chips) +
                     " chips: the step takes " + step_ms(step.run.step) + " ms\n";
  for (const std::string& note : step.graph.notes) text += "note: " + note + "\n";
  text += "\n" + rank_rows(step) + "\nOn the critical path: " + step_ms(parts.computing) + " ms computing, " +
          step_ms(parts.communicating) + " ms communicating, " + step_ms(parts.other) + " ms else\n";
  if (step.slow)
    text += "Rank " + std::to_string(step.graph.rank_number[step.slow->rank]) + " computes " +
            fixed(step.slow->slowness, 2) +
            " times as long as the rank in the middle: without that the step would take " +
            step_ms(step.run.step - step.slow->delay) + " ms\n";
  text += "If data moved in no time the step would take " + step_ms(step.without_transfers) + " ms\n";
  return text + where.how + "\n";
}

std::vector<Figure> step_figures(const Where& where, const StepRun& step) {
  const PathParts parts = path_parts(step);
  std::vector<Figure> ranks;
  for (const auto& [number, in_graph] : ranks_in_order(step.graph)) {
    const RankTime& rank = step.run.ranks[in_graph];
    ranks.push_back(Figure::group("", {{"rank", number},
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
  return {{"fabric", where.name},
          {"chips", where.chips},
          {"step_s", step.run.step},
          {"step_ps", step.run.step.ps},
          {"without_transfers_s", step.without_transfers},
          Figure::group("critical_path", {{"computing_s", parts.computing},
                                          {"communicating_s", parts.communicating},
                                          {"other_s", parts.other}}),
          std::move(culprit),
          Figure::list("notes", values_of(step.graph.notes)),
          Figure::list("rank", std::move(ranks))};
}

// Whether every rank of every group has a chip; says what is missing.
bool fits(const std::string& of, const StepGraph& graph, std::int64_t chips) {
  std::int64_t most = 0;
  for (const auto& [number, rank] : ranks_in_order(graph)) most = std::max(most, number);
  for (const RecordedTransfer& transfer : graph.transfers)
    for (const std::int32_t rank : transfer.group) most = std::max<std::int64_t>(most, rank);
  if (most < chips) return true;
  spdlog::error("{}: rank {} needs a chip, and the fabric has {} (--chips)", of, most, chips);
  return false;
}

using TransferTimes = std::function<std::vector<Time>(const StepGraph& graph)>;

std::optional<Imported> run_on(const std::string& of, const Imported& imported, const Where& where,
                               const TransferTimes& times, const TransferTimer* timer = nullptr) {
  try {
    StepRun step;
    step.graph = imported.step(where.chips, timer);
    if (!fits(of, step.graph, where.chips)) return std::nullopt;
    step.transfers = times(step.graph);
    step.run = run_graph(step.graph, step.transfers);
    step.slow = slowest_rank(step.graph, step.transfers, step.run);
    step.without_transfers = run_graph(step.graph, std::vector<Time>(step.graph.transfers.size())).step;
    Imported answer;
    answer.figures = step_figures(where, step);
    answer.text = step_text(of, where, step);
    return answer;
  } catch (const ReplayError& error) {
    spdlog::error("{}: {}", of, error.what());
    return std::nullopt;
  }
}

}  // namespace

std::optional<Imported> run_imported_step(const std::string& of, const Imported& imported,
                                          const NetworkOptions& network) {
  const auto catalog = open_catalog({});
  const auto spec = catalog ? choose_network(*catalog, network) : std::nullopt;
  if (!spec) return std::nullopt;
  const Fabric fabric = build_fabric(*spec);
  const Where where = {fabric.name, fabric.chips,
                       "Transfers take as long as alone on the fabric; rank r is chip r."};
  const TransferTimer alone = timer_on(fabric);
  // What has no chip is refused later.
  const TransferTimer timer = [&](CollectiveKind kind, Bytes bytes, const std::vector<std::int32_t>& group) {
    const bool fits = std::ranges::all_of(group, [&](std::int32_t rank) { return rank < fabric.chips; });
    return fits ? alone(kind, bytes, group) : Time{};
  };
  return run_on(
      of, imported, where, [&](const StepGraph& graph) { return transfer_times(graph, fabric); }, &timer);
}

std::optional<Imported> run_recorded_step(const std::string& of, const Imported& imported,
                                          std::int64_t chips) {
  const Where where = {
      "the machine that recorded it", chips,
      "Transfers take what they took, from their last arrival on; --fabric asks for another network."};
  return run_on(of, imported, where, [](const StepGraph& graph) {
    std::vector<Time> times;
    for (const RecordedTransfer& transfer : graph.transfers) times.push_back(transfer.recorded);
    return times;
  });
}

std::optional<Imported> run_on_astra_ring(const std::string& of, const Imported& imported,
                                          const AstraRing& ring, std::int64_t chips) {
  const Where where = {
      "a ring as of ASTRA-sim", chips,
      "Collectives take what ASTRA-sim's analytical network answers for 4 chunks one after the "
      "other, 10 ns at each end, memory of 1600 GB/s."};
  return run_on(of, imported, where, [&](const StepGraph& graph) { return astra_ring_times(graph, ring); });
}

}  // namespace podsim
