// Kernels, copies and launches of each process and device.
#include "ingest/nsight/device_profiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "ingest/kineto/collective_names.h"
#include "ingest/kineto/listed_once.h"

namespace podsim::nsight {
namespace {

using kineto::DeviceWork;
using Whole = std::optional<std::int64_t>;

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kSettings = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kLaunches = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr const char* kTexts = "StringIds";
constexpr const char* kDevices = "TARGET_INFO_GPU";

// What hosts marked, by the word that they used.
using StepsByWord = std::map<int, std::vector<kineto::Step>>;

struct DeviceKey {
  std::int64_t device, process;
  auto operator<=>(const DeviceKey&) const = default;
};

// What one device does for one process.
class DeviceBuilder {
 public:
  void add(const std::string& name, const Whole& stream, kineto::DeviceEvent kept, const char* category) {
    kept.name = listed_.name(name, profile);
    kept.stream = listed_.name("stream " + std::to_string(stream.value_or(0)), profile);
    if (kept.work == DeviceWork::kCompute && kineto::is_of_collective_library(name)) {
      kept.work = DeviceWork::kCommunication;
      kept.call = listed_.call(kineto::kind_of_kernel(name), profile);
    }
    if (kept.end_ns == kept.begin_ns) ++profile.without_duration;
    ++profile.events;
    ++profile.by_category[category];
    profile.device_events.push_back(kept);
  }

  kineto::Profile profile;

 private:
  kineto::ListedOnce listed_;
};

class Reader {
 public:
  Reader(const std::string& file, const Tables& tables, std::vector<Problem>& problems)
      : file_(file), tables_(tables), problems_(problems) {}

  bool read() {
    return read_texts() && read_kernels() && read_memory(kCopies, "gpu_memcpy", "copy of memory") &&
           read_memory(kSettings, "gpu_memset", "setting of memory") && read_launches() && read_steps();
  }

  std::vector<kineto::RankProfile> profiles() {
    std::vector<kineto::RankProfile> devices;
    const std::map<std::int64_t, kineto::Device> known = devices_of_machine();
    for (auto& [key, builder] : builders_) {
      kineto::Profile& profile = builder.profile;
      std::ranges::stable_sort(profile.device_events, {}, &kineto::DeviceEvent::begin_ns);
      profile.launches = launches_[key.process];  // of all devices of the process
      std::ranges::sort(profile.launches);
      if (const StepsByWord& steps = steps_[key.process]; !steps.empty())
        profile.steps = steps.begin()->second;
      std::ranges::stable_sort(profile.steps, {}, &kineto::Step::begin_ns);
      const auto device = known.find(key.device);
      profile.devices.push_back(device != known.end() ? device->second : kineto::Device{});
      kineto::Summary summary = kineto::summarize(profile);
      devices.push_back(
          {file_, static_cast<std::int64_t>(devices.size()), std::move(profile), std::move(summary)});
    }
    return devices;
  }

  // Rows of tables that are read, by what became of them.
  Account account() const {
    Account account{"rows", 0, 0, {}, {}};
    for (const auto& [table, rows] : tables_.rows()) {
      if (rows == 0) continue;
      account.read += rows;
      if (table == kKernels || table == kCopies || table == kSettings || table == kLaunches ||
          table == kDevices) {
        account.used += rows;
      } else if (table == kRanges) {
        account.used += ranges_used_;
        if (rows > ranges_used_)
          account.passed_over["ranges and marks that are no step"] += rows - ranges_used_;
      } else if (const std::string reason = reason_of(table); !reason.empty()) {
        account.passed_over[reason] += rows;
      } else {
        account.unknown["table " + table] += rows;
      }
    }
    return account;
  }

 private:
  static std::string reason_of(const std::string& table) {
    constexpr std::array<std::pair<const char*, const char*>, 20> kReasons = {
        {{kTexts, "texts, names and settings"},
         {"ENUM_", "texts, names and settings"},
         {"TARGET_INFO_", "texts, names and settings"},
         {"META_DATA_", "texts, names and settings"},
         {"ANALYSIS_", "texts, names and settings"},
         {"EXPORT_", "texts, names and settings"},
         {"PROCESSES", "texts, names and settings"},
         {"ThreadNames", "texts, names and settings"},
         {"DIAGNOSTIC_EVENT", "texts, names and settings"},
         {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "work of the host"},
         {"CUPTI_ACTIVITY_KIND_OVERHEAD", "work of the host"},
         {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", "work of the host"},
         {"CUDA_", "work of the host"},
         {"OSRT_", "work of the host"},
         {"SCHED_EVENTS", "work of the host"},
         {"COMPOSITE_EVENTS", "work of the host"},
         {"SAMPLING_CALLCHAINS", "work of the host"},
         {"CUDNN_EVENTS", "work of the host"},
         {"CUBLAS_EVENTS", "work of the host"},
         {"PROFILER_OVERHEAD", "work of the host"}}};
    for (const auto& [begin, reason] : kReasons)
      if (table.starts_with(begin)) return reason;
    return "";
  }

  bool refuse(const std::string& table, const Row& row, const std::string& why) {
    problems_.push_back({file_, 0, 0, table + ", row " + std::to_string(row.number()) + " " + why, "",
                         "a whole database that nsys export has written"});
    return false;
  }

  // The process of a thread, by the bits that Nsight has for both; all are one where kernels have none.
  std::int64_t process_of(const Whole& thread) const {
    constexpr std::int64_t kThreadBits = 0xffffff;
    return tables_.has(kKernels, "globalPid") ? thread.value_or(0) & ~kThreadBits : 0;
  }

  // False where each() found damage or a row was refused.
  bool each(const char* table, const std::vector<std::string>& columns,
            const std::function<bool(const Row&)>& told) {
    return !tables_.has(table) || tables_.each(table, columns, told, problems_);
  }

  bool read_texts() {
    return each(kTexts, {"id", "value"}, [&](const Row& row) {
      if (const Whole id = row.integer(0)) texts_[*id] = row.text(1).value_or("");
      return true;
    });
  }

  // Begin and end of a row of work, whose first columns they are.
  std::optional<kineto::DeviceEvent> times_of(const char* table, const Row& row, DeviceWork work) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
    const Whole begin = row.integer(0), end = row.integer(1);
    if (!begin || !end || *end < *begin || *begin < 0 || *end > kMost) {
      refuse(table, row, "has no beginning and end");
      return std::nullopt;
    }
    kineto::DeviceEvent event;
    event.begin_ns = *begin;
    event.end_ns = *end;
    event.correlation = row.integer(4).value_or(-1);
    event.device = static_cast<std::int32_t>(row.integer(2).value_or(0));
    event.work = work;
    return event;
  }

  DeviceBuilder& builder(const Row& row) {
    return builders_[{row.integer(2).value_or(0), row.integer(5).value_or(0)}];
  }

  bool read_kernels() {
    return each(
        kKernels,
        {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "shortName", "demangledName"},
        [&](const Row& row) {
          const auto event = times_of(kKernels, row, DeviceWork::kCompute);
          if (!event) return false;
          const Whole id = row.integer(6) ? row.integer(6) : row.integer(7);
          const auto name = id ? texts_.find(*id) : texts_.end();
          if (name == texts_.end()) return refuse(kKernels, row, "has a name that StringIds lacks");
          builder(row).add(name->second, row.integer(3), *event, "kernel");
          return true;
        });
  }

  bool read_memory(const char* table, const char* category, const char* name) {
    return each(table, {"start", "end", "deviceId", "streamId", "correlationId", "globalPid"},
                [&](const Row& row) {
                  const auto event = times_of(table, row, DeviceWork::kMemory);
                  if (event) builder(row).add(name, row.integer(3), *event, category);
                  return event.has_value();
                });
  }

  bool read_launches() {
    return each(kLaunches, {"start", "correlationId", "globalTid"}, [&](const Row& row) {
      const Whole begin = row.integer(0), correlation = row.integer(1);
      if (!begin) return refuse(kLaunches, row, "has no beginning");
      if (correlation) launches_[process_of(row.integer(2))].push_back({*correlation, *begin});
      return true;
    });
  }

  bool read_steps() {
    return each(kRanges, {"start", "end", "text", "textId", "globalTid"}, [&](const Row& row) {
      const Whole begin = row.integer(0), end = row.integer(1), id = row.integer(3);
      const auto listed = id ? texts_.find(*id) : texts_.end();
      const std::string name = row.text(2).value_or(listed != texts_.end() ? listed->second : "");
      const auto step = step_named(name);
      if (!step || !begin || !end || *end < *begin) return true;
      steps_[process_of(row.integer(4))][step->word].push_back({step->number, *begin, *end});
      ++ranges_used_;
      return true;
    });
  }

  std::map<std::int64_t, kineto::Device> devices_of_machine() {
    std::map<std::int64_t, kineto::Device> devices;
    each(kDevices, {"id", "name", "totalMemory"}, [&](const Row& row) {
      devices[row.integer(0).value_or(0)] = {row.text(1).value_or(""), row.integer(2).value_or(0)};
      return true;
    });
    return devices;
  }

  const std::string& file_;
  const Tables& tables_;
  std::vector<Problem>& problems_;
  std::unordered_map<std::int64_t, std::string> texts_;
  std::map<DeviceKey, DeviceBuilder> builders_;
  std::map<std::int64_t, std::vector<kineto::Launch>> launches_;  // [process]
  std::map<std::int64_t, StepsByWord> steps_;                     // [process]
  std::int64_t ranges_used_ = 0;
};

}  // namespace

std::optional<NamedStep> step_named(const std::string& name) {
  constexpr std::array<std::string_view, 3> kWords = {"step", "iteration", "iter"};
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::int64_t number = 0;
  const char* end = name.data() + name.size();
  if (digits == name.size() || std::from_chars(name.data() + digits, end, number).ec != std::errc())
    return std::nullopt;
  std::string before = name.substr(0, name.find_last_not_of(" #:=_-", digits - 1) + 1);
  std::ranges::transform(before, before.begin(), [](unsigned char c) { return std::tolower(c); });
  for (std::size_t word = 0; word < kWords.size(); ++word)
    if (before.ends_with(kWords[word])) return NamedStep{static_cast<int>(word), number};
  return std::nullopt;
}

std::optional<std::vector<kineto::RankProfile>> device_profiles(const std::string& file, const Tables& tables,
                                                                Account& account,
                                                                std::vector<Problem>& problems) {
  Reader reader(file, tables, problems);
  if (!reader.read()) return std::nullopt;
  account = reader.account();
  return reader.profiles();
}

}  // namespace podsim::nsight
