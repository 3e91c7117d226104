// What transfers cost that drain beside a span, where that is a sum of what each costs by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/lowering/instructions.h"
#include "scheduler/simulation/loop/legs.h"

namespace podsim {

// What a transfer of the pattern cost a computation.
struct SpanDelay {
  std::int32_t pattern;
  Time lost;
};

// The computations of a span that goes alone.
//
// Rule. Let no collective of the span be under way while it computes. Then all that follows a computation
// keeps its distance from the end of it, and a transfer that drains beside a computation by itself makes it
// longer by what rules 6 and 13 of simulate.h lose over as long as both last, wherever it begins there.
class SpanStretches {
 public:
  SpanStretches() = default;  // of a span of which this is not so
  SpanStretches(const StageProgram& program, std::span<const PlacedLeg> legs);

  // Whether it is one of such.
  bool known() const { return known_; }

  struct Slowed {
    Time length, host_floor;  // of the span, as LegOutcome has them
  };
  // Beside transfers, of which those count that end after the span's begin; `delays` says what each cost, in
  // any order. False where several drain at once or one after the other without a gap.
  // REQUIRES: known(); the program is that of the constructor; they are in order of their begins.
  bool slow(const StageProgram& program, Time begin, std::span<const DrainBeside> drains, Slowed& slowed,
            std::vector<SpanDelay>& delays) const;

 private:
  struct Stretch {
    Time begin, end;  // of a computation, after the span's begin
  };
  struct HostMark {
    std::size_t before;  // stretches that lie before it
    Time floor;          // at which the host is at least, after the begin of a span that goes alone
  };

  bool known_ = false;
  Time length_;
  std::vector<Stretch> stretches_;
  std::vector<HostMark> marks_;
};

}  // namespace podsim
