// Charges each wait to the member that was ready last, the lowest rank of several.
#include "scheduler/replay/waits.h"

#include <algorithm>
#include <cstdint>

namespace podsim {
namespace {

constexpr std::size_t kMostWaits = 20;

class WaitTable {
 public:
  WaitTable(const ReplayGraph& graph, const OperationTimes& times, const Replayer& replayer)
      : graph_(graph),
        times_(times),
        replayer_(replayer),
        ranks_(static_cast<std::size_t>(times.data_ranks)) {}

  struct Pair {
    std::uint64_t workers;  // waiter * all + last
    double seconds;
  };

  // Sums by pair of workers, in the order of pairs.
  std::vector<Pair> sums() {
    for (const ReplayGroup& group : graph_.groups) {
      if (!group.transfers || (group.count == 1 && !group.across_ranks)) continue;
      for (std::size_t step = 0; step < times_.steps.size(); ++step) {
        const std::size_t first = step * ranks_;
        if (group.across_ranks) {
          meet(group, first, first + ranks_);
        } else {
          for (std::size_t column = first; column < first + ranks_; ++column) meet(group, column, column + 1);
        }
      }
      if (pairs_.size() > kMostUnsorted) add_up();
    }
    add_up();
    return std::move(pairs_);
  }

 private:
  static constexpr std::size_t kMostUnsorted = 1u << 18;

  // The members of a group on the data ranks of these columns.
  void meet(const ReplayGroup& group, std::size_t begin, std::size_t end) {
    ready_.clear();
    for (const std::int32_t op : graph_.members_of(group)) {
      for (std::size_t column = begin; column < end; ++column) {
        const std::uint64_t worker =
            (column % ranks_) * static_cast<std::uint64_t>(graph_.stages) + graph_.ops[op].stage;
        ready_.push_back({worker, replayer_.ready(op, column)});
      }
    }
    const auto last = std::ranges::max_element(ready_, {}, &Pair::seconds);
    const std::uint64_t workers = ranks_ * static_cast<std::uint64_t>(graph_.stages);
    for (const Pair& member : ready_)
      if (member.seconds < last->seconds)
        pairs_.push_back({member.workers * workers + last->workers, last->seconds - member.seconds});
  }

  void add_up() {
    std::ranges::stable_sort(pairs_, {}, &Pair::workers);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (kept > 0 && pairs_[kept - 1].workers == pairs_[i].workers) {
        pairs_[kept - 1].seconds += pairs_[i].seconds;
      } else {
        pairs_[kept++] = pairs_[i];
      }
    }
    pairs_.resize(kept);
  }

  const ReplayGraph& graph_;
  const OperationTimes& times_;
  const Replayer& replayer_;
  const std::size_t ranks_;
  std::vector<Pair> ready_;  // of the group at hand; `workers` is one worker here
  std::vector<Pair> pairs_;
};

}  // namespace

std::vector<WaitedFor> waits(const ReplayGraph& graph, const OperationTimes& times, const Replayer& replayer,
                             const std::vector<Worker>& workers) {
  auto sums = WaitTable(graph, times, replayer).sums();
  std::ranges::stable_sort(sums, std::ranges::greater(), &WaitTable::Pair::seconds);
  if (sums.size() > kMostWaits) sums.resize(kMostWaits);
  std::vector<WaitedFor> longest;
  for (const auto& [pair, seconds] : sums)
    longest.push_back({workers[pair / workers.size()], workers[pair % workers.size()],
                       seconds / static_cast<double>(times.steps.size())});
  return longest;
}

}  // namespace podsim
