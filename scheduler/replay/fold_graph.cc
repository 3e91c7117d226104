// Colours of ranks and of transfers, refined by each other until no colour falls apart.
#include "scheduler/replay/fold_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "engine/check.h"
#include "engine/distinct_values.h"
#include "scheduler/replay/run_graph.h"

namespace podsim {
namespace {

// What an operation is on its rank: its time, its stream by the order in which the rank first uses it, and
// where among the operations of the rank those are that it waits for.
struct LocalOp {
  Time duration;
  std::int32_t stream = -1, work = -1;
  bool computes = false, transfers = false;
  std::vector<std::int32_t> waits;
  auto operator<=>(const LocalOp&) const = default;
};

class Folder {
 public:
  Folder(StepGraph graph, std::vector<Time> transfers)
      : graph_(std::move(graph)), transfers_(std::move(transfers)), place_(graph_.ops.size()) {
    ops_of_.resize(graph_.rank_number.size());
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      std::vector<std::int32_t>& own = ops_of_[graph_.rank_of(op)];
      place_[op] = static_cast<std::int32_t>(own.size());
      own.push_back(static_cast<std::int32_t>(op));
    }
  }

  FoldedGraph fold() {
    if (ranks() < 2 || !graph_.alike.empty() || waits_between_ranks()) return as_it_is();
    colour_ranks();
    std::map<std::size_t, std::size_t> first_of_colour;
    for (std::size_t rank = 0; rank < ranks(); ++rank)
      first_.push_back(first_of_colour.try_emplace(colours_[rank], rank).first->second);
    if (first_of_colour.size() == ranks()) return as_it_is();
    return kept();
  }

 private:
  std::size_t ranks() const { return graph_.rank_number.size(); }
  FoldedGraph as_it_is() { return {std::move(graph_), std::move(transfers_)}; }

  bool waits_between_ranks() const {
    for (std::size_t op = 0; op < graph_.ops.size(); ++op)
      for (const std::int32_t other : graph_.waits_of(op))
        if (graph_.rank_of(static_cast<std::size_t>(other)) != graph_.rank_of(op)) return true;
    return false;
  }

  std::vector<LocalOp> local_ops(std::size_t rank) const {
    std::map<std::int32_t, std::int32_t> streams;
    std::vector<LocalOp> local;
    for (const std::int32_t op : ops_of_[rank]) {
      const StepOp& of = graph_.ops[static_cast<std::size_t>(op)];
      LocalOp& own = local.emplace_back();
      own.duration = of.duration;
      own.computes = of.computes;
      own.transfers = of.transfer >= 0;
      if (!graph_.work.empty()) own.work = graph_.work[static_cast<std::size_t>(op)];
      if (of.stream >= 0)
        own.stream = streams.try_emplace(of.stream, static_cast<std::int32_t>(streams.size())).first->second;
      for (const std::int32_t other : graph_.waits_of(static_cast<std::size_t>(op)))
        own.waits.push_back(place_[static_cast<std::size_t>(other)]);
    }
    return local;
  }

  std::vector<std::size_t> ranks_apart() const {
    std::vector<Time> computing(ranks());
    for (const StepOp& op : graph_.ops)
      if (op.computes) computing[static_cast<std::size_t>(op.rank)] += op.duration;
    return slow_ranks(computing);
  }

  void colour_ranks() {
    const std::vector<std::size_t> apart = ranks_apart();
    DistinctValues<std::pair<std::size_t, std::vector<LocalOp>>> by_work;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      const bool alone = std::ranges::count(apart, rank) > 0;
      colours_.push_back(by_work.of({alone ? rank + 1 : 0, local_ops(rank)}));
    }
    transfer_colours_.resize(graph_.transfers.size());
    for (std::size_t before = 0, count = by_work.count(); before != count;) {
      before = count;
      count = refine();
    }
  }

  // Ends of a transfer: the colour of a rank, and which of its operations it is.
  using Ends = std::vector<std::pair<std::size_t, std::int32_t>>;

  // Returns the colours of ranks that there are then.
  std::size_t refine() {
    DistinctValues<std::tuple<Time, CollectiveKind, Ends>> by_ends;
    for (std::size_t t = 0; t < graph_.transfers.size(); ++t) {
      Ends ends;
      for (const std::int32_t member : graph_.transfers[t].members) {
        const auto op = static_cast<std::size_t>(member);
        ends.emplace_back(colours_[graph_.rank_of(op)], place_[op]);
      }
      std::ranges::sort(ends);
      transfer_colours_[t] = by_ends.of({transfers_[t], graph_.transfers[t].kind, std::move(ends)});
    }
    DistinctValues<std::pair<std::size_t, std::vector<std::size_t>>> by_meetings;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      std::vector<std::size_t> met;
      for (const std::int32_t op : ops_of_[rank])
        if (const std::int32_t transfer = graph_.ops[static_cast<std::size_t>(op)].transfer; transfer >= 0)
          met.push_back(transfer_colours_[static_cast<std::size_t>(transfer)]);
      colours_[rank] = by_meetings.of({colours_[rank], std::move(met)});
    }
    return by_meetings.count();
  }

  // Transfers of one colour begin and end together, and become one.
  FoldedGraph kept() {
    FoldedGraph folded;
    StepGraph& graph = folded.graph;
    graph.streams = graph_.streams;
    graph.notes = graph_.notes;
    graph.kinds_of_work = graph_.kinds_of_work;
    std::vector<std::int32_t> new_rank(ranks(), -1), new_op(graph_.ops.size(), -1);
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      PODSIM_CHECK(first_[rank] <= rank, "the first of a colour comes first");
      if (first_[rank] != rank) {
        graph.alike[static_cast<std::size_t>(new_rank[first_[rank]])].push_back(graph_.rank_number[rank]);
        continue;
      }
      new_rank[rank] = static_cast<std::int32_t>(graph.rank_number.size());
      graph.rank_number.push_back(graph_.rank_number[rank]);
      graph.alike.emplace_back();
      if (!graph_.stage.empty()) graph.stage.push_back(graph_.stage[rank]);
    }
    std::map<std::size_t, std::int32_t> transfer_of_colour;
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      if (new_rank[graph_.rank_of(op)] < 0) continue;
      StepOp own = graph_.ops[op];
      new_op[op] = static_cast<std::int32_t>(graph.ops.size());
      own.rank = new_rank[graph_.rank_of(op)];
      if (own.transfer >= 0) own.transfer = transfer_in(folded, own.transfer, transfer_of_colour, new_op[op]);
      graph.ops.push_back(own);
      if (!graph_.work.empty()) graph.work.push_back(graph_.work[op]);
    }
    std::vector<std::size_t> of_colour(transfer_colours_.size());
    for (const std::size_t colour : transfer_colours_) ++of_colour[colour];
    for (const auto& [colour, transfer] : transfer_of_colour)
      graph.transfers[static_cast<std::size_t>(transfer)].count = of_colour[colour];
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      if (new_op[op] < 0) continue;
      for (const std::int32_t other : graph_.waits_of(op)) {
        PODSIM_CHECK(new_op[static_cast<std::size_t>(other)] >= 0, "waits stay within a rank");
        graph.waits.push_back(new_op[static_cast<std::size_t>(other)]);
      }
      graph.first_wait.push_back(graph.waits.size());
    }
    return folded;
  }

  std::int32_t transfer_in(FoldedGraph& folded, std::int32_t transfer,
                           std::map<std::size_t, std::int32_t>& of_colour, std::int32_t member) const {
    const auto index = static_cast<std::size_t>(transfer);
    const auto next = static_cast<std::int32_t>(folded.graph.transfers.size());
    const auto [known, is_new] = of_colour.try_emplace(transfer_colours_[index], next);
    if (is_new) {
      folded.graph.transfers.push_back(graph_.transfers[index]);
      folded.graph.transfers.back().members.clear();
      folded.transfers.push_back(transfers_[index]);
    }
    folded.graph.transfers[static_cast<std::size_t>(known->second)].members.push_back(member);
    return known->second;
  }

  StepGraph graph_;
  std::vector<Time> transfers_;
  std::vector<std::int32_t> place_;                // [op] among those of its rank
  std::vector<std::vector<std::int32_t>> ops_of_;  // [rank]
  std::vector<std::size_t> colours_, transfer_colours_;
  std::vector<std::size_t> first_;  // [rank] the first of its colour
};

}  // namespace

FoldedGraph fold_graph(StepGraph graph, std::vector<Time> transfers) {
  PODSIM_CHECK(transfers.size() == graph.transfers.size(), "a time for each transfer");
  return Folder(std::move(graph), std::move(transfers)).fold();
}

}  // namespace podsim
