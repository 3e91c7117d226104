// Chips of a tensor group that go through one program together, from launch to launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/check.h"
#include "scheduler/simulation/logical_processes/common_collectives.h"
#include "scheduler/simulation/logical_processes/lp_advance.h"
#include "scheduler/simulation/state/running.h"

namespace podsim {

// The chips of one logical process at a time that stand at the same launch, and how far each has got from
// there.
class Lockstep {
 public:
  // One of them: its class, where it is, and what it has to tell from the others.
  struct Chip {
    std::int32_t number;
    RunningChip* running;
    LpAdvance::KnownEndings* queue;        // of the stream
    CommonCollectives::Progress progress;  // at RunningChip::since
    Time own;                    // by which the collectives are over that it has been told of itself
    std::optional<Time> begins;  // a computation of this length, at which it has stopped
  };

  // With no chips, which are to launch on this stream.
  void begin(Stream stream) {
    stream_ = stream;
    size_ = 0;
    common.clear();
  }
  // REQUIRES: no more than LogicalProcesses::kMostChips.
  void add(const Chip& chip) {
    PODSIM_CHECK(size_ < chips_.size(), "a logical process has few chips");
    chips_[size_++] = chip;
  }

  Stream stream() const { return stream_; }
  // All of them, in the order of their places.
  std::span<Chip> chips() { return {chips_.data(), size_}; }
  // What runs beside all of them.
  CommonCollectives common;

 private:
  Stream stream_ = Stream::kActivation;
  std::size_t size_ = 0;
  std::array<Chip, LogicalProcesses::kMostChips> chips_;
};

}  // namespace podsim
