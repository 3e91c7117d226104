// Tells what an event is by its category.
#include "ingest/kineto/profile_builder.h"

#include <algorithm>
#include <unordered_map>

#include "engine/number_text.h"
#include "ingest/kineto/collective_names.h"

namespace podsim::kineto {
namespace {

enum class Category : std::uint8_t { kKernel, kMemory, kLaunch, kHost, kDeviceNote, kUnknown };

Category category_of(const std::string& name) {
  static const std::unordered_map<std::string, Category> kCategories = {
      {"kernel", Category::kKernel},
      {"Kernel", Category::kKernel},
      {"mtia_ccp_events", Category::kKernel},
      {"xpu", Category::kKernel},
      {"gpu_memcpy", Category::kMemory},
      {"gpu_memset", Category::kMemory},
      {"Memcpy", Category::kMemory},
      {"Memset", Category::kMemory},
      {"cuda_runtime", Category::kLaunch},
      {"cuda_driver", Category::kLaunch},
      {"Runtime", Category::kLaunch},
      {"hip_runtime", Category::kLaunch},
      {"xpu_runtime", Category::kLaunch},
      {"xpu_driver", Category::kLaunch},
      {"mtia_runtime", Category::kLaunch},
      {"privateuse1_runtime", Category::kLaunch},
      {"gpu_user_annotation", Category::kDeviceNote},
      {"cpu_op", Category::kHost},
      {"Operator", Category::kHost},
      {"user_annotation", Category::kHost},
      {"python_function", Category::kHost},
      {"ac2g", Category::kHost},
      {"fwdbwd", Category::kHost},
      {"overhead", Category::kHost},
      {"cuda_sync", Category::kHost},
      {"cuda_event", Category::kHost},
      {"Trace", Category::kHost},
      {"cpu_instant_event", Category::kHost},
      {"privateuse1_driver", Category::kHost},
      {"collective_comm", Category::kHost},
      {"cuda_profiler_range", Category::kHost},
      {"gpu_pm_counter", Category::kHost}};
  const auto found = kCategories.find(name);
  return found == kCategories.end() ? Category::kUnknown : found->second;
}

// ProfilerStep#12 -> 12
std::optional<std::int64_t> step_number(const std::string& name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  return whole_text_as<std::int64_t>(std::string_view(name).substr(kPrefix.size()));
}

std::optional<std::int64_t> bytes_of_elements(const std::optional<std::int64_t>& elements,
                                              const std::optional<std::string>& type) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 58;
  const auto size = type ? bytes_of_type(*type) : std::nullopt;
  if (!elements || !size || *elements < 0 || *elements > kMostElements) return std::nullopt;
  return *elements * *size;
}

}  // namespace

std::string list_text(const std::vector<std::int64_t>& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + "]";
}

std::string ProfileBuilder::add(const RawEvent& event) {
  ++profile.events;
  if (!event.phase) return "has no phase, \"ph\"";
  if (*event.phase != "X") {
    ++profile.not_complete["ph=" + *event.phase];
    return "";
  }
  if (event.bad_time) return "has a time that is no number";
  if (!event.name) return "has no name";
  if (!event.begin) return "has no beginning, \"ts\"";
  if (!event.duration) return "has no duration, \"dur\"";
  const auto end = sum(*event.begin, *event.duration);
  if (!end) return "ends beyond 292 years";
  ++profile.by_category[event.category];
  keep(event, event.begin->rounded_ns(), end->rounded_ns());
  return "";
}

Profile ProfileBuilder::finish() {
  std::ranges::sort(profile.launches);
  std::ranges::stable_sort(profile.steps, {}, &Step::begin_ns);
  std::ranges::stable_sort(profile.device_events, {}, &DeviceEvent::begin_ns);
  complete_ranks();
  return std::move(profile);
}

void ProfileBuilder::keep(const RawEvent& event, std::int64_t begin_ns, std::int64_t end_ns) {
  const Category category = category_of(event.category);
  const auto step = step_number(*event.name);
  if (category == Category::kUnknown) ++profile.unknown_categories[event.category];
  if (step && category == Category::kDeviceNote) ++profile.device_steps;
  if (step && category == Category::kHost) profile.steps.push_back({*step, begin_ns, end_ns});
  if (category == Category::kLaunch && event.correlation)
    profile.launches.push_back({*event.correlation, begin_ns});
  if (category == Category::kKernel || category == Category::kMemory)
    keep_device_event(event, begin_ns, end_ns, category == Category::kMemory);
}

void ProfileBuilder::keep_device_event(const RawEvent& event, std::int64_t begin_ns, std::int64_t end_ns,
                                       bool memory) {
  DeviceEvent kept;
  kept.begin_ns = begin_ns;
  kept.end_ns = end_ns;
  kept.correlation = event.correlation.value_or(-1);
  kept.device = static_cast<std::int32_t>(event.device.value_or(-1));
  kept.name = listed_.name(*event.name, profile);
  kept.stream = listed_.name(event.stream ? *event.stream : event.thread.value_or(""), profile);
  const bool collective = event.collective || is_of_collective_library(*event.name);
  kept.work = memory ? DeviceWork::kMemory : collective ? DeviceWork::kCommunication : DeviceWork::kCompute;
  if (kept.work == DeviceWork::kCommunication) kept.call = call_index(event);
  if (end_ns <= begin_ns) ++profile.without_duration;
  profile.device_events.push_back(kept);
}

std::int32_t ProfileBuilder::call_index(const RawEvent& event) {
  CollectiveCall call;
  call.described = event.collective.has_value();
  call.kind = event.collective ? kind_of_call(*event.collective) : kind_of_kernel(*event.name);
  if (call.described) {
    call.group_size = event.group_size;
    call.ranks = event.ranks;
    call.type = event.type;
    call.group = event.group;
    call.in_bytes = bytes_of_elements(event.in_elements, event.type);
    call.out_bytes = bytes_of_elements(event.out_elements, event.type);
  }
  return listed_.call(call, profile);
}

void ProfileBuilder::complete_ranks() {
  if (!profile.run || !profile.run->groups) return;
  for (CollectiveCall& call : profile.calls) {
    if (!call.ranks || call.ranks->find("...") == std::string::npos || !call.group) continue;
    for (const ListedGroup& group : *profile.run->groups)
      if (group.name == *call.group && !group.ranks.empty()) call.ranks = list_text(group.ranks);
  }
}

}  // namespace podsim::kineto
