// Lines are told by their names.
#include "ingest/xplane/device_profiles.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/number_text.h"
#include "ingest/kineto/collective_names.h"
#include "ingest/kineto/listed_once.h"

namespace podsim::xplane {
namespace {

using kineto::DeviceWork;

std::int64_t rounded_ns(std::int64_t ps) {
  return (ps + kPicosecondsPerNanosecond / 2) / kPicosecondsPerNanosecond;
}

bool has(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

bool is_device(const Plane& plane) { return plane.name.starts_with("/device:"); }
bool is_stream(const Line& line) { return line.name.starts_with("Stream #"); }

bool is_work(const Plane& plane, const Line& line) {
  if (std::ranges::any_of(plane.lines, is_stream)) return is_stream(line);
  return line.name == "XLA Ops" || line.name == "Async XLA Ops";
}

// "all-reduce-start.3" -> "all_reduce"; nothing for what is no collective of XLA.
std::optional<std::string> collective_of_xla(std::string name) {
  if (name.starts_with("%")) name.erase(0, 1);
  for (const auto& [word, kind] :
       {std::pair("all-reduce", "all_reduce"), std::pair("all-gather", "all_gather"),
        std::pair("reduce-scatter", "reduce_scatter"), std::pair("all-to-all", "all_to_all"),
        std::pair("ragged-all-to-all", "all_to_all"), std::pair("collective-permute", "send_recv"),
        std::pair("collective-broadcast", "broadcast")})
    if (name.starts_with(word)) return kind;
  return std::nullopt;
}

bool copies(const Line& line, const Event& event, const std::string& name) {
  return event.moves_memory || has(line.name, "Memcpy") || has(line.name, "Memset") ||
         has(name, "rocclr_copyBuffer") || has(name, "rocclr_fillBuffer");
}

// What one device did becomes a profile.
class DeviceBuilder {
 public:
  explicit DeviceBuilder(const Plane& plane) : plane_(plane) {}

  kineto::Profile build() {
    for (const Line& line : plane_.lines)
      if (is_work(plane_, line))
        for (const Event& event : line.events) add(line, event);
    std::ranges::stable_sort(profile_.device_events, {}, &kineto::DeviceEvent::begin_ns);
    return std::move(profile_);
  }

 private:
  void add(const Line& line, const Event& event) {
    const std::string& name = plane_.names.at(event.name);
    kineto::DeviceEvent kept;
    kept.begin_ns = rounded_ns(event.begin_ps);
    kept.end_ns = rounded_ns(event.end_ps);
    kept.correlation = event.correlation;
    kept.name = listed_.name(name, profile_);
    kept.stream = listed_.name(line.name, profile_);
    kept.device = 0;
    const bool stream = is_stream(line);
    const auto collective = stream ? kineto::is_of_collective_library(name)
                                         ? std::optional(kineto::kind_of_kernel(name))
                                         : std::nullopt
                                   : collective_of_xla(name);
    if (collective) {
      kept.work = DeviceWork::kCommunication;
      kept.call = listed_.call(*collective, profile_);
    } else if (copies(line, event, name)) {
      kept.work = DeviceWork::kMemory;
    }
    if (kept.end_ns <= kept.begin_ns) ++profile_.without_duration;
    profile_.device_events.push_back(kept);
  }

  const Plane& plane_;
  kineto::Profile profile_;
  kineto::ListedOnce listed_;
};

// That the device itself has on a line; its work belongs to the one that it begins in.
void take_own_steps(const Plane& plane, kineto::Profile& profile) {
  for (const Line& line : plane.lines) {
    if (line.name != "Steps") continue;
    for (const Event& event : line.events)
      if (const auto number = whole_text_as<std::int64_t>(plane.names.at(event.name)))
        profile.steps.push_back({*number, rounded_ns(event.begin_ps), rounded_ns(event.end_ps)});
  }
  if (profile.steps.empty()) return;
  profile.launches.clear();
  for (std::size_t i = 0; i < profile.device_events.size(); ++i) {
    profile.device_events[i].correlation = static_cast<std::int64_t>(i);
    profile.launches.push_back({static_cast<std::int64_t>(i), profile.device_events[i].begin_ns});
  }
}

// What hosts launched, and the steps that they marked.
struct HostWork {
  std::vector<kineto::Launch> launches;
  std::vector<kineto::Step> steps;
};

HostWork host_work(const Space& space) {
  HostWork work;
  for (const Plane& plane : space.planes) {
    if (is_device(plane)) continue;
    for (const Line& line : plane.lines)
      for (const Event& event : line.events) {
        if (event.step >= 0)
          work.steps.push_back({event.step, rounded_ns(event.begin_ps), rounded_ns(event.end_ps)});
        else if (event.correlation >= 0)
          work.launches.push_back({event.correlation, rounded_ns(event.begin_ps)});
      }
  }
  std::ranges::sort(work.launches);
  std::ranges::stable_sort(work.steps, {}, &kineto::Step::begin_ns);
  return work;
}

Account account_of(const Space& space, const HostWork& host) {
  Account account{"events", 0, 0, {}, {}};
  for (const Plane& plane : space.planes) {
    account.read += plane.timeless;
    if (plane.timeless > 0) account.passed_over["counts without a time"] += plane.timeless;
    for (const Line& line : plane.lines) {
      const auto events = static_cast<std::int64_t>(line.events.size());
      account.read += events;
      if (is_device(plane) && (is_work(plane, line) || line.name == "Steps"))
        account.used += events;
      else if (is_device(plane))
        account.passed_over["larger pieces of the same work"] += events;
      else
        account.passed_over["work of the host"] += events;
    }
  }
  const auto of_host = static_cast<std::int64_t>(host.launches.size() + host.steps.size());
  account.used += of_host;
  account.passed_over["work of the host"] -= of_host;
  return account;
}

}  // namespace

std::vector<kineto::RankProfile> device_profiles(const std::string& file, const Space& space,
                                                 Account& account) {
  const HostWork host = host_work(space);
  account = account_of(space, host);
  std::vector<kineto::RankProfile> devices;
  for (const Plane& plane : space.planes) {
    if (!is_device(plane)) continue;
    kineto::Profile profile = DeviceBuilder(plane).build();
    if (profile.device_events.empty()) continue;
    profile.launches = host.launches;
    profile.steps = host.steps;
    if (profile.steps.empty()) take_own_steps(plane, profile);
    profile.devices.push_back({plane.name, plane.memory_bytes});
    kineto::Summary summary = kineto::summarize(profile);
    const auto place = static_cast<std::int64_t>(devices.size());
    devices.push_back({file, place, std::move(profile), std::move(summary)});
  }
  return devices;
}

}  // namespace podsim::xplane
