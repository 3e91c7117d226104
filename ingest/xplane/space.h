// What XProf, the profiler of JAX and TensorFlow, recorded: planes of hosts and devices, lines of events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace podsim::xplane {

inline constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

struct Event {
  std::int64_t begin_ps = 0, end_ps = 0;  // since the epoch of the file
  std::int64_t name = 0;                  // in Plane::names
  std::int64_t correlation = -1;          // with its launch; -1: not said
  std::int64_t step = -1;                 // the step that it marks; -1: none
  bool moves_memory = false;              // its arguments tell of a copy
};

struct Line {
  std::string name;
  std::vector<Event> events;  // in the order of the file
};

struct Plane {
  std::string name;  // "/device:GPU:0"
  std::vector<Line> lines;
  std::map<std::int64_t, std::string> names;  // of events, by their numbers
  std::int64_t memory_bytes = 0;              // 0: not said
  std::int64_t timeless = 0;                  // events that count something and have no time
};

struct Space {
  std::vector<Plane> planes;
  std::vector<std::string> hosts;
};

}  // namespace podsim::xplane
