// What a chip does by itself from an instruction on until it meets others, and what that comes to beside
// given transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/longest_path/span_stretches.h"
#include "scheduler/simulation/loop/legs.h"
#include "scheduler/simulation/loop/rehearsal.h"
#include "scheduler/simulation/loop/solo_legs.h"

namespace podsim {

// Outcomes of a span by what drains beside it, at times after its begin.
class SpanOutcomes {
 public:
  struct Known {
    std::vector<DrainBeside> drains;
    LegOutcome outcome;
  };
  using Room = std::deque<Known>;  // of many spans, most of which have few

  // The outcome beside these, or null.
  LegOutcome* find(std::span<const DrainBeside> drains, std::uint64_t hash);
  // Which stays where it is in that room.
  LegOutcome& add(std::span<const DrainBeside> drains, std::uint64_t hash, Room& room);
  static std::uint64_t hash(std::span<const DrainBeside> drains);

 private:
  struct Place {
    std::uint64_t hash = 0;
    Known* known = nullptr;  // or free
  };
  void place(const Place& place);

  std::size_t count_ = 0;
  std::vector<Place> table_;  // open addressing, at most half full
};

// Legs that follow each other, as far as the host is in time for all of them whatever drains beside.
struct SoloSpan {
  std::span<const PlacedLeg> legs;
  SegmentLegs* segment = nullptr;  // that they are of; null of a computation without others
  std::int32_t instructions = 0;
  std::uint32_t idle = 0;  // streams that have to be, bit by bit
  Time latest_host;        // when it begins, after that
  std::int64_t events = 0;
  std::vector<LegLaunches> launched;
  bool updates = false;                    // it has computations of the optimizer
  bool met = false;                        // peers come to operations of it
  bool joined = true;                      // by a transfer that began beside it, when it went last
  std::vector<SoloSpan*> shorter;          // [legs - 1] of its first legs, where somebody has asked for them
  LegOutcome alone;                        // beside nothing, all legs together
  Time longest;                            // beside whatever drains
  std::optional<SpanStretches> stretches;  // once something drains beside it
  bool sums = true;                        // they knew what it comes to the last time
  SpanOutcomes beside;
};

// How a span goes: its outcome, and what is added to that.
struct SpanCourse {
  const LegOutcome* outcome = nullptr;
  Time length, host_floor;  // with all delays
  std::vector<SpanDelay> delays;
  LegOutcome own;  // an outcome that is not kept because there are too many
};

// The spans of all chips, and their outcomes, found when they are first asked for and kept: they are the same
// however often a system is simulated, and for all chips for which a segment has the same legs.
//
// Rule. The outcome of a span depends on the times after its begin at which transfers drain beside it, and on
// nothing else. It is that of the span alone and what each of them costs, where SpanStretches knows that.
// Otherwise loops come to the same times again and again, so most outcomes are known.
class SoloSpans {
 public:
  // REQUIRES: both outlive this object.
  SoloSpans(const System& system, SoloLegs& legs);

  // From the instruction of the chip's segment on; null where nothing is done by itself there. Stays where it
  // is, here and below.
  SoloSpan* from(std::int32_t chip, std::int32_t segment, std::size_t instruction) {
    Places& places = places_of(chip, segment);
    const std::int32_t span = places.joined[instruction];
    return span >= 0 ? &spans_[static_cast<std::size_t>(span)] : look(chip, places, instruction);
  }
  // As many of the span's first legs as have waited for their collectives within that time, whatever drains
  // beside; null where the first one does not.
  SoloSpan* within(std::int32_t chip, SoloSpan& span, Time time);
  // The same as from() of what the chip does together with its peers; null also where none of them has to
  // come.
  SoloSpan* with_peers(std::int32_t chip, std::int32_t segment, std::size_t instruction);
  // The computation at that instruction, without what follows it: one span for all that take the same time.
  SoloSpan& computation(std::int32_t chip, std::int32_t segment, std::size_t instruction) {
    SoloSpan* known = places_of(chip, segment).computation[instruction];
    return known ? *known : find_computation(chip, segment, instruction);
  }

  // What the chip's span comes to when it begins then, beside these transfers. REQUIRES: they are in order of
  // their begins.
  void follow(std::int32_t chip, SoloSpan& span, Time begin, std::span<const DrainBeside> beside,
              SpanCourse& course);

  // How many were found as sums of what each transfer costs.
  std::int64_t sums() const { return sums_; }

 private:
  static constexpr std::int32_t kNotLooked = -1, kNothing = -2;
  struct Places {
    SegmentLegs* legs;
    std::vector<std::int32_t> joined;    // [instruction] of spans, or one of the above
    std::vector<SoloSpan*> computation;  // [instruction] or null, where nobody has asked yet
  };

  const StageProgram& program_of(std::int32_t chip) const {
    return system_.step.stages[system_.chips[chip].program];
  }
  Places& places_of(std::int32_t chip, std::int32_t segment) {
    Places* places = places_[chip].empty() ? nullptr : places_[chip][segment];
    return places ? *places : find_places(chip, segment);
  }
  Places& find_places(std::int32_t chip, std::int32_t segment);
  Places& places_with(SegmentLegs& legs);
  SoloSpan* look(std::int32_t chip, Places& places, std::size_t instruction);
  SoloSpan& find_computation(std::int32_t chip, std::int32_t segment, std::size_t instruction);
  bool add_up(std::int32_t chip, SoloSpan& span, Time begin, std::span<const DrainBeside> beside,
              SpanCourse& course);
  // From the first of these legs of the segment on, as far as they go at most.
  SoloSpan join(std::int32_t chip, SegmentLegs& segment, std::span<const PlacedLeg> legs) const;
  // Goes through all legs.
  void rehearse_span(std::int32_t chip, SoloSpan& span, std::span<const DrainBeside> drains,
                     LegOutcome& total);
  // The number of the first leg, from that one on, that something may drain beside: all begin behind `total`.
  static std::size_t first_disturbed(const SoloSpan& span, std::size_t leg, const LegOutcome& total,
                                     std::span<const DrainBeside> drains);
  const LegOutcome& outcome_of(std::int32_t chip, Leg& leg, Time begin, std::span<const DrainBeside> drains);

  const System& system_;
  SoloLegs& legs_;
  std::vector<std::vector<Places*>> places_;  // [chip][segment]
  std::deque<Places> all_;
  std::unordered_map<const SegmentLegs*, Places*> places_by_legs_;
  std::deque<SoloSpan> spans_;
  std::deque<PlacedLeg> computations_;  // of spans that have no others
  std::unordered_map<const Leg*, SoloSpan*> span_of_computation_;
  SpanOutcomes::Room kept_;
  RehearsalBuffers buffers_;
  LegOutcome rehearsed_;
  std::vector<DrainBeside> relative_, near_;  // scratch
  std::int64_t sums_ = 0;
};

}  // namespace podsim
