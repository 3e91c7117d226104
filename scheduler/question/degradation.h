// What is slow in a scenario, or busy with the work of others: which parts, how much, and when.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/units.h"
#include "scheduler/question/speed_profile.h"
#include "topology/fabric.h"
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
  // Of what is left of a larger cluster: [part] the part there, or the domain, whose draws it has; -1 = it is
  // not chosen. Empty: each has its own.
  std::vector<int> drawn_as;
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

// One thing that is slow.
struct Degradation {
  // A chip by its number, the links of one kind at a chip; the others choose parts by a selector.
  enum class Cause : std::uint8_t { kSlowChip, kSlowLink, kSlow, kBackground, kFlap };
  Cause cause = Cause::kSlow;
  ChipId chip = 0;                 // of kSlowChip and kSlowLink
  LinkKind link = LinkKind::kNic;  // of kSlowLink, both directions; kIci stands for the optical too
  Selector which;                  // of the others
  SpeedFactor factor;              // of a flap: 0 in its only window; of one chip fixed
  Season season;
  bool multiply = false;   // may meet another entry: speeds multiply
  std::uint64_t draw = 0;  // entries of different numbers draw parts and speeds independently
  Time library_timeout;    // of a flap: a transfer that stands still for longer ends the job

  // A chip whose operations take 1 / speed as long; links with so much of their bandwidth. REQUIRES: 0 <
  // speed <= 1.
  static Degradation of_chip(ChipId chip, double speed);
  static Degradation of_link(ChipId chip, LinkKind kind, double speed);

  bool by_selector() const { return cause >= Cause::kSlow; }
  bool by_chance() const { return season.chance_slot.ps > 0; }
  // Chance decides who is hit, how much, or when.
  bool drawn() const {
    return which.random_fraction < 1 || factor.shape != SpeedFactor::Shape::kFixed || by_chance();
  }
};

// Those of links at a chip, for with_slow_links (topology/fabric.h).
std::vector<SlowLink> slow_links(std::span<const Degradation> degradations);

}  // namespace podsim
