// Where a chip's compute stream spends its time.
#pragma once

#include <cstdint>

namespace podsim {

// Every picosecond of a step is in exactly one.
enum class Bucket : std::uint8_t {
  kCompute,
  kOptimizer,
  kCommunication,
  kPeerWait,
  kBubble,
  kInput,
  kOffload,  // copies to or from the host
  kSkew,     // for the slowest host, on average
  kPause,    // the worker collects garbage
};
inline constexpr int kBuckets = 9;

}  // namespace podsim
