// What is slow in a scenario, or busy with the work of others: which parts, how much, and when.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/units.h"
#include "scheduler/question/speed_profile.h"
#include "topology/parts.h"

namespace podsim {

// Which parts of a fabric. Every condition must hold; an empty list is none.
struct Selector {
  PartKind kind = PartKind::kChip;
  std::vector<std::pair<int, int>> numbers;  // first and last of each range
  // Parts with a chip of one of these pipeline stages, or data ranks: coordinates of the job's mesh along the
  // axes that carry the batch, row-major. Not of switches.
  std::vector<int> stages, data_ranks;
  // Each part, or each of these domains with all its parts, is hit with this probability.
  double random_fraction = 1;
  Domain together = Domain::kNone;
};

// A speed as a share of the nominal one, drawn for each part or domain and cut to [low, high].
struct SpeedFactor {
  enum class Shape : std::uint8_t { kFixed, kUniform, kNormal, kLognormal };
  Shape shape = Shape::kFixed;
  double mean = 1;                      // of the fixed, normal and lognormal ones
  double coefficient_of_variation = 0;  // of the last two
  double low = 0, high = 1;             // of the uniform one its ends
};

// Without windows and swing: always. On and off by chance within them.
struct Season {
  std::vector<std::pair<Time, Time>> windows;  // [from, to), apart, ascending
  Time repeat;                                 // the windows come again after this time; 0 = they do not
  double swing_amplitude = 0;                  // share of the speed lost in the middle of each period
  Time swing_period;
  int swing_levels = 24;
  double chance_share = 1;  // of slots in which it is there
  Time chance_slot;         // 0 = no chance

  bool always() const { return windows.empty() && swing_amplitude == 0 && chance_slot.ps == 0; }
};

// One entry of the scenario.
struct Degradation {
  enum class Cause : std::uint8_t { kSlow, kBackground, kFlap };
  Cause cause = Cause::kSlow;
  Selector which;
  SpeedFactor factor;  // of a flap: 0 in its only window
  Season season;
  bool multiply = false;   // may meet another entry: speeds multiply
  std::uint64_t draw = 0;  // entries of different numbers draw parts and speeds independently
  Time library_timeout;    // of a flap: a transfer that stands still for longer ends the job

  bool by_chance() const { return season.chance_slot.ps > 0; }
};

}  // namespace podsim
