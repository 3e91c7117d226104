// Applies the rules of dependence stage by stage, then joins transfers into groups and orders those.
#include "scheduler/replay/replay_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "scheduler/replay/stage_ops.h"

namespace podsim {
namespace {

// Starts and ends nearer than this are taken for equal when a transfer is judged to be a no-op; of the public
// replay tool of these traces.
constexpr double kClockTolerance_s = 5e-5;

// The computations of one direction and the transfers that feed them and are fed by them.
struct Direction {
  OpType compute, send, recv;
  int send_to;  // chunk of the model, from that of the computation; recv comes from the other side
};
constexpr Direction kForward = {OpType::kForwardCompute, OpType::kForwardSend, OpType::kForwardRecv, 1};
constexpr Direction kBackward = {OpType::kBackwardCompute, OpType::kBackwardSend, OpType::kBackwardRecv, -1};

class GraphBuilder {
 public:
  explicit GraphBuilder(const RecordedTrace& trace) : types_(recorded_types(trace)), from_(trace, types_) {
    graph_.types = types_;
    graph_.stages = from_.stages();
    graph_.data_ranks = from_.data_ranks();
    graph_.chunks = from_.chunks();
    data_parallel_ = static_cast<std::int64_t>(from_.data_ranks()) * trace.sequence_ranks > 1;
    overlapped_ = data_parallel_ && types_.uses(OpType::kSeparateGradsAllReduce);
    for (const RecordedOp* row : from_.rows())
      graph_.ops.push_back({row->type, row->sequence, row->microbatch, row->stage, row->chunk, false});
  }

  ReplayGraph build() {
    for (int stage = 0; stage < graph_.stages; ++stage) {
      chain_streams(stage);
      match_transfers(stage, kForward);
      if (types_.uses(OpType::kBackwardCompute)) match_transfers(stage, kBackward);
      start_backward(stage);
      if (data_parallel_) join_data_ranks(stage);
      finish_step(stage);
    }
    for (const Direction& direction : {kForward, kBackward})
      if (!types_.uses(direction.send)) hand_on(direction);
    collect_groups();
    index_dependencies();
    order_groups();
    return std::move(graph_);
  }

 private:
  using Ops = std::vector<std::int32_t>;

  // `after` waits for the end of `before`.
  void wait(std::int32_t before, std::int32_t after) { edges_.emplace_back(after, before); }
  void chain(const Ops& ops) {
    for (std::size_t i = 1; i < ops.size(); ++i) wait(ops[i - 1], ops[i]);
  }

  void chain_streams(int stage) {
    chain(from_.sorted(stage, {OpType::kForwardCompute, OpType::kBackwardCompute}));
    for (const OpType type :
         {OpType::kForwardSend, OpType::kForwardRecv, OpType::kBackwardSend, OpType::kBackwardRecv})
      chain(from_.sorted(stage, {type}));
  }

  void match_transfers(int stage, const Direction& direction) {
    const Ops computes = from_.sorted(stage, {direction.compute});
    if (computes.empty())
      throw ReplayError("stage " + std::to_string(stage) + " has no " +
                        std::string(to_string(direction.compute)) + " on data rank 0");
    if (!types_.uses(direction.send)) return;
    double last_start = -std::numeric_limits<double>::infinity();
    double first_end = std::numeric_limits<double>::infinity();
    for (const std::int32_t op : computes) {
      last_start = std::max(last_start, from_.row(op).start_s);
      first_end = std::min(first_end, from_.end_s(op));
    }
    const auto received_in_time = [&](std::int32_t op) {
      return from_.row(op).start_s <= last_start + kClockTolerance_s;
    };
    const auto sent_in_time = [&](std::int32_t op) {
      return from_.end_s(op) >= first_end - kClockTolerance_s;
    };
    match(stage, direction, launched(stage, direction.recv, received_in_time), true);
    match(stage, direction, launched(stage, direction.send, sent_in_time), false);
  }

  // The transfers of a type that were launched, in their order; the others become no-ops.
  template <class Test>
  Ops launched(int stage, OpType type, const Test& test) {
    Ops kept;
    for (const std::int32_t op : from_.sorted(stage, {type})) {
      if (test(op)) kept.push_back(op);
      graph_.ops[op].no_op = !test(op);
    }
    return kept;
  }

  // The transfers belong to the computations of their direction one by one; a receive before the first one
  // may be missing at the ends of the pipeline, and so may all of a type.
  void match(int stage, const Direction& direction, const Ops& transfers, bool receive) {
    const int computes = from_.count(stage, direction.compute);
    const int missing = computes - static_cast<int>(transfers.size());
    const bool end_of_pipeline = stage == 0 || stage == graph_.stages - 1;
    const bool none_needed = transfers.empty() && end_of_pipeline;
    if (missing != 0 && !(missing == 1 && end_of_pipeline) && !none_needed)
      throw ReplayError("stage " + std::to_string(stage) + " launches " + std::to_string(transfers.size()) +
                        " " + std::string(to_string(receive ? direction.recv : direction.send)) + " for " +
                        std::to_string(computes) + " " + std::string(to_string(direction.compute)) +
                        " on data rank 0");
    int sequence = receive && missing == 1 ? 1 : 0;
    for (const std::int32_t transfer : transfers) {
      const std::int32_t compute = from_.need(stage, direction.compute, sequence);
      const int peer = from_.row(compute).global_chunk + (receive ? -direction.send_to : direction.send_to);
      if (peer < 0 || peer >= graph_.chunks * graph_.stages) graph_.ops[transfer].no_op = true;
      if (receive) {
        wait(transfer, compute);
        const std::int32_t previous = from_.find(stage, direction.compute, sequence - 1);
        if (previous >= 0) wait(previous, transfer);
      } else {
        wait(compute, transfer);
      }
      ++sequence;
    }
  }

  // The first transfers of the way back are posted two computations ahead of the first backward pass.
  void start_backward(int stage) {
    const Ops stream = from_.sorted(stage, {OpType::kForwardCompute, OpType::kBackwardCompute});
    const auto first = std::ranges::find_if(
        stream, [&](std::int32_t op) { return from_.row(op).type == OpType::kBackwardCompute; });
    if (first - stream.begin() < 2) return;
    for (const OpType type : {OpType::kBackwardSend, OpType::kBackwardRecv}) {
      const std::int32_t transfer = from_.find(stage, type, 0);
      if (transfer >= 0) wait(*(first - 2), transfer);
    }
  }

  // The ops of a type of the stage that belong to a chunk, in the order of rows.
  Ops of_chunk(int stage, OpType type, int chunk) const {
    Ops ops;
    for (const std::int32_t op : from_.sorted(stage, {type}))
      if (from_.row(op).chunk == chunk) ops.push_back(op);
    std::ranges::sort(ops);
    return ops;
  }

  // Parameters are gathered before the first use of a chunk; where it overlaps, gradients are scattered after
  // the last.
  void join_data_ranks(int stage) {
    chain(from_.sorted(stage, {OpType::kParamsAllGather, OpType::kGradsReduceScatter}));
    const auto sequence = [&](std::int32_t op) { return from_.row(op).sequence; };
    for (int chunk = 0; chunk < graph_.chunks; ++chunk) {
      const Ops gathers = of_chunk(stage, OpType::kParamsAllGather, chunk);
      const Ops forwards = of_chunk(stage, OpType::kForwardCompute, chunk);
      if (!gathers.empty() && !forwards.empty())
        wait(*std::ranges::max_element(gathers, {}, sequence),
             *std::ranges::min_element(forwards, {}, [&](std::int32_t op) { return from_.row(op).start_s; }));
      const Ops scatters = of_chunk(stage, OpType::kGradsReduceScatter, chunk);
      const Ops backwards = of_chunk(stage, OpType::kBackwardCompute, chunk);
      if (overlapped_ && !scatters.empty() && !backwards.empty())
        wait(from_.latest_ending(backwards), *std::ranges::min_element(scatters, {}, sequence));
    }
  }

  // Without transfers the computation of a microbatch waits for that of the chunk that hands on to it.
  void hand_on(const Direction& direction) {
    std::map<int, Ops> by_chunk;  // of the whole model; in the order of microbatches
    for (int stage = 0; stage < graph_.stages; ++stage)
      for (const std::int32_t op : from_.of_type(stage, direction.compute))
        by_chunk[chunk_of_model(from_.row(op))].push_back(op);
    for (const auto& [chunk, ops] : by_chunk) {
      const auto next = by_chunk.find(chunk + direction.send_to);
      if (next == by_chunk.end()) continue;
      if (next->second.size() != ops.size())
        throw ReplayError("chunks " + std::to_string(chunk) + " and " + std::to_string(next->first) +
                          " of the model have " + std::to_string(ops.size()) + " and " +
                          std::to_string(next->second.size()) + " " +
                          std::string(to_string(direction.compute)) + " on data rank 0");
      for (std::size_t i = 0; i < ops.size(); ++i) wait(ops[i], next->second[i]);
    }
  }

  int chunk_of_model(const RecordedOp& op) const {
    return op.global_chunk >= 0 ? op.global_chunk : std::max<int>(op.chunk, 0) * graph_.stages + op.stage;
  }

  // What follows the computations of a stage, one after the other; types that the trace has nowhere are left
  // out.
  void finish_step(int stage) {
    const int scatters = from_.count(stage, OpType::kGradsReduceScatter);
    const bool end_of_pipeline = stage == 0 || stage == graph_.stages - 1;
    Ops tail = {
        from_.latest_ending(from_.sorted(stage, {OpType::kForwardCompute, OpType::kBackwardCompute}))};
    const auto follow = [&](OpType type) {
      if (types_.uses(type)) tail.push_back(from_.need(stage, type, 0));
    };
    follow(OpType::kGarbageCollection);
    const std::size_t after_collection = tail.size();
    follow(OpType::kLayernormGradsAllReduce);
    if (end_of_pipeline) follow(OpType::kEmbeddingGradsAllReduce);
    if (overlapped_) {
      follow(OpType::kSeparateGradsAllReduce);
      if (scatters > 0)
        wait(from_.need(stage, OpType::kGradsReduceScatter, scatters - 1), tail[after_collection]);
    } else if (data_parallel_) {
      for (int k = 0; k < scatters; ++k) tail.push_back(from_.need(stage, OpType::kGradsReduceScatter, k));
    }
    follow(OpType::kClip);
    follow(OpType::kOptimizer);
    chain(tail);
  }

  enum class GroupKind { kLone, kTransfer, kTransferAcrossRanks };

  void add_group(Ops members, GroupKind kind) {
    graph_.groups.push_back({static_cast<std::int32_t>(graph_.members.size()),
                             static_cast<std::int32_t>(members.size()), kind != GroupKind::kLone,
                             kind == GroupKind::kTransferAcrossRanks});
    graph_.members.insert(graph_.members.end(), members.begin(), members.end());
    for (const std::int32_t op : members) group_[op] = static_cast<std::int32_t>(graph_.groups.size()) - 1;
  }

  // Number v of the senders of a stage meets number v of the receivers of its neighbour.
  void pair(const Direction& direction) {
    const auto launched_of = [&](int stage, OpType type) {
      Ops ops = from_.sorted(stage, {type});
      std::erase_if(ops, [&](std::int32_t op) { return graph_.ops[op].no_op; });
      return ops;
    };
    for (int stage = 0; stage < graph_.stages; ++stage) {
      const int peer = (stage + direction.send_to + graph_.stages) % graph_.stages;
      const Ops sends = launched_of(stage, direction.send), receives = launched_of(peer, direction.recv);
      if (sends.size() != receives.size())
        throw ReplayError("stage " + std::to_string(stage) + " has " + std::to_string(sends.size()) + " " +
                          std::string(to_string(direction.send)) + ", stage " + std::to_string(peer) + " " +
                          std::to_string(receives.size()) + " " + std::string(to_string(direction.recv)) +
                          ": they do not pair");
      for (std::size_t v = 0; v < sends.size(); ++v) add_group({sends[v], receives[v]}, GroupKind::kTransfer);
    }
  }

  // The same op on every stage of `stages` that has it, once for every number.
  void join_stages(OpType type, const std::vector<int>& stages, GroupKind kind) {
    for (const int stage : stages) {
      for (const std::int32_t op : from_.sorted(stage, {type})) {
        if (group_[op] >= 0) continue;
        Ops members;
        for (const int other : stages) {
          const std::int32_t peer = from_.find(other, type, from_.row(op).sequence);
          if (peer >= 0) members.push_back(peer);
        }
        add_group(std::move(members), kind);
      }
    }
  }

  void collect_groups() {
    group_.assign(graph_.ops.size(), -1);
    pair(kForward);
    pair(kBackward);
    std::vector<int> all, ends = {0};
    for (int stage = 0; stage < graph_.stages; ++stage) all.push_back(stage);
    if (graph_.stages > 1) ends.push_back(graph_.stages - 1);
    join_stages(OpType::kEmbeddingGradsAllReduce, ends, GroupKind::kTransfer);
    join_stages(OpType::kClip, all, GroupKind::kTransferAcrossRanks);
    if (data_parallel_) {
      for (const int stage : all)
        for (const OpType type :
             {OpType::kParamsAllGather, OpType::kGradsReduceScatter, OpType::kSeparateGradsAllReduce})
          join_stages(type, {stage}, GroupKind::kTransferAcrossRanks);
    }
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      if (group_[op] < 0)
        add_group({static_cast<std::int32_t>(op)},
                  transfers_alone(graph_.ops[op].type) ? GroupKind::kTransfer : GroupKind::kLone);
    }
  }

  // Whether the recorded duration of an op without peers holds a transfer: of no-ops it does.
  bool transfers_alone(OpType type) const {
    const bool of_data_ranks = type == OpType::kParamsAllGather || type == OpType::kGradsReduceScatter ||
                               type == OpType::kSeparateGradsAllReduce;
    return is_communication(type) && type != OpType::kLayernormGradsAllReduce && !of_data_ranks;
  }

  void index_dependencies() {
    std::ranges::stable_sort(edges_, {}, [](const auto& edge) { return edge.first; });
    graph_.first_dependency.assign(graph_.ops.size() + 1, 0);
    for (const auto& [after, before] : edges_) {
      ++graph_.first_dependency[after + 1];
      graph_.dependencies.push_back(before);
    }
    for (std::size_t op = 0; op < graph_.ops.size(); ++op)
      graph_.first_dependency[op + 1] += graph_.first_dependency[op];
  }

  // Groups whose dependencies are all in the order come next, first found first.
  void order_groups() {
    std::vector<std::vector<std::int32_t>> followers(graph_.groups.size());
    std::vector<int> open(graph_.groups.size());
    for (const auto& [after, before] : edges_) {
      followers[group_[before]].push_back(group_[after]);
      ++open[group_[after]];
    }
    Ops order;
    for (std::size_t g = 0; g < open.size(); ++g)
      if (open[g] == 0) order.push_back(static_cast<std::int32_t>(g));
    for (std::size_t next = 0; next < order.size(); ++next)
      for (const std::int32_t follower : followers[order[next]])
        if (--open[follower] == 0) order.push_back(follower);
    if (order.size() < open.size()) {
      const auto stuck = std::ranges::find_if(open, [](int count) { return count > 0; }) - open.begin();
      throw ReplayError("operations wait for each other in a circle, among them " +
                        describe(graph_.ops[graph_.members[graph_.groups[stuck].first]]));
    }
    std::vector<ReplayGroup> sorted;
    for (const std::int32_t g : order) sorted.push_back(graph_.groups[g]);
    graph_.groups = std::move(sorted);
  }

  const RecordedTypes types_;
  StageOps from_;
  ReplayGraph graph_;
  bool data_parallel_ = false, overlapped_ = false;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges_;  // (op, the op that it waits for)
  Ops group_;                                                 // [op]
};

}  // namespace

std::string describe(const ReplayOp& op) {
  return std::string(to_string(op.type)) + " " + std::to_string(op.sequence) + " of stage " +
         std::to_string(op.stage);
}

ReplayGraph build_replay_graph(const RecordedTrace& trace) { return GraphBuilder(trace).build(); }

}  // namespace podsim
