// Sorts events by kind, stream, step and collective.
#include "ingest/kineto/summary.h"

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "ingest/kineto/intervals.h"

namespace podsim::kineto {
namespace {

using Events = std::vector<const DeviceEvent*>;

// REQUIRES: there are events.
DeviceTime device_time(const Events& events) {
  PODSIM_CHECK(!events.empty(), "time is of events");
  const auto of = [&](DeviceWork work) {
    return union_if(events, [work](const DeviceEvent& event) { return event.work == work; });
  };
  const Intervals compute = of(DeviceWork::kCompute), communication = of(DeviceWork::kCommunication);
  const Intervals other =
      union_if(events, [](const DeviceEvent& event) { return event.work != DeviceWork::kCommunication; });
  DeviceTime time;
  std::int64_t begin = events.front()->begin_ns, end = events.front()->end_ns;
  for (const DeviceEvent* event : events) {
    begin = std::min(begin, event->begin_ns);
    end = std::max(end, event->end_ns);
  }
  time.span = end - begin;
  time.busy = length_ns(union_if(events, [](const DeviceEvent&) { return true; }));
  time.compute = length_ns(compute);
  time.communication = length_ns(communication);
  time.memory = length_ns(of(DeviceWork::kMemory));
  time.overlap = length_ns(intersection_of(compute, communication));
  time.exposed = time.communication - time.overlap;
  time.exposed_beyond_memory = time.communication - length_ns(intersection_of(other, communication));
  return time;
}

// [event] the first launch with its mark; nothing where there is none.
std::optional<std::int64_t> launch_ns(const Profile& profile, const DeviceEvent& event) {
  const auto found = std::ranges::lower_bound(profile.launches, event.correlation, {}, &Launch::correlation);
  if (event.correlation < 0 || found == profile.launches.end() || found->correlation != event.correlation)
    return std::nullopt;
  return found->begin_ns;
}

// Work belongs to the step in which its launch lies.
std::vector<StepTime> step_times(const Profile& profile) {
  std::vector<Events> launched(profile.steps.size());
  for (const DeviceEvent& event : profile.device_events) {
    const auto at = launch_ns(profile, event);
    if (!at) continue;
    for (std::size_t i = 0; i < profile.steps.size(); ++i)
      if (profile.steps[i].begin_ns <= *at && *at <= profile.steps[i].end_ns) {
        launched[i].push_back(&event);
        break;
      }
  }
  std::vector<StepTime> steps;
  for (std::size_t i = 0; i < profile.steps.size(); ++i) {
    StepTime step{profile.steps[i], {}, {}, static_cast<std::int64_t>(launched[i].size()), {}};
    if (!launched[i].empty()) step.device = device_time(launched[i]);
    if (i + 1 < profile.steps.size()) {
      step.to_next_ns = profile.steps[i + 1].begin_ns - profile.steps[i].begin_ns;
      if (!launched[i].empty() && !launched[i + 1].empty() &&
          launched[i + 1].front()->begin_ns > launched[i].front()->begin_ns)
        step.device_to_next_ns = launched[i + 1].front()->begin_ns - launched[i].front()->begin_ns;
    }
    steps.push_back(step);
  }
  return steps;
}

// As text, so that rows of one kind stand together and never move between profiles.
std::array<std::string, 6> words_of(const CollectiveCall& call) {
  const auto words = [](const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : "None";
  };
  return {call.kind,
          words(call.group_size),
          call.ranks.value_or("None"),
          call.type.value_or("None"),
          words(call.in_bytes),
          words(call.out_bytes)};
}

std::vector<CollectiveTime> collective_times(const Profile& profile) {
  std::map<std::array<std::string, 6>, CollectiveTime> rows;
  for (const DeviceEvent& event : profile.device_events) {
    if (event.call < 0) continue;
    const CollectiveCall& call = profile.calls[static_cast<std::size_t>(event.call)];
    CollectiveTime& row = rows[words_of(call)];
    const std::int64_t ns = event.end_ns - event.begin_ns;
    if (row.count == 0) row = {call, 0, 0, ns};
    ++row.count;
    row.sum_ns += ns;
    row.shortest_ns = std::min(row.shortest_ns, ns);
  }
  std::vector<CollectiveTime> times;
  for (const auto& [words, row] : rows) times.push_back(row);
  return times;
}

}  // namespace

Summary summarize(const Profile& profile) {
  PODSIM_CHECK(!profile.device_events.empty(), "the profile has events of a device");
  Summary summary;
  Events all;
  std::map<std::int32_t, Events> streams;
  for (const DeviceEvent& event : profile.device_events) {
    all.push_back(&event);
    streams[event.stream].push_back(&event);
    const bool compute = event.work == DeviceWork::kCompute, memory = event.work == DeviceWork::kMemory;
    ++(compute  ? summary.compute_kernels
       : memory ? summary.memory_operations
                : summary.communication_kernels);
    (compute  ? summary.sum_compute_ns
     : memory ? summary.sum_memory_ns
              : summary.sum_communication_ns) += event.end_ns - event.begin_ns;
    if (event.call >= 0 && !profile.calls[static_cast<std::size_t>(event.call)].described)
      ++summary.undescribed;
  }
  for (const auto& [stream, events] : streams)
    summary.streams[profile.name_at(stream)] = {
        static_cast<std::int64_t>(events.size()),
        length_ns(union_if(events, [](const DeviceEvent&) { return true; }))};
  summary.whole = device_time(all);
  summary.steps = step_times(profile);
  summary.collectives = collective_times(profile);
  return summary;
}

std::vector<const DeviceEvent*> launched_in(const Profile& profile, const Step& step) {
  Events launched;
  for (const DeviceEvent& event : profile.device_events)
    if (const auto at = launch_ns(profile, event); at && step.begin_ns <= *at && *at <= step.end_ns)
      launched.push_back(&event);
  return launched;
}

Account account_of(const Profile& profile) {
  Account account{"events", profile.events, 0, {}, {}};
  for (const auto& [phase, count] : profile.not_complete)
    account.passed_over[phase == "ph=M" ? "names" : "arrows, instants and counters"] += count;
  std::int64_t complete = 0, unknown = 0;
  for (const auto& [category, count] : profile.by_category) complete += count;
  for (const auto& [category, count] : profile.unknown_categories) {
    account.unknown["category " + (category.empty() ? "none" : category)] += count;
    unknown += count;
  }
  account.used = static_cast<std::int64_t>(profile.device_events.size() + profile.launches.size() +
                                           profile.steps.size());
  account.passed_over["work of the host, and notes"] = complete - unknown - account.used;
  return account;
}

}  // namespace podsim::kineto
