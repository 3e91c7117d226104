// Replays with parts of the operations ideal, and divides the step times.
#include "scheduler/replay/what_if.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/replay/likely_cause.h"
#include "scheduler/replay/microbatch_lengths.h"
#include "scheduler/replay/operation_times.h"
#include "scheduler/replay/replay_graph.h"
#include "scheduler/replay/replayer.h"
#include "scheduler/replay/waits.h"

namespace podsim {
namespace {

// The share of the workers whose repair M_W is about, percent.
constexpr std::int64_t kFewWorkersPercent = 3;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The name under which types are told together.
std::string told_as(OpType type) {
  if (type == OpType::kForwardSend || type == OpType::kForwardRecv) return "forward-pp-comm";
  if (type == OpType::kBackwardSend || type == OpType::kBackwardRecv) return "backward-pp-comm";
  return std::string(to_string(type));
}

// Divides data rank `rank` into `count` and the rest, which becomes a data rank of its own, the last.
OperationTimes divided(const OperationTimes& times, int rank, std::int64_t count) {
  OperationTimes wider = times;
  const std::size_t ranks = static_cast<std::size_t>(times.data_ranks);
  wider.data_ranks += 1;
  wider.ranks_alike.push_back(times.ranks_alike[rank] - count);
  wider.ranks_alike[rank] = count;
  wider.traced.clear();
  for (std::size_t first = 0; first < times.traced.size(); first += ranks) {
    wider.traced.insert(wider.traced.end(), times.traced.begin() + first,
                        times.traced.begin() + first + ranks);
    wider.traced.push_back(times.traced[first + rank]);
  }
  return wider;
}

class Analysis {
 public:
  Analysis(const RecordedTrace& trace, std::span<const std::int32_t> only)
      : trace_(trace),
        graph_(build_replay_graph(trace)),
        times_(operation_times(trace, graph_, only)),
        replayer_(graph_, times_) {}

  WhatIf run() {
    replay_whole();
    replay_types();
    replay_ranks_and_stages();
    rate_workers();
    repair_last_stage();
    repair_few_workers();
    result_.length_correlation = length_correlation(graph_, times_);
    result_.culprits = culprits(result_);
    result_.likely_cause = likely_cause(result_);
    result_.notes = graph_.types.notes;
    return std::move(result_);
  }

 private:
  void replay_whole() {
    result_.steps = times_.steps;
    result_.recorded_s = times_.recorded_step_s;
    result_.ranks_alike = times_.ranks_alike;
    name_workers();
    ideal_s_ = replayer_.step_times([](const ReplayOp&, int) { return false; });
    result_.traced_s = replayer_.step_times([](const ReplayOp&, int) { return true; });
    result_.waits = waits(graph_, times_, replayer_, result_.workers);
    result_.recorded_mean_s = times_.recorded_mean_s;
    result_.T_s = mean(result_.traced_s);
    result_.T_ideal_s = mean(ideal_s_);
    result_.S = slowdown(result_.traced_s, ideal_s_);
    result_.launch = slowdown(result_.recorded_s, result_.traced_s);
    result_.launch.mean = result_.recorded_mean_s / result_.T_s;
    result_.waste = 1 - 1 / result_.S.mean;
  }

  static Slowdown slowdown(const std::vector<double>& step_s, const std::vector<double>& base_s) {
    Slowdown result;
    result.mean = mean(step_s) / mean(base_s);
    for (std::size_t s = 0; s < step_s.size(); ++s) result.per_step.push_back(step_s[s] / base_s[s]);
    return result;
  }

  Slowdown only(const TracedOps& traced) { return slowdown(replayer_.step_times(traced), ideal_s_); }

  void name_workers() {
    for (int rank = 0; rank < graph_.data_ranks; ++rank) {
      for (int stage = 0; stage < graph_.stages; ++stage) {
        const auto known = trace_.global_rank.find({rank, stage});
        const int global = known == trace_.global_rank.end() ? rank * graph_.stages + stage : known->second;
        const int number = trace_.rank_number.empty() ? rank : trace_.rank_number[rank];
        result_.workers.push_back({rank, number, stage, global, times_.ranks_alike[rank]});
      }
    }
  }

  void replay_types() {
    for (int t = 0; t < kOpTypes; ++t) {
      const auto type = static_cast<OpType>(t);
      const std::string name = told_as(type);
      const bool told =
          std::ranges::find(result_.by_type, name, &TypeSlowdown::type) != result_.by_type.end();
      const bool recorded = std::ranges::find(graph_.ops, type, &ReplayOp::type) != graph_.ops.end();
      if (told || !recorded) continue;
      result_.by_type.push_back({name,
                                 only([&](const ReplayOp& op, int) { return told_as_same(op.type, type); }),
                                 is_communication(type)});
    }
  }

  static bool told_as_same(OpType a, OpType b) {
    const auto kind = [](OpType type) {
      if (type == OpType::kForwardRecv) return OpType::kForwardSend;
      return type == OpType::kBackwardRecv ? OpType::kBackwardSend : type;
    };
    return kind(a) == kind(b);
  }

  // All data ranks with ideal durations are alike, so that one replays for them: in all ranks' replays
  // together each rank is replayed twice and not once per rank.
  Slowdown only_rank(int rank) {
    if (graph_.data_ranks == 1) return only([](const ReplayOp& op, int) { return of_workers(op); });
    OperationTimes pair;
    pair.steps = times_.steps;
    pair.data_ranks = 2;
    pair.ideal = times_.ideal;
    pair.traced.resize(graph_.ops.size() * pair.columns());
    const std::size_t ranks = static_cast<std::size_t>(times_.data_ranks);
    for (std::size_t row = 0; row < pair.traced.size() / 2; ++row)
      pair.traced[2 * row] = times_.traced[row * ranks + static_cast<std::size_t>(rank)];
    Replayer replayer(graph_, pair);
    return slowdown(replayer.step_times([](const ReplayOp& op, int r) { return r == 0 && of_workers(op); }),
                    ideal_s_);
  }

  // A batch comes from the hosts for all workers at once: it makes none of them slow.
  static bool of_workers(const ReplayOp& op) { return op.type != OpType::kInput; }

  void replay_ranks_and_stages() {
    for (int rank = 0; rank < graph_.data_ranks; ++rank) result_.by_data_rank.push_back(only_rank(rank));
    for (int stage = 0; stage < graph_.stages; ++stage)
      result_.by_stage.push_back(
          only([&](const ReplayOp& op, int) { return op.stage == stage && of_workers(op); }));
  }

  void rate_workers() {
    for (const Worker& worker : result_.workers)
      result_.by_worker.push_back(
          std::min(result_.by_data_rank[worker.row].mean, result_.by_stage[worker.stage].mean));
  }

  // `of_fixed` says of which workers.
  Repair repair(Replayer& replayer, const TracedOps& of_fixed) const {
    const auto fixed = [&](const ReplayOp& op, int rank) { return of_workers(op) && of_fixed(op, rank); };
    Repair result;
    result.repaired_s =
        mean(replayer.step_times([&](const ReplayOp& op, int rank) { return !fixed(op, rank); }));
    result.alone_s = mean(replayer.step_times(fixed));
    const double lost = result_.T_s - result_.T_ideal_s;
    if (std::abs(result_.S.mean - 1) >= kLeastLoss) {
      result.gained = (result_.T_s - result.repaired_s) / lost;
      result.caused = (result.alone_s - result_.T_ideal_s) / lost;
    }
    return result;
  }

  void repair_last_stage() {
    result_.last_stage =
        repair(replayer_, [&](const ReplayOp& op, int) { return op.stage == graph_.stages - 1; });
  }

  // The slowest first, equal ones by global rank, until there are enough.
  void repair_few_workers() {
    std::vector<std::size_t> order(result_.workers.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      if (result_.by_worker[a] != result_.by_worker[b]) return result_.by_worker[a] > result_.by_worker[b];
      return result_.workers[a].global_rank < result_.workers[b].global_rank;
    });
    std::int64_t all = 0;
    for (const Worker& worker : result_.workers) all += worker.alike;
    std::int64_t left = (all * kFewWorkersPercent + 99) / 100;
    for (const std::size_t w : order) {
      if (left == 0) break;
      result_.few.push_back(result_.workers[w]);
      result_.few.back().alike = std::min(left, result_.workers[w].alike);
      left -= result_.few.back().alike;
    }
    result_.few_workers = repair_workers(result_.few);
  }

  // The last of the workers may stand for more than are to be repaired.
  Repair repair_workers(const std::vector<Worker>& fixed) {
    const Worker& last = fixed.back();
    const bool part = last.alike < times_.ranks_alike[last.row];
    const int rest = graph_.data_ranks;  // of the data rank of the last worker
    std::vector<bool> is_fixed((static_cast<std::size_t>(rest) + 1) * graph_.stages);
    for (const Worker& worker : fixed) {
      is_fixed[worker.row * graph_.stages + worker.stage] = true;
      if (worker.row == last.row && worker.stage != last.stage)
        is_fixed[rest * graph_.stages + worker.stage] = true;
    }
    const auto of_fixed = [&](const ReplayOp& op, int rank) {
      return bool{is_fixed[static_cast<std::size_t>(rank * graph_.stages + op.stage)]};
    };
    if (!part) return repair(replayer_, of_fixed);
    const OperationTimes times = divided(times_, last.row, last.alike);
    Replayer replayer(graph_, times);
    return repair(replayer, of_fixed);
  }

  const RecordedTrace& trace_;
  const ReplayGraph graph_;
  const OperationTimes times_;
  Replayer replayer_;
  std::vector<double> ideal_s_;  // [step], all equal
  WhatIf result_;
};

}  // namespace

WhatIf what_if(const RecordedTrace& trace, std::span<const std::int32_t> only) {
  return Analysis(trace, only).run();
}

}  // namespace podsim
