// Goes through legs once, and then from transfer to transfer.
#include "scheduler/simulation/longest_path/span_stretches.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/rounding.h"

namespace podsim {

SpanStretches::SpanStretches(const StageProgram& program, std::span<const PlacedLeg> legs) {
  std::vector<Time> ends;  // [launch] of the leg
  for (const PlacedLeg& placed : legs) {
    const Time begin = length_;
    ends.assign(static_cast<std::size_t>(placed.leg->launches), Time{});
    for (const LegStep& step : placed.leg->steps) {
      switch (step.kind) {
        case LegStep::Kind::kCompute:
        case LegStep::Kind::kPause:
          // What is under way would not be later by what the computation loses.
          if (std::ranges::any_of(ends, [&](Time end) { return end > length_; })) return;
          if (step.kind == LegStep::Kind::kCompute && step.length > Time{})
            stretches_.push_back({length_, length_ + step.length});
          length_ += step.length;
          break;
        case LegStep::Kind::kHost:
          for (HostMark& mark : marks_) mark.floor += step.length;
          if (program.host_lead == Time::max()) break;
          // What is not above a later one never will be.
          while (!marks_.empty() && marks_.back().floor <= length_ - program.host_lead) marks_.pop_back();
          marks_.push_back({stretches_.size(), length_ - program.host_lead});
          break;
        case LegStep::Kind::kSynchronise:
          marks_.assign(1, {stretches_.size(), length_});
          break;
        case LegStep::Kind::kLaunch: {
          const Time turn =
              step.behind < 0 ? length_ : std::max(length_, ends[static_cast<std::size_t>(step.behind)]);
          ends[static_cast<std::size_t>(step.launch)] = turn + step.length;
          break;
        }
        case LegStep::Kind::kWait:
          length_ = std::max(length_, ends[static_cast<std::size_t>(step.launch)]);
          break;
      }
    }
    PODSIM_CHECK(length_ - begin == placed.leg->alone.length, "a leg that goes alone has one length");
  }
  known_ = true;
}

bool SpanStretches::slow(const StageProgram& program, Time begin, std::span<const DrainBeside> drains,
                         Slowed& slowed, std::vector<SpanDelay>& delays) const {
  const double pace = 1 + program.interference;
  Time later, before;  // of what follows; the last transfer's end
  bool any = false;
  slowed.host_floor = LegOutcome::kNever;
  auto mark = marks_.begin();
  auto stretch = stretches_.begin();
  delays.clear();
  for (const DrainBeside& drain : drains) {
    if (drain.end <= begin) continue;
    const Time from = std::max(Time{}, drain.begin - begin);
    const bool open = drain.end == Time::max();
    const Time until = open ? drain.end : drain.end - begin;
    if (from > length_ + later) break;
    if (any && from <= before) return false;
    any = true;
    before = until;
    // Computations one after the other, as far as it reaches.
    while (stretch != stretches_.end()) {
      const Time first = stretch->begin + later, last = stretch->end + later;
      if (last <= from) {
        ++stretch;
        continue;
      }
      if (first >= until) break;
      const Time at = std::max(first, from), left = last - at;
      const Time end = at + LegOutcome::scaled(left, pace), now = std::min(end, until), elapsed = now - at;
      const Time done = nearest(static_cast<double>(elapsed.ps) / pace);
      if (now == end && done != left) return false;  // rounded
      const auto number = static_cast<std::size_t>(stretch - stretches_.begin());
      for (; mark != marks_.end() && mark->before <= number; ++mark)
        slowed.host_floor = std::max(slowed.host_floor, mark->floor + later);
      if (done < elapsed) {
        delays.push_back({drain.pattern, elapsed - done});
        later += elapsed - done;
      }
      if (now < end) break;  // the rest of it is still to come
      ++stretch;
    }
  }
  for (; mark != marks_.end(); ++mark) slowed.host_floor = std::max(slowed.host_floor, mark->floor + later);
  slowed.length = length_ + later;
  return true;
}

}  // namespace podsim
