// What chips do together with their peers: they gather for a span, and each has its end of it.
#include <algorithm>
#include <bit>

#include "engine/check.h"
#include "scheduler/simulation/longest_path/longest_path_loop.h"

namespace podsim {

void LongestPathLoop::list_peers() {
  std::vector<PeerSpan*> of_first(chips_.size(), nullptr);  // [first of them]
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    const std::int32_t group = tables_.legs.peers(static_cast<std::int32_t>(c));
    if (group < 0) continue;
    const std::vector<std::int32_t>& members = system_.groups[group].members;
    PeerSpan*& peers = of_first[static_cast<std::size_t>(members.front())];
    if (peers == nullptr) {
      peers = &peer_spans_.emplace_back();
      peers->chips = members;
      peers->members.resize(members.size());
    }
    chips_[c].peers = peers;
  }
}

// ---- Gathering

// Nothing of the span concerns others, but for its end, and that is behind an operation for which all of them
// have to come: so they may wait for each other before its begin as well.
bool LongestPathLoop::begin_with_peers(std::int32_t c, const PathInstruction& step) {
  PathChip& chip = chips_[c];
  SoloSpan& span = *step.with_peers;
  if (std::exchange(chip.apart, false) || (span.updates && records())) return false;
  PeerSpan& peers = *chip.peers;
  const auto comes = [&](std::int32_t each) { return each == c || may_come(chip, each, span); };
  if (peers.under_way || !may_begin(chip, span) || !std::ranges::all_of(peers.chips, comes)) {
    part(peers);
    return false;
  }
  chip.status = Status::kGathering;
  chip.span = &span;
  ++gathering_;
  if (++peers.gathered == peers.chips.size()) start_together(peers);
  return true;
}

// Whether the peer has gathered there too, or has nothing under way that it would not have behind it then.
bool LongestPathLoop::may_come(const PathChip& chip, std::int32_t peer, const SoloSpan& span) const {
  const PathChip& other = chips_[peer];
  if (other.status == Status::kGathering) return other.position == chip.position && other.at == chip.at;
  for (std::uint32_t left = span.idle; left != 0; left &= left - 1) {
    const PathStream& stream = other.streams[static_cast<std::size_t>(std::countr_zero(left))];
    if (stream.known < stream.operations.size()) return false;
  }
  return true;
}

void LongestPathLoop::part(PeerSpan& peers) {
  if (peers.under_way || peers.gathered == 0) return;
  ++together_.parted;
  gathering_ -= static_cast<std::int64_t>(std::exchange(peers.gathered, 0));
  for (const std::int32_t each : peers.chips) {
    if (chips_[each].status != Status::kGathering) continue;
    chips_[each].apart = true;
    chips_[each].parted = state_.now;
    resume_later(each);
  }
}

// A chip that launches by itself what its peers have to come to does not come to where they have gathered.
void LongestPathLoop::part_before(PathChip& chip, std::int32_t rendezvous) {
  if (chip.peers == nullptr || chip.peers->gathered == 0) return;
  if (std::ranges::equal(system_.groups[state_.all_rendezvous[rendezvous].group].members, chip.peers->chips))
    part(*chip.peers);
}

// ---- Under way

void LongestPathLoop::start_together(PeerSpan& peers) {
  PODSIM_CHECK(std::ranges::all_of(peers.chips,
                                   [&](std::int32_t each) {
                                     return chips_[each].status == Status::kGathering &&
                                            chips_[each].span == chips_[peers.chips.front()].span;
                                   }),
               "all peers have come to one span");
  peers.under_way = true;
  gathering_ -= static_cast<std::int64_t>(peers.gathered);
  for (std::size_t k = 0; k < peers.chips.size(); ++k) {
    PathChip& chip = chips_[peers.chips[k]];
    chip.status = Status::kTogether;
    chip.beside.trim(std::min(state_.now, chip.now));
    peers.members[k].ended = false;
  }
  const PathChip& chip = chips_[peers.chips.front()];
  if (!chip.slowed || !chip.span->joined) return foresee_together(peers);
  chip.span->joined = false;
  foresee_later(peers);
}

// No chip ends sooner than the span takes alone. The ends are asked for shortly before.
void LongestPathLoop::foresee_later(PeerSpan& peers) {
  peers.foreseen = false;
  Time begin = Time::max();
  std::int32_t first = -1;
  for (std::size_t k = peers.chips.size(); k-- > 0;) {
    if (peers.members[k].ended) continue;
    if (first >= 0) events_.clear(static_cast<std::size_t>(first));
    first = peers.chips[k];
    begin = std::min(begin, chips_[first].now);
  }
  PODSIM_CHECK(first >= 0, "some of the peers have not ended");
  events_.set(static_cast<std::size_t>(first),
              std::max(state_.now, begin + chips_[first].span->alone.length - kRoundingMargin));
}

// Something else drains beside one of them from then on. The others may yet be told of the same.
void LongestPathLoop::foresee_together_anew(std::int32_t c, Time from) {
  PeerSpan& peers = *chips_[c].peers;
  chips_[c].span->joined = true;
  if (peers.foreseen && from < chips_[c].now + chips_[c].course.length) foresee_later(peers);
}

void LongestPathLoop::foresee_together(PeerSpan& peers) {
  peers.foreseen = true;
  peers.alike = alike(peers);
  if (!peers.alike) return rehearse_together(peers);
  const std::int32_t first = peers.chips.front();
  PathChip& chip = chips_[first];
  programs_.spans().follow(first, *chip.span, chip.now, chip.beside.all(), chip.course);
  for (const std::int32_t each : peers.chips) {
    chips_[each].course.length = chip.course.length;
    events_.clear(static_cast<std::size_t>(each));
  }
  events_.set(static_cast<std::size_t>(first), std::max(state_.now, chip.now + chip.course.length));
}

bool LongestPathLoop::alike(const PeerSpan& peers) const {
  const PathChip& first = chips_[peers.chips.front()];
  const auto over = [&](const DrainBeside& each) { return each.end <= first.now; };
  const auto same = [&](std::int32_t each) {
    const PathChip& chip = chips_[each];
    if (chip.now != first.now) return false;
    const std::span<const DrainBeside> of = chip.beside.all(), of_first = first.beside.all();
    auto mine = of.begin();
    for (const DrainBeside& drain : of_first) {
      if (over(drain)) continue;
      mine = std::find_if_not(mine, of.end(), over);
      if (mine == of.end() || mine->begin != drain.begin || mine->end != drain.end ||
          mine->pattern != drain.pattern)
        return false;
      ++mine;
    }
    return std::all_of(mine, of.end(), over);
  };
  return std::ranges::none_of(peers.members, &PeerSpan::Member::ended) &&
         std::ranges::all_of(peers.chips, same);
}

// Step by step, all of them beside each other.
void LongestPathLoop::rehearse_together(PeerSpan& peers) {
  const std::size_t count = peers.chips.size();
  buffers_.resize(std::max(buffers_.size(), count));
  Time base = Time::max();
  const auto begin_of = [&](std::size_t k) {
    return peers.members[k].ended ? peers.members[k].begin : chips_[peers.chips[k]].now;
  };
  for (std::size_t k = 0; k < count; ++k) base = std::min(base, begin_of(k));
  std::vector<Rehearsal> all;
  all.reserve(count);
  const SoloSpan* span = nullptr;
  for (std::size_t k = 0; k < count; ++k) {
    PeerSpan::Member& member = peers.members[k];
    const PathChip& chip = chips_[peers.chips[k]];
    if (!member.ended) span = chip.span;
    relative_.clear();
    for (const DrainBeside& each :
         member.ended ? std::span<const DrainBeside>(member.drains) : chip.beside.all())
      relative_.push_back(
          {each.begin - base, each.end == Time::max() ? each.end : each.end - base, each.pattern});
    all.emplace_back(system_, program_of(peers.chips[k]), buffers_[k], member.outcome)
        .begin(begin_of(k) - base, relative_);
  }
  PODSIM_CHECK(span != nullptr, "some of the peers have not ended");
  for (const PlacedLeg& placed : span->legs) {
    for (Rehearsal& each : all) each.begin_leg(*placed.leg);
    for (const LegStep& step : placed.leg->steps) {
      if (step.kind == LegStep::Kind::kLaunch) {
        start_in_turn(step, all, peers);
      } else {
        for (Rehearsal& each : all) each.carry_out(step);
      }
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    PeerSpan::Member& member = peers.members[k];
    if (member.ended) continue;
    const std::int32_t c = peers.chips[k];
    LegOutcome& outcome = member.outcome;
    outcome.length -= begin_of(k) - base;
    outcome.host_floor = LegOutcome::later(outcome.host_floor, base - begin_of(k));
    member.waited_for = all[k].waited_for();
    member.first_own = all[k].first_own() - (begin_of(k) - base);
    member.stood = all[k].stood();
    chips_[c].course.length = outcome.length;
    events_.set(static_cast<std::size_t>(c), std::max(state_.now, chips_[c].now + outcome.length));
  }
}

// An operation, when the last member has come; of several at one instant that is the first by slowness.
void LongestPathLoop::start_in_turn(const LegStep& step, std::span<Rehearsal> all, const PeerSpan& peers) {
  Time started = LegOutcome::kNever;
  std::int32_t last = -1;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::int32_t c = peers.chips[k];
    const Time turn = all[k].turn(step);
    if (turn > started || (turn == started && state_.chips[c].degradation < state_.chips[last].degradation)) {
      started = turn;
      last = c;
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::int32_t group = system_.chips[peers.chips[k]].group_class[step.communicator];
    const bool alone = system_.groups[group].members.size() == 1;
    all[k].launch(step, alone ? all[k].turn(step) : started, alone ? peers.chips[k] : last);
  }
}

// ---- Ends

void LongestPathLoop::end_together(std::int32_t c) {
  PeerSpan& peers = *chips_[c].peers;
  if (!peers.foreseen) return foresee_together(peers);
  ++handled_;
  events_.clear(static_cast<std::size_t>(c));
  if (!peers.alike) return end_apart(c);
  ++together_.alike;
  peers.under_way = false;
  peers.gathered = 0;
  const SpanCourse& course = chips_[c].course;
  for (const std::int32_t each : peers.chips) {
    record_span(each, course.length, {}, {});
    leave_span(each, course);
    resume_later(each);
  }
}

// What drained beside it still matters to those that have not ended.
void LongestPathLoop::end_apart(std::int32_t c) {
  PathChip& chip = chips_[c];
  PeerSpan& peers = *chip.peers;
  const auto place = static_cast<std::size_t>(std::ranges::find(peers.chips, c) - peers.chips.begin());
  PeerSpan::Member& member = peers.members[place];
  member.ended = true;
  member.begin = chip.now;
  member.drains.assign(chip.beside.all().begin(), chip.beside.all().end());
  chip.course.outcome = &member.outcome;
  chip.course.host_floor = member.outcome.host_floor;
  chip.course.delays.clear();
  for (const auto& [last, time] : member.waited_for) state_.accounts.add_wait(c, time, last);
  record_span(c, chip.course.length, member.first_own, member.stood);
  leave_span(c, chip.course);
  resume_later(c);
  if (!std::ranges::all_of(peers.members, &PeerSpan::Member::ended)) return;
  ++together_.unlike;
  peers.under_way = false;
  peers.gathered = 0;
}

}  // namespace podsim
