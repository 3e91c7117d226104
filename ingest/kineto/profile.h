// What PyTorch's profiler recorded of one rank: work of devices, who launched it, and the steps of the host.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace podsim::kineto {

enum class DeviceWork : std::uint8_t { kCompute, kCommunication, kMemory };

// What a kernel says of the collective that it carries out; nothing where it does not.
struct CollectiveCall {
  std::string kind;        // "all_reduce", "send_recv"; "unknown"
  bool described = false;  // by its arguments, not by the name of the kernel alone
  std::optional<std::int64_t> group_size;
  std::optional<std::string> ranks;  // "[0, 1]"
  std::optional<std::string> type;   // of elements: "BFloat16"
  std::optional<std::int64_t> in_bytes, out_bytes;
  std::optional<std::string> group;  // its name
  auto operator<=>(const CollectiveCall&) const = default;
};

struct DeviceEvent {
  std::int64_t begin_ns = 0, end_ns = 0;  // without the base of the file
  std::int64_t correlation = -1;          // with its launch; -1: not said
  std::int32_t name = 0, stream = 0;      // in Profile::names
  std::int32_t call = -1;                 // in Profile::calls; -1: no collective
  std::int32_t device = -1;
  DeviceWork work = DeviceWork::kCompute;
};

// ProfilerStep#n, on the host.
struct Step {
  std::int64_t number = 0, begin_ns = 0, end_ns = 0;
};

struct Launch {
  std::int64_t correlation = 0, begin_ns = 0;
  auto operator<=>(const Launch&) const = default;
};

// A group of ranks as the header of the file lists it.
struct ListedGroup {
  std::string name, description;
  std::optional<std::int64_t> size;
  std::vector<std::int64_t> ranks;
};

struct Device {
  std::string name;
  std::int64_t memory_bytes = 0;
};

struct RunInfo {
  std::optional<std::int64_t> rank, world_size;
  std::optional<std::string> backend;
  std::optional<std::vector<ListedGroup>> groups;
};

struct Profile {
  std::int64_t base_ns = 0;
  std::int64_t events = 0;
  std::map<std::string, std::int64_t> by_category;   // of complete events
  std::map<std::string, std::int64_t> not_complete;  // "ph=M"
  std::map<std::string, std::int64_t> unknown_categories;
  std::int64_t device_steps = 0;      // copies of ProfilerStep on devices
  std::int64_t without_duration = 0;  // events of devices that last for nothing
  std::optional<RunInfo> run;
  std::vector<Device> devices;  // the first of each name
  std::vector<std::string> names;
  std::vector<CollectiveCall> calls;
  std::vector<DeviceEvent> device_events;  // by their beginnings
  std::vector<Launch> launches;            // by correlation, then beginning
  std::vector<Step> steps;                 // by their beginnings

  const std::string& name_at(std::int32_t index) const { return names[static_cast<std::size_t>(index)]; }
};

}  // namespace podsim::kineto
