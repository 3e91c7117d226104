// Nodes become operations rank by rank; meetings become transfers.
#include "ingest/chakra/step_of_ranks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "engine/unit_factors.h"
#include "ingest/chakra/alike_ranks.h"
#include "scheduler/replay/run_graph.h"

namespace podsim::chakra {
namespace {

constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;

enum RankStream { kChip, kHost, kStreamsOfRank };

// How podsim times what a trace calls by another name; nothing where nothing moves.
std::optional<CollectiveKind> kind_of(const Node& node) {
  if (node.type != NodeType::kCollective) return CollectiveKind::kSendReceive;
  switch (node.collective) {
    case 0:
      return CollectiveKind::kAllReduce;
    case 1:  // reduce: the bytes of a broadcast, the other way round
    case 4:  // scatter
    case 5:
      return CollectiveKind::kBroadcast;
    case 2:
    case 3:  // gather: one rank takes in what an all-gather gives to each
      return CollectiveKind::kAllGather;
    case 6:
      return CollectiveKind::kAllToAll;
    case 7:
    case 8:
      return CollectiveKind::kReduceScatter;
    case 9:
      return CollectiveKind::kBarrier;
    default:
      return std::nullopt;
  }
}

// A trace has what one rank puts in: of an all-gather a shard.
Bytes bytes_of(CollectiveKind kind, std::int64_t bytes, std::size_t ranks) {
  const double put_in = static_cast<double>(std::max<std::int64_t>(bytes, 0));
  return {kind == CollectiveKind::kAllGather ? put_in * static_cast<double>(ranks) : put_in};
}

// Puts the traces together.
class Builder {
 public:
  Builder(const std::vector<RankTrace>& ranks, const Groups& groups, std::int64_t chips,
          const std::optional<Roofline>& roofline)
      : ranks_(ranks), groups_(groups), chips_(chips), roofline_(roofline) {}

  StepGraph build(const TransferTimer* timer) {
    check_durations();
    find_transfers();
    const AlikeRanks alike = timer == nullptr ? all_apart() : alike_on(*timer);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add_rank(rank, alike.first[rank]);
    add_transfers(alike);
    for (std::vector<std::int32_t>& waits : waits_) {
      graph_.waits.insert(graph_.waits.end(), waits.begin(), waits.end());
      graph_.first_wait.push_back(graph_.waits.size());
    }
    if (ranks_.size() == 1 && chips_ > 1)
      graph_.notes.push_back("one rank stands for all " + std::to_string(chips_) + " ranks");
    note_work();
    for (const auto& [note, count] : notes_) graph_.notes.push_back(std::to_string(count) + " " + note);
    return std::move(graph_);
  }

 private:
  // Of a node that moves no data.
  double seconds_of(const Node& node) const {
    constexpr double kSecondsPerMicrosecond = 1e-6;
    if (roofline_ && has_work(node)) return seconds_at(*roofline_, node);
    return static_cast<double>(node.duration_us) * kSecondsPerMicrosecond;
  }

  // Exact where it is recorded.
  Time time_of(const Node& node) const {
    if (roofline_ && has_work(node)) return Time::seconds(seconds_of(node));
    return {node.duration_us * kPicosecondsPerMicrosecond};
  }

  // Times of a run fit their 64 bits.
  void check_durations() const {
    constexpr double kMostSeconds = 50 * kSecondsPerDay;
    double sum = 0;
    for (const RankTrace& rank : ranks_)
      for (const Node& node : rank.trace->nodes)
        if (!node.moves_data()) sum += seconds_of(node);
    if (sum > kMostSeconds)
      throw ReplayError("the computations of all ranks take more than 50 days together");
  }

  // What computations take their time from, where that is not plain.
  void note_work() {
    std::int64_t untimed_on_hosts = 0, untimed_on_devices = 0;
    for (const RankTrace& rank : ranks_) {
      untimed_on_hosts += rank.summary->host_untimed;
      untimed_on_devices += rank.summary->device_untimed;
      if (!roofline_) continue;
      const auto timed = std::ranges::count_if(rank.trace->nodes, has_work);
      const std::int64_t recorded = rank.summary->device_operations - timed;
      if (timed > 0)
        notes_["computations take what " + roofline_->chip + " needs for their operations and bytes"] +=
            timed;
      if (recorded > 0)
        notes_["computations without operations and bytes take as long as recorded"] += recorded;
    }
    for (std::string& note : untimed_notes(untimed_on_hosts, roofline_ ? 0 : untimed_on_devices))
      graph_.notes.push_back(std::move(note));
  }

  // Of all computations of a chip.
  Time computing_of(const RankTrace& rank) const {
    Time sum;
    for (const Node& node : rank.trace->nodes)
      if (node.type == NodeType::kCompute && !node.on_host) sum += time_of(node);
    return sum;
  }

  const Node& node_of(const Meeting::End& end) const {
    return ranks_[end.rank].trace->nodes[static_cast<std::size_t>(end.node)];
  }

  // Meetings in which data move, and what moves.
  void find_transfers() {
    std::vector<Problem> none;
    for (Meeting& meeting : meetings_of(ranks_, groups_, none)) {
      const Node& node = node_of(meeting.ends.front());
      const auto kind = kind_of(node);
      if (!kind) {
        ++notes_["collectives without comm_type take no time"];
        continue;
      }
      RecordedTransfer transfer;
      transfer.kind = *kind;
      transfer.group = group_of(meeting, node);
      transfer.bytes = bytes_of(*kind, node.bytes, transfer.group.size());
      moved_.push_back(std::move(transfer));
      meetings_.push_back(std::move(meeting));
    }
  }

  AlikeRanks all_apart() const {
    AlikeRanks apart{std::vector<std::size_t>(ranks_.size()), std::vector<std::size_t>(meetings_.size())};
    std::iota(apart.first.begin(), apart.first.end(), std::size_t{0});
    std::iota(apart.meeting.begin(), apart.meeting.end(), std::size_t{0});
    return apart;
  }

  // A slow rank is asked what the step would gain without it, and stands for itself.
  AlikeRanks alike_on(const TransferTimer& timer) const {
    std::vector<Time> times, computing;
    for (const RecordedTransfer& transfer : moved_)
      times.push_back(timer(transfer.kind, transfer.bytes, transfer.group));
    for (const RankTrace& rank : ranks_) computing.push_back(computing_of(rank));
    return alike_ranks(ranks_, meetings_, times, slow_ranks(computing));
  }

  void add_rank(std::size_t place, std::size_t first) {
    const RankTrace& rank = ranks_[place];
    if (first != place) {
      const auto kept = static_cast<std::size_t>(graph_.ops[static_cast<std::size_t>(first_op_[first])].rank);
      graph_.alike[kept].push_back(rank.rank);
      first_op_.push_back(kLeftOut);
      return;
    }
    const auto index = static_cast<std::int32_t>(graph_.rank_number.size());
    graph_.rank_number.push_back(rank.rank);
    graph_.alike.emplace_back();
    first_op_.push_back(static_cast<std::int32_t>(graph_.ops.size()));
    place_of_.push_back(place);
    const std::vector<const Lists*> lists = waits_of(*rank.trace, rank.summary->used);
    for (std::size_t node = 0; node < rank.trace->nodes.size(); ++node) {
      const Node& of = rank.trace->nodes[node];
      StepOp op;
      op.node = of.id;
      op.rank = index;
      if (!of.moves_data()) {
        op.duration = time_of(of);
        op.computes = of.type == NodeType::kCompute && !of.on_host;
        if (of.type != NodeType::kMetadata) op.stream = index * kStreamsOfRank + (of.on_host ? kHost : kChip);
      }
      graph_.ops.push_back(op);
      std::vector<std::int32_t>& waits = waits_.emplace_back();
      for (const Lists* list : lists)
        for (const std::int32_t other : list->of(node)) waits.push_back(first_op_.back() + other);
    }
    graph_.streams += kStreamsOfRank;
  }

  // Ranks of the run that take part.
  std::vector<std::int32_t> group_of(const Meeting& meeting, const Node& node) const {
    std::vector<std::int32_t> group;
    const RankTrace& first = ranks_[meeting.ends.front().rank];
    const std::string name = first.trace->group_of(node).value_or("");
    const auto stated = groups_.find(name.empty() ? "0" : name);
    if (node.type == NodeType::kCollective && stated != groups_.end() && !stated->second.empty()) {
      group.assign(stated->second.begin(), stated->second.end());
    } else if (node.type == NodeType::kCollective && ranks_.size() == 1) {
      group.resize(static_cast<std::size_t>(chips_));
      std::iota(group.begin(), group.end(), 0);
    } else {
      for (const Meeting::End& end : meeting.ends)
        group.push_back(static_cast<std::int32_t>(ranks_[end.rank].rank));
    }
    return group;
  }

  // Meetings that begin and end together are one, of the ranks that are kept.
  void add_transfers(const AlikeRanks& alike) {
    std::map<std::pair<std::size_t, std::string>, std::int32_t>
        last;                                   // [rank, group or message] its last call
    std::map<std::size_t, std::int32_t> known;  // [meeting] its transfer
    for (std::size_t m = 0; m < meetings_.size(); ++m) {
      const Meeting& meeting = meetings_[m];
      if (std::ranges::all_of(meeting.ends, [&](const auto& end) { return first_op_[end.rank] == kLeftOut; }))
        continue;
      const auto next = static_cast<std::int32_t>(graph_.transfers.size());
      const auto [transfer, is_new] = known.try_emplace(alike.meeting[m], next);
      if (is_new) graph_.transfers.push_back(moved_[m]);
      const std::string route = route_of(meeting, moved_[m]);
      for (const Meeting::End& end : meeting.ends) {
        if (first_op_[end.rank] == kLeftOut) continue;
        const std::int32_t op = first_op_[end.rank] + end.node;
        graph_.ops[static_cast<std::size_t>(op)].transfer = transfer->second;
        graph_.transfers[static_cast<std::size_t>(transfer->second)].members.push_back(op);
        const auto [before, is_first] = last.try_emplace({end.rank, route}, op);
        if (!is_first) waits_[static_cast<std::size_t>(op)].push_back(std::exchange(before->second, op));
      }
    }
    for (std::size_t op = 0; op < graph_.ops.size(); ++op) {
      const StepOp& of = graph_.ops[op];
      const auto rank = static_cast<std::size_t>(of.rank);
      const std::size_t place = place_of_[rank];
      const Node& node = ranks_[place].trace->nodes[op - static_cast<std::size_t>(first_op_[place])];
      if (of.transfer < 0 && (node.type == NodeType::kSend || node.type == NodeType::kReceive))
        notes_["messages with ranks that are not there take no time"] +=
            1 + static_cast<std::int64_t>(graph_.alike[rank].size());
    }
  }

  // Calls on it go one after the other.
  std::string route_of(const Meeting& meeting, const RecordedTransfer& transfer) const {
    const Meeting::End& first = meeting.ends.front();
    const Node& node = node_of(first);
    if (node.type == NodeType::kCollective)
      return "group " + ranks_[first.rank].trace->group_of(node).value_or("");
    return "to " + std::to_string(transfer.group.front()) + " " + std::to_string(transfer.group.back()) +
           " tag " + std::to_string(node.tag);
  }

  static constexpr std::int32_t kLeftOut = -1;

  const std::vector<RankTrace>& ranks_;
  const Groups& groups_;
  std::int64_t chips_;
  const std::optional<Roofline>& roofline_;
  StepGraph graph_;
  std::vector<Meeting> meetings_;
  std::vector<RecordedTransfer> moved_;           // [meeting] without members
  std::vector<std::int32_t> first_op_;            // [place among the traces], or kLeftOut
  std::vector<std::size_t> place_of_;             // [rank of the graph] among the traces
  std::vector<std::vector<std::int32_t>> waits_;  // [op]
  std::map<std::string, std::int64_t> notes_;
};

}  // namespace

StepGraph step_of_ranks(const std::vector<RankTrace>& ranks, const Groups& groups, std::int64_t chips,
                        const TransferTimer* timer, const std::optional<Roofline>& roofline) {
  return Builder(ranks, groups, chips, roofline).build(timer);
}

}  // namespace podsim::chakra
