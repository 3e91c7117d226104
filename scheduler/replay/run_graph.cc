// One queue of events; each remembers what it was held up by.
#include "scheduler/replay/run_graph.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::int32_t kNobody = -1;

// Ends come before beginnings of the same instant, and both in the order of the graph.
struct GraphEvent {
  Time at;
  bool ready = false;  // else it ends
  std::int32_t op = 0;
  auto operator<=>(const GraphEvent&) const = default;
};

class GraphLoop {
 public:
  GraphLoop(const StepGraph& graph, const std::vector<Time>& transfers)
      : graph_(graph),
        transfers_(transfers),
        missing_(graph.ops.size()),
        held_up_by_(graph.ops.size(), kNobody),
        first_waiter_(graph.ops.size() + 1),
        busy_(static_cast<std::size_t>(graph.streams), kNobody),
        queues_(static_cast<std::size_t>(graph.streams)),
        come_(graph.transfers.size()) {
    run_.begin.resize(graph.ops.size());
    run_.end.resize(graph.ops.size());
    list_waiters();
  }

  GraphRun run() {
    for (std::size_t op = 0; op < graph_.ops.size(); ++op)
      if (missing_[op] == 0) events_.push({{}, true, static_cast<std::int32_t>(op)});
    while (!events_.empty()) {
      const GraphEvent event = events_.top();
      events_.pop();
      event.ready ? ready(event.op, event.at) : ended(event.op, event.at);
    }
    if (ended_ < graph_.ops.size()) refuse();
    return std::move(run_);
  }

  // The operations that held up each other, to the one that ended last.
  std::vector<std::int32_t> critical_path(const GraphRun& run) const {
    std::vector<std::int32_t> path;
    if (run.end.empty()) return path;
    const auto latest = std::ranges::max_element(run.end);
    for (auto op = static_cast<std::int32_t>(latest - run.end.begin()); op != kNobody;
         op = held_up_by_[static_cast<std::size_t>(op)])
      path.push_back(op);
    std::ranges::reverse(path);
    return path;
  }

 private:
  const StepOp& op_at(std::int32_t op) const { return graph_.ops[static_cast<std::size_t>(op)]; }

  void list_waiters() {
    for (std::size_t op = 0; op < graph_.ops.size(); ++op)
      for (const std::int32_t other : graph_.waits_of(op)) {
        PODSIM_CHECK(other >= 0 && static_cast<std::size_t>(other) < graph_.ops.size(),
                     "an operation waits for one of the graph");
        ++missing_[op];
        ++first_waiter_[static_cast<std::size_t>(other) + 1];
      }
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) first_waiter_[op + 1] += first_waiter_[op];
    waiters_.resize(first_waiter_.back());
    std::vector<std::size_t> next(first_waiter_.begin(), first_waiter_.end() - 1);
    for (std::size_t op = 0; op < graph_.ops.size(); ++op)
      for (const std::int32_t other : graph_.waits_of(op))
        waiters_[next[static_cast<std::size_t>(other)]++] = static_cast<std::int32_t>(op);
  }

  void ready(std::int32_t op, Time at) {
    const StepOp& of = op_at(op);
    if (of.transfer >= 0) {
      join(op, at);
    } else if (of.stream < 0) {
      begin(op, at);
    } else if (std::int32_t& running = busy_[static_cast<std::size_t>(of.stream)]; running == kNobody) {
      running = op;
      begin(op, at);
    } else {
      queues_[static_cast<std::size_t>(of.stream)].push_back(op);
    }
  }

  void begin(std::int32_t op, Time at) {
    run_.begin[static_cast<std::size_t>(op)] = at;
    events_.push({at + op_at(op).duration, false, op});
  }

  void join(std::int32_t op, Time at) {
    const auto transfer = static_cast<std::size_t>(op_at(op).transfer);
    const std::vector<std::int32_t>& members = graph_.transfers[transfer].members;
    run_.begin[static_cast<std::size_t>(op)] = at;
    if (++come_[transfer] < members.size()) return;
    for (const std::int32_t member : members) {
      if (member != op && run_.begin[static_cast<std::size_t>(member)] < at)
        held_up_by_[static_cast<std::size_t>(member)] = op;  // the last to come
      events_.push({at + transfers_[transfer], false, member});
    }
  }

  void ended(std::int32_t op, Time at) {
    const auto index = static_cast<std::size_t>(op);
    ++ended_;
    run_.end[index] = at;
    run_.step = std::max(run_.step, at);
    if (const std::int32_t stream = op_at(op).stream; stream >= 0 && op_at(op).transfer < 0)
      free_stream(static_cast<std::size_t>(stream), op, at);
    for (std::size_t i = first_waiter_[index]; i < first_waiter_[index + 1]; ++i) {
      const auto waiter = static_cast<std::size_t>(waiters_[i]);
      if (--missing_[waiter] > 0) continue;
      held_up_by_[waiter] = op;
      events_.push({at, true, waiters_[i]});
    }
  }

  void free_stream(std::size_t stream, std::int32_t op, Time at) {
    busy_[stream] = kNobody;
    if (queues_[stream].empty()) return;
    const std::int32_t next = queues_[stream].front();
    queues_[stream].pop_front();
    busy_[stream] = next;
    held_up_by_[static_cast<std::size_t>(next)] = op;
    begin(next, at);
  }

  // Names a transfer that some have come to and others have not.
  [[noreturn]] void refuse() const {
    for (std::size_t transfer = 0; transfer < come_.size(); ++transfer) {
      const std::vector<std::int32_t>& members = graph_.transfers[transfer].members;
      if (come_[transfer] == 0 || come_[transfer] == members.size()) continue;
      const auto absent = std::ranges::find_if(
          members, [&](std::int32_t member) { return missing_[static_cast<std::size_t>(member)] > 0; });
      const auto present = std::ranges::find_if(
          members, [&](std::int32_t member) { return missing_[static_cast<std::size_t>(member)] == 0; });
      PODSIM_CHECK(absent != members.end() && present != members.end(), "some have come, others have not");
      throw ReplayError("ranks wait for each other in a circle: " + describe(graph_, *present) +
                        " waits for " + describe(graph_, *absent) + ", which never comes");
    }
    throw ReplayError("operations wait for each other in a circle");
  }

  const StepGraph& graph_;
  const std::vector<Time>& transfers_;
  std::vector<std::size_t> missing_;      // [op] operations that it still waits for
  std::vector<std::int32_t> held_up_by_;  // [op] the last of those, or what ran on its stream before it
  std::vector<std::size_t> first_waiter_;
  std::vector<std::int32_t> waiters_;
  std::vector<std::int32_t> busy_;  // [stream] what runs
  std::vector<std::deque<std::int32_t>> queues_;
  std::vector<std::size_t> come_;  // [transfer] members
  std::priority_queue<GraphEvent, std::vector<GraphEvent>, std::greater<>> events_;
  std::size_t ended_ = 0;
  GraphRun run_;
};

// A stretch of a rank's step and what it is spent with: the first of these that applies counts.
enum class Spent : std::uint8_t { kComputing, kCommunicating, kWaiting };
struct SpentEdge {
  Time at;
  Spent what = Spent::kComputing;
  int step = 0;  // +1 where it begins, -1 where it ends
};

std::vector<RankTime> rank_times(const StepGraph& graph, const std::vector<Time>& transfers,
                                 const GraphRun& run) {
  std::vector<std::vector<SpentEdge>> edges(graph.rank_number.size());
  std::vector<RankTime> ranks(graph.rank_number.size());
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    const StepOp& of = graph.ops[op];
    const auto rank = static_cast<std::size_t>(of.rank);
    ranks[rank].end = std::max(ranks[rank].end, run.end[op]);
    const auto add = [&](Time begin, Time end, Spent what) {
      if (begin >= end) return;
      edges[rank].push_back({begin, what, 1});
      edges[rank].push_back({end, what, -1});
    };
    if (of.transfer < 0) {
      if (of.computes) add(run.begin[op], run.end[op], Spent::kComputing);
      continue;
    }
    const Time moves = run.end[op] - transfers[static_cast<std::size_t>(of.transfer)];
    add(moves, run.end[op], Spent::kCommunicating);
    // A receive is posted ahead: only a collective that has been called holds its rank up.
    if (graph.transfers[static_cast<std::size_t>(of.transfer)].kind != CollectiveKind::kSendReceive)
      add(run.begin[op], moves, Spent::kWaiting);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::ranges::stable_sort(edges[rank], {}, &SpentEdge::at);
    std::array<int, 3> open{};
    Time since;
    for (const SpentEdge& edge : edges[rank]) {
      const Time length = edge.at - since;
      if (open[0] > 0)
        ranks[rank].computing += length;
      else if (open[1] > 0)
        ranks[rank].communicating += length;
      else if (open[2] > 0)
        ranks[rank].waiting += length;
      open[static_cast<std::size_t>(edge.what)] += edge.step;
      since = edge.at;
    }
  }
  return ranks;
}

}  // namespace

std::string describe(const StepGraph& graph, std::int32_t op) {
  const StepOp& of = graph.ops[static_cast<std::size_t>(op)];
  return "rank " + std::to_string(graph.rank_number[static_cast<std::size_t>(of.rank)]) + " node " +
         std::to_string(of.node);
}

std::vector<std::pair<std::int64_t, std::size_t>> ranks_in_order(const StepGraph& graph) {
  std::vector<std::pair<std::int64_t, std::size_t>> ranks;
  for (std::size_t rank = 0; rank < graph.rank_number.size(); ++rank) {
    ranks.emplace_back(graph.rank_number[rank], rank);
    if (graph.alike.empty()) continue;
    for (const std::int64_t number : graph.alike[rank]) ranks.emplace_back(number, rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

TransferTimer timer_on(const Fabric& fabric) {
  using Known = std::map<std::tuple<CollectiveKind, double, std::vector<std::int32_t>>, Time>;
  return [&fabric, known = Known()](CollectiveKind kind, Bytes bytes,
                                    const std::vector<std::int32_t>& group) mutable {
    const auto [found, added] = known.try_emplace({kind, bytes.value, group});
    if (added) {
      const std::vector<ChipId> chips(group.begin(), group.end());
      PODSIM_CHECK(std::ranges::all_of(chips, [&](ChipId chip) { return chip >= 0 && chip < fabric.chips; }),
                   "a chip for every rank");
      found->second = predict(fabric, plan(fabric, {kind, bytes}, chips));
    }
    return found->second;
  };
}

std::vector<Time> transfer_times(const StepGraph& graph, const Fabric& fabric) {
  const TransferTimer timer = timer_on(fabric);
  std::vector<Time> times;
  times.reserve(graph.transfers.size());
  for (const RecordedTransfer& transfer : graph.transfers)
    times.push_back(transfer.lasts_as_recorded ? transfer.recorded
                                               : timer(transfer.kind, transfer.bytes, transfer.group));
  return times;
}

GraphRun run_graph(const StepGraph& graph, const std::vector<Time>& transfers) {
  PODSIM_CHECK(graph.first_wait.size() == graph.ops.size() + 1, "waits of each operation");
  PODSIM_CHECK(transfers.size() == graph.transfers.size(), "a time for each transfer");
  GraphLoop loop(graph, transfers);
  GraphRun run = loop.run();
  run.critical_path = loop.critical_path(run);
  run.ranks = rank_times(graph, transfers, run);
  return run;
}

Time step_time(const StepGraph& graph, const std::vector<Time>& transfers) {
  return GraphLoop(graph, transfers).run().step;
}

std::vector<std::size_t> slow_ranks(const std::vector<Time>& computing) {
  constexpr double kLeast = 1.01;
  constexpr std::size_t kMostTried = 4;
  std::vector<std::size_t> slow(computing.size());
  std::iota(slow.begin(), slow.end(), std::size_t{0});
  std::ranges::stable_sort(slow, {}, [&](std::size_t rank) { return computing[rank]; });
  if (slow.size() < 2) return {};
  const Time middle = computing[slow[(slow.size() - 1) / 2]];
  std::ranges::reverse(slow);
  slow.resize(std::min(kMostTried, slow.size()));
  std::erase_if(slow, [&](std::size_t rank) {
    return middle == Time{} || computing[rank].in_seconds() / middle.in_seconds() < kLeast;
  });
  return slow;
}

std::optional<SlowRank> slowest_rank(const StepGraph& graph, const std::vector<Time>& transfers,
                                     const GraphRun& run) {
  std::vector<Time> of_graph(graph.rank_number.size()), computing;
  for (const StepOp& op : graph.ops)
    if (op.computes) of_graph[static_cast<std::size_t>(op.rank)] += op.duration;
  const auto ranks = ranks_in_order(graph);
  for (const auto& [number, rank] : ranks) computing.push_back(of_graph[rank]);
  std::vector<Time> sorted = computing;
  std::ranges::sort(sorted);
  std::optional<SlowRank> worst;
  for (const std::size_t slow : slow_ranks(computing)) {
    const std::size_t rank = ranks[slow].second;
    const double slowness = computing[slow].in_seconds() / sorted[(sorted.size() - 1) / 2].in_seconds();
    StepGraph repaired = graph;
    for (StepOp& op : repaired.ops)
      if (op.computes && static_cast<std::size_t>(op.rank) == rank)
        op.duration = Time::seconds(op.duration.in_seconds() / slowness);
    const Time delay = run.step - step_time(repaired, transfers);
    if (delay > Time{} && (!worst || delay > worst->delay)) worst = SlowRank{rank, slowness, delay};
  }
  return worst;
}

}  // namespace podsim
