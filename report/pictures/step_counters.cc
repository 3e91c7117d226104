// Adds up what collectives put on links, window by window of a step, and what passes leave in memory.
#include "report/pictures/step_counters.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "engine/binary_units.h"
#include "report/pictures/step_detail.h"
#include "report/text/text.h"
#include "scheduler/simulation/state/timeline_parts.h"

namespace podsim {
namespace {

constexpr std::size_t kMostLinks = 32;
constexpr std::int64_t kWindows = 1000;  // of a step

// Adds a value, unless it is the one that holds.
void change_to(StepCounter& counter, Time at, double value) {
  if (!counter.values.empty() && counter.values.back().second == value) return;
  counter.values.emplace_back(at, value);
}

CounterGroup memory_along(const System& system, const StepProgram& program, const Timeline& timeline) {
  CounterGroup group{"Memory of a chip", "GiB", {}};
  for (const StagePasses& stage : stage_passes(system, timeline)) {
    const MemoryUse& use = program.memory[static_cast<std::size_t>(stage.stage)];
    const double activations = use.activations.value, rest = use.total().value - activations;
    StepCounter counter{"stage " + std::to_string(stage.stage), {}, stage.stage};
    const std::vector<HeldShare> held = held_along(stage, program);
    if (held.empty()) change_to(counter, {}, (rest + activations) / kBytesPerGib);
    for (const HeldShare& each : held)
      change_to(counter, each.at, (rest + activations * each.share) / kBytesPerGib);
    group.counters.push_back(std::move(counter));
  }
  return group;
}

// The classes of links that are used most, the busiest of each kind first, then the second of each, and so
// on.
std::vector<std::size_t> busiest_links(const Timeline& timeline) {
  std::vector<std::size_t> links;
  for (std::size_t l = 0; l < timeline.links.size(); ++l)
    if (timeline.links[l].bytes.value > 0 && timeline.links[l].bandwidth.value > 0) links.push_back(l);
  std::ranges::stable_sort(links, [&](std::size_t a, std::size_t b) {
    const LinkTotals &x = timeline.links[a], &y = timeline.links[b];
    return x.bytes.value / x.bandwidth.value > y.bytes.value / y.bandwidth.value;
  });
  std::map<LinkKind, int> of_kind;
  std::map<std::size_t, int> place;
  for (const std::size_t l : links) place[l] = of_kind[timeline.links[l].kind]++;
  std::ranges::stable_sort(links, {}, [&](std::size_t l) { return place.at(l); });
  links.resize(std::min(links.size(), kMostLinks));
  return links;
}

// Bytes on one link of each of some classes, in windows of equal length.
class LinkWindows {
 public:
  LinkWindows(const System& system, const std::vector<std::size_t>& links, Time step)
      : system_(system), length_{std::max<std::int64_t>(1, (step.ps + kWindows - 1) / kWindows)} {
    for (std::size_t i = 0; i < links.size(); ++i) place_[static_cast<std::int32_t>(links[i])] = i;
    bytes_.resize(links.size());
  }

  // A group ran a message.
  void add(std::int32_t group, std::int32_t message, Time begin, Time end) {
    for (const auto& [link, bytes] : put_by(group, message)) spread(bytes_[link], bytes, begin, end);
  }

  StepCounter counter(std::size_t link, std::string name) const {
    StepCounter counter{std::move(name), {}};
    const std::vector<double>& bytes = bytes_[link];
    for (std::size_t w = 0; w < bytes.size(); ++w)
      change_to(counter, start_of(w), bytes[w] / length_.in_seconds() / 1e9);
    change_to(counter, start_of(bytes.size()), 0);
    return counter;
  }

 private:
  Time start_of(std::size_t window) const { return {static_cast<std::int64_t>(window) * length_.ps}; }

  // What one run puts on the links that are looked at.
  const std::vector<std::pair<std::size_t, double>>& put_by(std::int32_t group, std::int32_t message) {
    const auto entry = put_.try_emplace({group, message});
    auto& put = entry.first->second;
    if (entry.second)
      visit_link_bytes(system_, group, message, 1, [&](std::int32_t link, double bytes) {
        if (const auto at = place_.find(link); at != place_.end()) put.emplace_back(at->second, bytes);
      });
    return put;
  }

  void spread(std::vector<double>& windows, double bytes, Time begin, Time end) const {
    const auto first = static_cast<std::size_t>(begin.ps / length_.ps);
    const auto last = static_cast<std::size_t>(std::max(begin.ps, end.ps - 1) / length_.ps);
    if (windows.size() <= last) windows.resize(last + 1, 0);
    if (first == last) {
      windows[first] += bytes;
      return;
    }
    const double per_ps = bytes / static_cast<double>((end - begin).ps);
    for (std::size_t w = first; w <= last; ++w) {
      const Time from = std::max(begin, start_of(w)), to = std::min(end, start_of(w + 1));
      windows[w] += per_ps * static_cast<double>((to - from).ps);
    }
  }

  const System& system_;
  const Time length_;
  std::map<std::int32_t, std::size_t> place_;  // [link class]
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::pair<std::size_t, double>>> put_;
  std::vector<std::vector<double>> bytes_;  // [place][window]
};

// "nic 2, each of 1024 alike, at most 48.5 GB/s": the second busiest class of its kind.
std::string link_name(const LinkTotals& link, int place) {
  std::string name = std::string(to_string(link.kind)) + " " + std::to_string(place);
  if (link.links > 1) name += ", each of " + std::to_string(link.links) + " alike";
  return name + ", at most " + fixed(link.bandwidth.value / 1e9, 1) + " GB/s";
}

CounterGroup links_along(const System& system, const Timeline& timeline) {
  std::map<ChipId, std::int32_t> class_of;
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    class_of[system.chips[c].representative] = static_cast<std::int32_t>(c);
  const std::vector<std::size_t> links = busiest_links(timeline);
  LinkWindows windows(system, links, timeline.step_end.front());
  bool receives = false;  // the next that is shown of a transfer
  for (const Interval& interval : timeline.intervals) {
    if (interval.message < 0) continue;
    const auto message = static_cast<std::size_t>(interval.message);
    const bool transfer = system.step.messages[message].scope.point_to_point();
    if (transfer && std::exchange(receives, !receives)) continue;
    if (interval.begin >= timeline.step_end.front()) continue;
    const std::int32_t chip = class_of.at(interval.chip);
    const auto communicator = static_cast<std::size_t>(system.communicator_of[message]);
    const std::int32_t group = system.chips[static_cast<std::size_t>(chip)].group_class[communicator];
    // All members of a collective show it, and the first of them stands for it; who sends is the first.
    if (group < 0 || system.groups[static_cast<std::size_t>(group)].members.front() != chip) continue;
    windows.add(group, interval.message, interval.begin, interval.end);
  }
  CounterGroup group{"Links", "GB/s", {}};
  std::map<LinkKind, int> of_kind;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const LinkTotals& link = timeline.links[links[i]];
    group.counters.push_back(windows.counter(i, link_name(link, ++of_kind[link.kind])));
  }
  return group;
}

}  // namespace

std::vector<CounterGroup> step_counters(const System& system, const LaidJob& job, const Timeline& timeline) {
  std::vector<CounterGroup> groups;
  if (!job.program.memory.empty()) groups.push_back(memory_along(system, job.program, timeline));
  groups.push_back(links_along(system, timeline));
  std::erase_if(groups, [](const CounterGroup& group) { return group.counters.empty(); });
  return groups;
}

}  // namespace podsim
