// Ranks become chips in their order; every transfer takes as long as podsim predicts for it alone.
#include "cli/imports/import_step.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/scenarios/batch.h"
#include "engine/check.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "scheduler/replay/fold_graph.h"
#include "scheduler/replay/graph_slowness.h"
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
  Time with_faster_links;  // and if links moved twice as much a second
  std::vector<SlowLink> slow_links;
  Time with_whole_links;  // without these
  std::optional<GraphSlowness> slowness;
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

std::string S_text(double slowdown) { return fixed(slowdown, 3); }

// By rank, stage and kind of work.
std::string slowness_text(const StepGraph& graph, const GraphSlowness& slowness) {
  constexpr std::size_t kMostRanks = 8;
  std::string text =
      "S " + S_text(slowness.S) +
      ": with work as on the mean rank and transfers as the middle one of their kind the step would take " +
      step_ms(slowness.ideal) + " ms\n";
  std::vector<std::pair<double, std::string>> ranks;
  for (std::size_t rank = 0; rank < slowness.by_rank.size(); ++rank)
    if (slowness.by_rank[rank])
      ranks.emplace_back(*slowness.by_rank[rank], "rank " + std::to_string(graph.rank_number[rank]));
  std::ranges::stable_sort(ranks, std::greater<>(), &std::pair<double, std::string>::first);
  ranks.resize(std::min(ranks.size(), kMostRanks));
  std::vector<std::vector<std::string>> rows = {{"only as recorded", "S"}};
  for (const auto& [kind, slowdown] : slowness.by_kind) rows.push_back({kind, S_text(slowdown)});
  for (const auto& [stage, slowdown] : slowness.by_stage)
    rows.push_back({"stage " + std::to_string(stage), S_text(slowdown)});
  for (const auto& [slowdown, rank] : ranks) rows.push_back({rank, S_text(slowdown)});
  return text + align(rows) + "\n";
}

Figure slowness_figure(const StepGraph& graph, const GraphSlowness& slowness) {
  std::vector<Figure> ranks, kinds, stages;
  for (std::size_t rank = 0; rank < slowness.by_rank.size(); ++rank)
    if (slowness.by_rank[rank])
      ranks.push_back(Figure::group("", {{"rank", graph.rank_number[rank]}, {"S", *slowness.by_rank[rank]}}));
  for (const auto& [kind, slowdown] : slowness.by_kind)
    kinds.push_back(Figure::group("", {{"kind", kind}, {"S", slowdown}}));
  for (const auto& [stage, slowdown] : slowness.by_stage)
    stages.push_back(Figure::group("", {{"stage", static_cast<std::int64_t>(stage)}, {"S", slowdown}}));
  return Figure::group("slowness", {{"S", slowness.S},
                                    {"ideal_s", slowness.ideal},
                                    Figure::list("by_kind", std::move(kinds)),
                                    Figure::list("by_stage", std::move(stages)),
                                    Figure::list("by_rank", std::move(ranks))});
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
  text += "If data moved in no time the step would take " + step_ms(step.without_transfers) +
          " ms, in half the time " + step_ms(step.with_faster_links) + " ms\n";
  for (const SlowLink& link : step.slow_links)
    text += "Links (" + std::string(to_string(link.kind)) + ") of chip " + std::to_string(link.chip) +
            " have " + shortest(link.factor) + " of their bandwidth\n";
  if (!step.slow_links.empty())
    text += "With all of it the step would take " + step_ms(step.with_whole_links) + " ms\n";
  if (step.slowness) text += "\n" + slowness_text(step.graph, *step.slowness);
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
  Figure slowness("slowness", FigureValue());
  if (step.slowness) slowness = slowness_figure(step.graph, *step.slowness);
  std::vector<Figure> links;
  for (const SlowLink& link : step.slow_links)
    links.push_back(Figure::group("", {{"chip", static_cast<std::int64_t>(link.chip)},
                                       {"kind", std::string(to_string(link.kind))},
                                       {"speed_fraction", link.factor}}));
  return {
      {"fabric", where.name},
      {"chips", where.chips},
      {"step_s", step.run.step},
      {"step_ps", step.run.step.ps},
      {"without_transfers_s", step.without_transfers},
      {"with_faster_links_s", step.with_faster_links},
      Figure::list("slow_links", std::move(links)),
      {"with_whole_links_s", step.slow_links.empty() ? FigureValue() : FigureValue(step.with_whole_links)},
      {"simulated_ranks", static_cast<std::int64_t>(step.graph.rank_number.size())},
      Figure::group("critical_path", {{"computing_s", parts.computing},
                                      {"communicating_s", parts.communicating},
                                      {"other_s", parts.other}}),
      std::move(culprit),
      std::move(slowness),
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

// Computations of these ranks take so many times as long.
void slow_down(StepGraph& graph, const SlowedRanks& slowed) {
  for (StepOp& op : graph.ops) {
    if (!op.computes) continue;
    for (const auto& [rank, factor] : slowed)
      if (graph.rank_number[static_cast<std::size_t>(op.rank)] == rank)
        op.duration = Time::seconds(op.duration.in_seconds() * factor);
  }
}

// Says which has none.
bool have_traces(const std::string& of, const StepGraph& graph, const SlowedRanks& slowed) {
  for (const auto& [rank, factor] : slowed)
    if (std::ranges::count(graph.rank_number, rank) == 0) {
      spdlog::error("{}: --slow names rank {}, which has no trace", of, rank);
      return false;
    }
  return true;
}

using TransferTimes = std::function<std::vector<Time>(const StepGraph& graph)>;

// Links that are slow, and how long transfers take without that.
struct SlowNetwork {
  std::vector<SlowLink> links;
  TransferTimes whole;
};

std::optional<Imported> run_on(const std::string& of, const Imported& imported, const Where& where,
                               const SlowedRanks& slowed, const TransferTimes& times,
                               const TransferTimer* timer = nullptr, const SlowNetwork& slow_network = {}) {
  try {
    StepRun step;
    StepGraph graph = imported.step(where.chips, timer);
    if (!have_traces(of, graph, slowed)) return std::nullopt;
    slow_down(graph, slowed);
    if (!fits(of, graph, where.chips)) return std::nullopt;
    std::vector<Time> transfers = times(graph);
    step.slow_links = slow_network.links;
    if (!step.slow_links.empty()) step.with_whole_links = step_time(graph, slow_network.whole(graph));
    FoldedGraph folded = fold_graph(std::move(graph), std::move(transfers));
    step.graph = std::move(folded.graph);
    step.transfers = std::move(folded.transfers);
    step.run = run_graph(step.graph, step.transfers);
    step.slowness = slowness_of(step.graph, step.transfers);
    step.slow = slowest_rank(step.graph, step.transfers, step.run);
    step.without_transfers = step_time(step.graph, std::vector<Time>(step.graph.transfers.size()));
    std::vector<Time> halved = step.transfers;
    for (Time& time : halved) time = {time.ps / 2};
    step.with_faster_links = step_time(step.graph, halved);
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
                                          const NetworkOptions& network, const SlowedRanks& slowed,
                                          const std::vector<SlowLink>& slow_links) {
  PODSIM_CHECK(imported.step, "the files hold a step");
  const auto catalog = open_catalog({});
  const auto spec = catalog ? choose_network(*catalog, network) : std::nullopt;
  if (!spec) return std::nullopt;
  const Fabric whole = build_fabric(*spec);
  if (!are_of(whole, slow_links)) return std::nullopt;
  const Fabric fabric = with_slow_links(whole, slow_links);
  const Where where = {fabric.name, fabric.chips,
                       "Transfers take as long as alone on the fabric; rank r is chip r."};
  const TransferTimer alone = timer_on(fabric);
  // What has no chip is refused later.
  const TransferTimer timer = [&](CollectiveKind kind, Bytes bytes, const std::vector<std::int32_t>& group) {
    const bool fits = std::ranges::all_of(group, [&](std::int32_t rank) { return rank < fabric.chips; });
    return fits ? alone(kind, bytes, group) : Time{};
  };
  return run_on(of, imported, where, slowed,
                [&](const StepGraph& graph) { return transfer_times(graph, fabric); },
                slowed.empty() ? &timer : nullptr,
                {slow_links, [&](const StepGraph& graph) { return transfer_times(graph, whole); }});
}

std::optional<Imported> run_recorded_step(const std::string& of, const Imported& imported, std::int64_t chips,
                                          const SlowedRanks& slowed) {
  PODSIM_CHECK(imported.step && imported.transfers_recorded, "the files hold a step with its transfers");
  const Where where = {
      "the machine that recorded it", chips,
      "Transfers take what they took, from their last arrival on; --fabric asks for another network."};
  return run_on(of, imported, where, slowed, [](const StepGraph& graph) {
    std::vector<Time> times;
    for (const RecordedTransfer& transfer : graph.transfers) times.push_back(transfer.recorded);
    return times;
  });
}

std::optional<Imported> run_on_astra_ring(const std::string& of, const Imported& imported,
                                          const AstraRing& ring, std::int64_t chips,
                                          const SlowedRanks& slowed) {
  const Where where = {
      "a ring as of ASTRA-sim", chips,
      "Collectives take what ASTRA-sim's analytical network answers for 4 chunks one after the "
      "other, 10 ns at each end, memory of 1600 GB/s."};
  return run_on(of, imported, where, slowed,
                [&](const StepGraph& graph) { return astra_ring_times(graph, ring); });
}

}  // namespace podsim
