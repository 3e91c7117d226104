// Runs the graph with ideal times but for those operations that are asked about.
#include "scheduler/replay/graph_slowness.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "engine/check.h"
#include "scheduler/replay/run_graph.h"

namespace podsim {
namespace {

const char* to_string(WorkKind kind) {
  constexpr const char* kNames[kWorkKinds] = {"computing", "copying", "host"};
  return kNames[static_cast<std::size_t>(kind)];
}

class Slowness {
 public:
  Slowness(const StepGraph& graph, const std::vector<Time>& transfers)
      : graph_(graph), transfers_(transfers), ideal_op_(graph.ops.size()), ideal_transfer_(transfers) {
    find_ideal_work();
    find_ideal_transfers();
  }

  GraphSlowness find() {
    GraphSlowness found;
    const auto none = [](std::size_t) { return false; };
    found.ideal = step_with(none, none);
    ideal_s_ = found.ideal.in_seconds();
    const auto all = [](std::size_t) { return true; };
    found.S = slowdown(all, all);
    find_kinds(found);
    found.by_rank.resize(graph_.rank_number.size());
    for (const std::size_t rank : ranks_to_try())
      found.by_rank[rank] = slowdown([&](std::size_t op) { return graph_.rank_of(op) == rank; }, none);
    const std::set<std::int32_t> stages(graph_.stage.begin(), graph_.stage.end());
    for (const std::int32_t stage : stages)
      if (stage >= 0)
        found.by_stage.emplace_back(
            stage, slowdown([&](std::size_t op) { return graph_.stage[graph_.rank_of(op)] == stage; }, none));
    return found;
  }

 private:
  using Picked = std::function<bool(std::size_t)>;

  // Ranks that a rank of the graph stands for.
  double weight_of(std::size_t rank) const {
    return graph_.alike.empty() ? 1 : 1 + static_cast<double>(graph_.alike[rank].size());
  }

  void find_ideal_work() {
    std::vector<double> sum(graph_.kinds_of_work.size()), weight(graph_.kinds_of_work.size());
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      const std::int32_t work = graph_.work[op];
      if (work < 0) continue;
      const double ranks = weight_of(graph_.rank_of(op));
      sum[static_cast<std::size_t>(work)] += ranks * static_cast<double>(graph_.ops[op].duration.ps);
      weight[static_cast<std::size_t>(work)] += ranks;
    }
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      const std::int32_t work = graph_.work[op];
      const auto index = static_cast<std::size_t>(work);
      ideal_op_[op] =
          work < 0 ? graph_.ops[op].duration : Time{static_cast<std::int64_t>(sum[index] / weight[index])};
    }
  }

  void find_ideal_transfers() {
    std::map<std::tuple<CollectiveKind, double, std::size_t>, std::vector<std::size_t>> alike;
    for (std::size_t t = 0; t < graph_.transfers.size(); ++t) {
      const RecordedTransfer& transfer = graph_.transfers[t];
      alike[{transfer.kind, transfer.bytes.value, transfer.group.size()}].push_back(t);
    }
    for (const auto& [kind, members] : alike) {
      std::vector<Time> times;
      for (const std::size_t t : members) times.insert(times.end(), graph_.transfers[t].count, transfers_[t]);
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
      std::ranges::nth_element(times, middle);
      for (const std::size_t t : members) ideal_transfer_[t] = *middle;
    }
  }

  Time step_with(const Picked& op_as_recorded, const Picked& transfer_as_recorded) const {
    StepGraph graph = graph_;
    std::vector<Time> transfers = ideal_transfer_;
    for (std::size_t op = 0; op < graph.ops.size(); ++op)
      if (!op_as_recorded(op)) graph.ops[op].duration = ideal_op_[op];
    for (std::size_t t = 0; t < transfers.size(); ++t)
      if (transfer_as_recorded(t)) transfers[t] = transfers_[t];
    return step_time(graph, transfers);
  }

  double slowdown(const Picked& op_as_recorded, const Picked& transfer_as_recorded) const {
    if (ideal_s_ <= 0) return 1;
    return step_with(op_as_recorded, transfer_as_recorded).in_seconds() / ideal_s_;
  }

  void find_kinds(GraphSlowness& found) const {
    const auto none = [](std::size_t) { return false; };
    for (const WorkKind kind : {WorkKind::kComputing, WorkKind::kCopying, WorkKind::kHost}) {
      const auto is_of_kind = [&](std::size_t op) {
        return graph_.work[op] >= 0 &&
               graph_.kinds_of_work[static_cast<std::size_t>(graph_.work[op])] == kind;
      };
      if (std::ranges::count(graph_.kinds_of_work, kind) > 0)
        found.by_kind.emplace_back(to_string(kind), slowdown(is_of_kind, none));
    }
    std::set<CollectiveKind> kinds;
    for (const RecordedTransfer& transfer : graph_.transfers) kinds.insert(transfer.kind);
    for (const CollectiveKind kind : kinds)
      found.by_kind.emplace_back(podsim::to_string(kind), slowdown(none, [&](std::size_t t) {
                                   return graph_.transfers[t].kind == kind;
                                 }));
  }

  // Those that lose most first; as many as take seconds.
  std::vector<std::size_t> ranks_to_try() const {
    constexpr std::size_t kMostOperations = 20'000'000, kLeast = 4;
    std::vector<std::int64_t> lost(graph_.rank_number.size());
    for (std::size_t op = 0; op < graph_.ops.size(); ++op)
      lost[graph_.rank_of(op)] += graph_.ops[op].duration.ps - ideal_op_[op].ps;
    std::vector<std::size_t> ranks(lost.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::ranges::stable_sort(ranks, std::greater<>(), [&](std::size_t rank) { return lost[rank]; });
    const std::size_t most = std::max(kLeast, kMostOperations / std::max<std::size_t>(graph_.ops.size(), 1));
    ranks.resize(std::min(ranks.size(), most));
    return ranks;
  }

  const StepGraph& graph_;
  const std::vector<Time>& transfers_;
  std::vector<Time> ideal_op_, ideal_transfer_;
  double ideal_s_ = 0;
};

}  // namespace

std::optional<GraphSlowness> slowness_of(const StepGraph& graph, const std::vector<Time>& transfers) {
  PODSIM_CHECK(transfers.size() == graph.transfers.size(), "a time for each transfer");
  if (graph.work.empty() || ranks_in_order(graph).size() < 2) return std::nullopt;
  PODSIM_CHECK(graph.work.size() == graph.ops.size(), "a work for each operation");
  PODSIM_CHECK(graph.stage.empty() || graph.stage.size() == graph.rank_number.size(),
               "a stage for each rank");
  return Slowness(graph, transfers).find();
}

}  // namespace podsim
