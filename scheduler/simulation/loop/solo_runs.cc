// Legs are found once for each chip and segment, and gone through whenever what drains beside them is new.
#include "scheduler/simulation/loop/solo_runs.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/check.h"

namespace podsim {

SoloRuns::SoloRuns(StepState& state, SoloLegs& legs, bool on) : state_(state), legs_(legs) {
  if (on) runs_.resize(state.system.chips.size());
}

bool SoloRuns::may_begin(std::int32_t c) {
  if (runs_.empty() || state_.system.chips[c].profile >= 0) return false;
  const RunningChip& chip = state_.chips[c];
  SegmentLegs& segment = legs_of(c);
  const std::int32_t number = segment.at[static_cast<std::size_t>(chip.at - first_of(c))];
  if (number < 0) return false;
  const PlacedLeg& leg = segment.legs[static_cast<std::size_t>(number)];
  if (leg.last < 0) legs_.join(c, segment.legs, number);
  if (leg.last == number || chip.host - state_.now > leg.latest_host) return false;
  const StreamOperations& lists = state_.queues.lists();
  for (const StreamList& list : lists.lists_of(chip.program))
    if ((leg.idle & Leg::bit(list.stream)) != 0 && state_.queue_of(c, list.stream).unfinished > 0)
      return false;
  last_ = last_undisturbed(c, segment, number);
  return last_ > number;
}

std::int32_t SoloRuns::last_undisturbed(std::int32_t c, SegmentLegs& segment, std::int32_t leg) const {
  const std::int32_t all = segment.legs[static_cast<std::size_t>(leg)].last;
  const std::span<const std::int32_t> guests = legs_.guests(c, segment_of(c));
  if (guests.empty()) return all;
  const std::vector<Time>& longest = segment.sums().longest;
  const auto begin = longest.begin() + leg, end = longest.begin() + all + 1;
  const Time room = std::min(free_until(c, guests) - state_.now, *(end - 1) - *begin + Time{1});
  const auto behind = std::lower_bound(begin + 1, end, *begin + room);
  const auto last = static_cast<std::int32_t>(behind - longest.begin()) - 1;
  const std::vector<std::int64_t>& events = segment.sums().events;
  return events[static_cast<std::size_t>(last)] - events[static_cast<std::size_t>(leg)] < 2 ? leg : last;
}

Time SoloRuns::free_until(std::int32_t c, std::span<const std::int32_t> rendezvous) const {
  Time until = Time::max();
  for (const std::int32_t m : rendezvous) {
    const Rendezvous& transfer = state_.all_rendezvous[m];
    const std::int32_t source = transfer.members.front();
    if (state_.queue_of(source, transfer.stream).unfinished > 0) return state_.now;
    if (source != c) until = std::min(until, earliest_launch(c, source, transfer.stream));
  }
  return until;
}

// Only the segment that the source is in is looked at: a jump over periods may lead to other segments behind
// it than those that come here.
Time SoloRuns::earliest_launch(std::int32_t c, std::int32_t source, Stream stream) const {
  const RunningChip& chip = state_.chips[source];
  const StageProgram& program = state_.program_of(chip);
  if (state_.system.chips[source].profile >= 0) return state_.now;
  if (chip.ended && program.job == state_.program_of(state_.chips[c]).job) return Time::max();
  if (chip.at == nullptr || static_cast<std::size_t>(chip.position) >= program.order.size())
    return state_.now;
  const std::int32_t segment = program.order[chip.position];
  Time begin = state_.now;
  std::ptrdiff_t at = chip.at - program.segments[segment].data();
  if (const Run& run = runs_[source]; run.legs != nullptr) {
    begin = run.begin;
    at = run.leg < run.last ? run.legs->legs[static_cast<std::size_t>(run.leg)].first
                            : run.legs->legs[static_cast<std::size_t>(run.last) - 1].after;
  } else if (chip.at != chip.end && chip.at->kind == Instruction::Kind::kCompute) {
    ++at;  // some of it is over
  }
  const Time least = legs_.times_to_launch(source, segment, stream)[static_cast<std::size_t>(at)];
  constexpr std::int64_t kRounding = 1024;  // a part in so many is more than roundings may take away
  return begin + Time{least.ps - least.ps / kRounding};
}

void SoloRuns::begin(std::int32_t c, std::span<const DrainBeside> beside) {
  RunningChip& chip = state_.chips[c];
  chip.since = state_.now;
  ++begun_;
  Run& run = runs_[c];
  run.legs = &legs_of(c);
  run.leg = run.legs->at[static_cast<std::size_t>(chip.at - first_of(c))];
  run.last = last_;
  begun_between_transfers_ += !legs_.guests(c, segment_of(c)).empty();
  run.begin = state_.now;
  run.beside.assign(beside.begin(), beside.end());
  foresee_later(c);
}

void SoloRuns::change_transfers(std::int32_t c, std::int32_t pattern, int difference) {
  book_until(c, state_.now);
  std::vector<DrainBeside>& beside = runs_[c].beside;
  if (difference > 0) {
    beside.push_back({state_.now, Time::max(), pattern});
  } else {
    const auto open = std::ranges::find_if(
        beside, [&](const DrainBeside& each) { return each.pattern == pattern && each.end == Time::max(); });
    PODSIM_CHECK(open != beside.end(), "what ends has begun");
    open->end = state_.now;
  }
  foresee_later(c);
}

void SoloRuns::start_known(std::int32_t c, const KnownCollective& known) {
  book_until(c, state_.now);
  for (std::size_t e = 0; e + 1 < known.edges.size(); e += 2)
    runs_[c].beside.push_back({known.start + known.edges[e].after, known.start + known.edges[e + 1].after,
                               known.pattern, known.rendezvous});
  foresee_later(c);
}

void SoloRuns::forget_known(std::int32_t c, std::int32_t rendezvous) {
  book_until(c, state_.now);
  std::vector<DrainBeside>& beside = runs_[c].beside;
  std::erase_if(beside, [&](const DrainBeside& each) {
    return each.rendezvous == rendezvous && each.begin >= state_.now;
  });
  for (DrainBeside& each : beside) {
    if (each.rendezvous != rendezvous) continue;
    each.rendezvous = -1;
    if (each.end > state_.now) each.end = Time::max();
  }
  foresee_later(c);
}

void SoloRuns::foresee() {
  for (const std::int32_t c : unforeseen_) {
    Run& run = runs_[c];
    if (!std::exchange(run.unforeseen, false) || run.legs == nullptr) continue;
    Time end = run.begin;
    for (std::int32_t leg = run.leg; leg < run.last; ++leg) {
      if (alone_from(run, leg, end)) {
        end += alone_before(run, run.last) - alone_before(run, leg);
        break;
      }
      end += outcome(c, leg, end).length;
    }
    state_.event_queue.set(static_cast<std::size_t>(c), end);
  }
  unforeseen_.clear();
}

void SoloRuns::end(std::int32_t c) {
  Run& run = runs_[c];
  book_until(c, state_.now);
  PODSIM_CHECK(run.leg == run.last, "what a chip does by itself ends as foreseen");
  state_.chips[c].at = first_of(c) + run.legs->legs[static_cast<std::size_t>(run.last) - 1].after;
  run.legs = nullptr;
  run.beside.clear();
}

std::int32_t SoloRuns::segment_of(std::int32_t c) const {
  const RunningChip& chip = state_.chips[c];
  return state_.program_of(chip).order[chip.position];
}

const Instruction* SoloRuns::first_of(std::int32_t c) const {
  return state_.program_of(state_.chips[c]).segments[segment_of(c)].data();
}

SegmentLegs& SoloRuns::legs_of(std::int32_t c) { return legs_.of(c, segment_of(c)); }

bool SoloRuns::alone_from(const Run& run, std::int32_t leg, Time begin) {
  const Time end = begin + (alone_before(run, run.last) - alone_before(run, leg));
  return std::ranges::none_of(run.beside,
                              [&](const DrainBeside& each) { return each.end > begin && each.begin < end; });
}

const LegOutcome& SoloRuns::outcome(std::int32_t c, std::int32_t number, Time begin) {
  Run& run = runs_[c];
  Leg& leg = *run.legs->legs[static_cast<std::size_t>(number)].leg;
  const Time most = begin + leg.longest;
  std::int32_t pattern = std::numeric_limits<std::int32_t>::max();
  bool any = false, throughout = true;
  for (const DrainBeside& each : run.beside) {
    if (each.end <= begin || each.begin >= most) continue;
    any = true;
    throughout = throughout && each.begin <= begin && each.end >= most;
    pattern = std::min(pattern, each.pattern);
  }
  if (!any) return leg.alone;
  if (!throughout) return rehearsed(c, number, begin);
  for (const auto& [known, outcome] : leg.slowed)
    if (known == pattern) return outcome;
  LegOutcome& slowed = leg.slowed.emplace_back(pattern, LegOutcome{}).second;
  const DrainBeside all{Time{}, Time::max(), pattern};
  rehearse(state_.system, state_.program_of(state_.chips[c]), leg, {&all, 1}, buffers_, slowed);
  return slowed;
}

// A leg begins when those before it are over, so as long as the same drains beside them it is the same again.
const LegOutcome& SoloRuns::rehearsed(std::int32_t c, std::int32_t number, Time begin) {
  Run& run = runs_[c];
  for (std::size_t i = 0; i < run.rehearsed; ++i)
    if (run.rehearsals[i].first == number) return run.rehearsals[i].second;
  if (run.rehearsed == run.rehearsals.size()) run.rehearsals.emplace_back();
  auto& [leg, outcome] = run.rehearsals[run.rehearsed++];
  leg = number;
  near_.clear();
  for (const DrainBeside& each : run.beside) {
    if (each.end <= begin) continue;
    near_.push_back(
        {each.begin - begin, each.end == Time::max() ? each.end : each.end - begin, each.pattern});
  }
  rehearse(state_.system, state_.program_of(state_.chips[c]),
           *run.legs->legs[static_cast<std::size_t>(number)].leg, near_, buffers_, outcome);
  return outcome;
}

void SoloRuns::book_until(std::int32_t c, Time now) {
  Run& run = runs_[c];
  while (run.leg < run.last) {
    std::int32_t next = run.leg + 1;
    Time length;
    if (alone_from(run, run.leg, run.begin)) {
      const std::vector<Time>& alone = run.legs->sums().length;
      const auto after = std::upper_bound(alone.begin() + run.leg, alone.begin() + run.last + 1,
                                          alone[static_cast<std::size_t>(run.leg)] + (now - run.begin));
      next = static_cast<std::int32_t>(after - alone.begin()) - 1;
      if (next == run.leg) break;
      length = alone_before(run, next) - alone_before(run, run.leg);
      book_alone(c, run.leg, next, run.begin);
    } else {
      const LegOutcome& outcome = this->outcome(c, run.leg, run.begin);
      length = outcome.length;
      if (run.begin + length > now) break;
      book(c, *run.legs->legs[static_cast<std::size_t>(run.leg)].leg, outcome, run.begin);
    }
    run.begin += length;
    run.leg = next;
  }
  std::erase_if(run.beside, [&](const DrainBeside& each) { return each.end <= run.begin; });
}

void SoloRuns::book(std::int32_t c, const Leg& leg, const LegOutcome& outcome, Time begin) {
  const Time end = begin + outcome.length;
  RunningChip& chip = state_.chips[c];
  state_.accounts.add(c, outcome.bucket, outcome.exposed);
  for (const LegLaunches& each : leg.launched) {
    state_.accounts.start(legs_.rendezvous_of(c, each.stream, each.communicator), each.count);
    state_.queues.pass(c, chip.program, each.stream, each.count, end);
  }
  go_host(chip, outcome, begin, end);
  state_.events += leg.events;
}

void SoloRuns::book_alone(std::int32_t c, std::int32_t from, std::int32_t to, Time begin) {
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  const LegSums& sums = runs_[c].legs->sums();
  const Time end = begin + (sums.length[t] - sums.length[f]);
  RunningChip& chip = state_.chips[c];
  std::array<Time, kBuckets> bucket;
  for (std::size_t b = 0; b < kBuckets; ++b) bucket[b] = sums.bucket[t][b] - sums.bucket[f][b];
  exposed_.clear();
  for (std::size_t p = 0, all = sums.patterns.size(); p < all; ++p)
    exposed_.emplace_back(sums.patterns[p], sums.exposed[t * all + p] - sums.exposed[f * all + p]);
  state_.accounts.add(c, bucket, exposed_);
  for (std::size_t l = 0, all = sums.launches.size(); l < all; ++l) {
    const std::int32_t count = sums.launched[t * all + l] - sums.launched[f * all + l];
    if (count == 0) continue;
    state_.accounts.start(legs_.rendezvous_of(c, sums.launches[l].stream, sums.launches[l].communicator),
                          count);
    state_.queues.pass(c, chip.program, sums.launches[l].stream, count, end);
  }
  for (std::size_t leg = f; leg < t; ++leg) {
    const LegOutcome& outcome = runs_[c].legs->legs[leg].leg->alone;
    go_host(chip, outcome, begin, begin + outcome.length);
    begin += outcome.length;
  }
  state_.events += sums.events[t] - sums.events[f];
}

void SoloRuns::go_host(RunningChip& chip, const LegOutcome& outcome, Time begin, Time end) const {
  const Time before =
      outcome.host_add == LegOutcome::kNever ? LegOutcome::kNever : chip.host + outcome.host_add;
  const Time floor = LegOutcome::later(outcome.host_floor, begin);
  chip.host = std::max(before, floor);
  if (floor > before) chip.met = end;
}

// What drains beside the chip is another thing than before.
void SoloRuns::foresee_later(std::int32_t c) {
  runs_[c].rehearsed = 0;
  if (!std::exchange(runs_[c].unforeseen, true)) unforeseen_.push_back(c);
}

}  // namespace podsim
