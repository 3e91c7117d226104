// Takes in one stream of collectives after the other, those of most operations first, as long as logical
// processes stay small.
#include "scheduler/simulation/logical_processes/logical_processes.h"

#include <algorithm>
#include <numeric>

namespace podsim {
namespace {

// Operations inside logical processes for one that crosses them, at least: while one runs they do not come
// apart. Chosen, not measured.
constexpr std::int64_t kSeldom = 8;

using InnerStreams = std::array<bool, kNetworkStreams>;
using OperationCounts = std::array<std::int64_t, kNetworkStreams>;

class ProcessFinder {
 public:
  ProcessFinder(const System& system, const StreamOperations& lists)
      : system_(system), lists_(lists), operations_(count_operations(system, lists)) {}

  LogicalProcesses find() {
    InnerStreams inner{};
    for (const Stream stream : busiest_first()) {
      InnerStreams more = inner;
      more[static_cast<std::size_t>(stream)] = true;
      if (can_be_inner(more)) inner = more;
    }
    return largest(number_processes(inner)) > 1 ? describe(inner) : LogicalProcesses{};
  }

 private:
  static constexpr std::int32_t kNone = -1;

  // [stream] operations that chips launch on it over a step. O(lists).
  static OperationCounts count_operations(const System& system, const StreamOperations& lists) {
    std::vector<std::int64_t> chips_of(system.step.stages.size(), 0);
    for (const ChipClass& chip : system.chips) ++chips_of[chip.program];
    OperationCounts operations{};
    for (std::size_t program = 0; program < chips_of.size(); ++program)
      for (const StreamList& queue : lists.lists_of(static_cast<int>(program)))
        operations[static_cast<std::size_t>(queue.stream)] += chips_of[program] * queue.count;
    return operations;
  }

  // Streams of collectives.
  std::vector<Stream> busiest_first() const {
    std::vector<Stream> order;
    for (std::size_t s = 0; s < operations_.size(); ++s)
      if (operations_[s] > 0 && static_cast<Stream>(s) < Stream::kForwardNext)
        order.push_back(static_cast<Stream>(s));
    std::stable_sort(order.begin(), order.end(), [&](Stream a, Stream b) {
      return operations_[static_cast<std::size_t>(a)] > operations_[static_cast<std::size_t>(b)];
    });
    return order;
  }

  bool can_be_inner(const InnerStreams& inner) const {
    return largest(number_processes(inner)) <=
               std::min(LogicalProcesses::kMostChips, system_.chips.size() / 2) &&
           !list_owners(inner).empty() && seldom_crossed(inner);
  }

  bool seldom_crossed(const InnerStreams& inner) const {
    const std::vector<std::int32_t> owner = list_owners(inner);
    InnerStreams crosses{};
    for (const StreamOperations::Rendezvous& rendezvous : lists_.all_rendezvous())
      for_each_link(rendezvous, [&](std::int32_t link) {
        if (owner[link] != kNone) crosses[static_cast<std::size_t>(rendezvous.stream)] = true;
      });
    std::int64_t inside = 0, across = 0;
    for (std::size_t s = 0; s < inner.size(); ++s) {
      if (inner[s]) inside += operations_[s];
      if (crosses[s] && !inner[s]) across += operations_[s];
    }
    return across * kSeldom <= inside;
  }

  static std::size_t largest(const std::vector<std::int32_t>& process_of) {
    std::vector<std::size_t> sizes(process_of.size(), 0);
    for (const std::int32_t process : process_of) ++sizes[process];
    return *std::max_element(sizes.begin(), sizes.end());
  }

  // [chip class] its logical process, in the order of their first chips.
  std::vector<std::int32_t> number_processes(const InnerStreams& inner) const {
    std::vector<std::size_t> parent(system_.chips.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](std::size_t c) {
      while (parent[c] != c) c = parent[c] = parent[parent[c]];
      return c;
    };
    for (const StreamOperations::Rendezvous& rendezvous : lists_.all_rendezvous()) {
      if (!inner[static_cast<std::size_t>(rendezvous.stream)]) continue;
      const std::vector<std::int32_t>& members = system_.groups[rendezvous.group].members;
      for (const std::int32_t c : members)
        parent[find(static_cast<std::size_t>(c))] = find(static_cast<std::size_t>(members.front()));
    }
    std::vector<std::int32_t> number(parent.size(), kNone), process_of;
    std::int32_t processes = 0;
    for (std::size_t c = 0; c < parent.size(); ++c) {
      std::int32_t& process = number[find(c)];
      if (process == kNone) process = processes++;
      process_of.push_back(process);
    }
    return process_of;
  }

  template <class Visit>
  void for_each_link(const StreamOperations::Rendezvous& rendezvous, Visit&& visit) const {
    for (const std::vector<ClassPhase>& pattern : system_.groups[rendezvous.group].patterns)
      for (const ClassPhase& phase : pattern)
        for (const Use& use : phase.uses) visit(use.resource);
  }

  // [link class] the inner rendezvous that alone of them ever loads it, or kNone. Empty where two do, or
  // nothing passes.
  std::vector<std::int32_t> list_owners(const InnerStreams& inner) const {
    std::vector<std::int32_t> owner(system_.links.size(), kNone);
    bool apart = true;
    for (std::size_t m = 0; m < lists_.all_rendezvous().size(); ++m) {
      if (!inner[static_cast<std::size_t>(lists_.all_rendezvous()[m].stream)]) continue;
      const auto number = static_cast<std::int32_t>(m);
      for_each_link(lists_.all_rendezvous()[m], [&](std::int32_t link) {
        apart = apart && (owner[link] == kNone || owner[link] == number) &&
                system_.links[link].bandwidth.value > 0;
        owner[link] = number;
      });
    }
    return apart ? owner : std::vector<std::int32_t>{};
  }

  LogicalProcesses describe(const InnerStreams& inner) const {
    LogicalProcesses result;
    result.inner_streams = inner;
    result.of_chip = number_processes(inner);
    using Numbers = std::vector<std::vector<std::int32_t>>;
    Numbers chips(
        static_cast<std::size_t>(*std::max_element(result.of_chip.begin(), result.of_chip.end()) + 1));
    for (std::size_t c = 0; c < result.of_chip.size(); ++c) {
      result.place.push_back(static_cast<std::int32_t>(chips[result.of_chip[c]].size()));
      chips[result.of_chip[c]].push_back(static_cast<std::int32_t>(c));
    }
    const auto process_of = [&](const StreamOperations::Rendezvous& rendezvous) {
      return result.of_chip[system_.groups[rendezvous.group].members.front()];
    };
    Numbers all_rendezvous(chips.size()), all_crossed;
    const std::vector<std::int32_t> owner = list_owners(inner);
    for (const StreamOperations::Rendezvous& rendezvous : lists_.all_rendezvous()) {
      std::vector<std::int32_t>& crossed = all_crossed.emplace_back();
      const bool is_inner = inner[static_cast<std::size_t>(rendezvous.stream)];
      const auto number = static_cast<std::int32_t>(result.of_rendezvous.size());
      result.of_rendezvous.push_back(is_inner ? process_of(rendezvous) : LogicalProcesses::kShared);
      if (is_inner) {
        all_rendezvous[process_of(rendezvous)].push_back(number);
        continue;
      }
      for_each_link(rendezvous, [&](std::int32_t link) {
        if (owner[link] != kNone) crossed.push_back(process_of(lists_.all_rendezvous()[owner[link]]));
      });
      std::sort(crossed.begin(), crossed.end());
      crossed.erase(std::unique(crossed.begin(), crossed.end()), crossed.end());
    }
    result.chips = Lists(chips);
    result.all_rendezvous = Lists(all_rendezvous);
    result.crossed = Lists(all_crossed);
    return result;
  }

  const System& system_;
  const StreamOperations& lists_;
  const OperationCounts operations_;
};

}  // namespace

LogicalProcesses find_logical_processes(const System& system, const StreamOperations& lists) {
  return ProcessFinder(system, lists).find();
}

}  // namespace podsim
