// Events one by one become a profile: what a device did, its launches and the steps are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/kineto/exact_time.h"
#include "ingest/kineto/listed_once.h"
#include "ingest/kineto/profile.h"

namespace podsim::kineto {

// What one event says.
struct RawEvent {
  std::optional<std::string> phase, name;
  std::string category;
  std::optional<ExactTime> begin, duration;
  bool bad_time = false;  // one of them is no number
  std::optional<std::string> thread, stream;
  std::optional<std::int64_t> device, correlation;
  std::optional<std::string> collective, type, group, ranks;
  std::optional<std::int64_t> in_elements, out_elements, group_size;
};

// "[0, 1, 2]"
std::string list_text(const std::vector<std::int64_t>& numbers);

class ProfileBuilder {
 public:
  // Returns what is wrong with the event; empty where nothing is.
  std::string add(const RawEvent& event);

  // Sorts what was added. Ranks that events cut short ("[0, 1, ...]") come from the groups of the run.
  Profile finish();

  Profile profile;  // its header is filled in by the reader

 private:
  void keep(const RawEvent& event, std::int64_t begin_ns, std::int64_t end_ns);
  void keep_device_event(const RawEvent& event, std::int64_t begin_ns, std::int64_t end_ns, bool memory);
  std::int32_t call_index(const RawEvent& event);
  void complete_ranks();

  ListedOnce listed_;
};

}  // namespace podsim::kineto
