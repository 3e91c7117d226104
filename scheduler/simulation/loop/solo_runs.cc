// Legs are found once for each chip and segment, and gone through whenever what drains beside them is new.
#include "scheduler/simulation/loop/solo_runs.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/check.h"

namespace podsim {
namespace {

// By which rounding cannot bring a chip forward: what is later than by this much surely is.
constexpr Time kMargin{1000};

}  // namespace

SoloRuns::SoloRuns(StepState& state, UncontendedCollectives& uncontended, bool on)
    : state_(state), uncontended_(uncontended) {
  if (!on) return;
  runs_.resize(state.system.chips.size());
  legs_.resize(state.system.chips.size());
  for (std::size_t c = 0; c < runs_.size(); ++c) {
    const StageProgram& program = state.system.step.stages[state.system.chips[c].program];
    runs_[c].interference = program.interference;
    legs_[c].resize(program.segments.size());
  }
}

bool SoloRuns::may_begin(std::int32_t c) {
  if (runs_.empty() || state_.system.chips[c].profile >= 0) return false;
  const RunningChip& chip = state_.chips[c];
  SegmentLegs& segment = legs_of(c);
  const std::int32_t number = segment.at[static_cast<std::size_t>(chip.at - first_of(c))];
  if (number < 0) return false;
  const Leg& leg = segment.legs[static_cast<std::size_t>(number)];
  if (leg.last < 0) join(c, segment.legs, number);
  if (leg.last == number || chip.host - state_.now > leg.latest_host) return false;
  const StreamOperations& lists = state_.queues.lists();
  for (const StreamList& list : lists.lists_of(chip.program))
    if ((leg.idle & Leg::bit(list.stream)) != 0 && state_.queue_of(c, list.stream).unfinished > 0)
      return false;
  return true;
}

void SoloRuns::begin(std::int32_t c, std::span<const DrainBeside> beside) {
  RunningChip& chip = state_.chips[c];
  chip.since = state_.now;
  ++begun_;
  Run& run = runs_[c];
  run.legs = &legs_of(c);
  run.leg = run.legs->at[static_cast<std::size_t>(chip.at - first_of(c))];
  run.last = run.legs->legs[static_cast<std::size_t>(run.leg)].last;
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
    for (std::int32_t leg = run.leg; leg < run.last; ++leg) end += outcome(c, leg, end).length;
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

const Instruction* SoloRuns::first_of(std::int32_t c) const {
  const RunningChip& chip = state_.chips[c];
  const StageProgram& program = state_.program_of(chip);
  return program.segments[program.order[chip.position]].data();
}

SegmentLegs& SoloRuns::legs_of(std::int32_t c) {
  const RunningChip& chip = state_.chips[c];
  const std::int32_t segment = state_.program_of(chip).order[chip.position];
  std::unique_ptr<SegmentLegs>& legs = legs_[c][segment];
  if (!legs) {
    legs = std::make_unique<SegmentLegs>();
    find_legs(c, state_.program_of(chip).segments[segment], *legs);
  }
  return *legs;
}

// As short as they may be, so that few are beside a begin or an end of a transfer.
void SoloRuns::find_legs(std::int32_t c, std::span<const Instruction> segment, SegmentLegs& found) {
  found.at.assign(segment.size(), -1);
  for (std::int32_t first = 0; first < std::ssize(segment);) {
    std::optional<Leg> leg = leg_from(c, segment, first);
    if (!leg || leg->events == 0) {
      ++first;
      continue;
    }
    const Instruction::Kind kind = segment[static_cast<std::size_t>(first)].kind;
    if (kind == Instruction::Kind::kCompute || kind == Instruction::Kind::kLaunch)
      found.at[static_cast<std::size_t>(first)] = static_cast<std::int32_t>(found.legs.size());
    first = leg->after;
    found.legs.push_back(*std::move(leg));
  }
  for (Leg& leg : found.legs) {
    rehearse(state_.system, state_.program_of(state_.chips[c]), leg, {}, leg.alone, &leg.host);
    leg.longest = LegOutcome::scaled(leg.alone.length, 1 + runs_[c].interference) +
                  Time{1000 + 8 * static_cast<std::int64_t>(leg.steps.size())};
  }
}

// To the first instruction at which all that was launched has been waited for, or the last one before what
// concerns others.
std::optional<Leg> SoloRuns::leg_from(std::int32_t c, std::span<const Instruction> segment,
                                      std::int32_t first) {
  const ChipClass& chip = state_.system.chips[c];
  const double scale = (1 + state_.system.step.stages[chip.program].skew) / chip.speed;
  LegWriter writer(first);
  std::optional<Leg> closed;
  for (const Instruction& each : segment.subspan(static_cast<std::size_t>(first))) {
    switch (each.kind) {
      case Instruction::Kind::kCompute:
        writer.add({.kind = LegStep::Kind::kCompute,
                    .bucket = each.bucket,
                    .length = LegOutcome::scaled(each.duration, scale)},
                   0);
        break;
      case Instruction::Kind::kPause:
        writer.add({.kind = LegStep::Kind::kPause, .bucket = each.bucket, .length = each.duration}, 0);
        break;
      case Instruction::Kind::kHost:
        writer.add({.kind = LegStep::Kind::kHost, .length = each.duration}, 0);
        break;
      case Instruction::Kind::kSynchronise:
        writer.add({.kind = LegStep::Kind::kSynchronise, .length = {}}, 0);
        break;
      case Instruction::Kind::kWait:
        if (each.stream >= Stream::kForwardNext) return closed;
        writer.wait(each.stream, each.pending);
        break;
      case Instruction::Kind::kLaunch: {
        std::uint32_t beside = 0;
        if (!own(c, each, beside) || !writer.alone(each.stream, beside)) return closed;
        const std::int32_t group = chip.group_class[state_.system.communicator_of[each.message]];
        const UncontendedCollective& alone = uncontended_[uncontended_.find(group, each.message)];
        writer.launch({.kind = LegStep::Kind::kLaunch,
                       .pattern = state_.system.pattern_of[each.message],
                       .length = alone.arrival,
                       .edges = alone.edges},
                      each.stream, rendezvous_of(c, each), beside);
        break;
      }
      case Instruction::Kind::kReceive:
      case Instruction::Kind::kInput:
      case Instruction::Kind::kCopy:
        return closed;
    }
    if (writer.closed()) {
      if (writer.leg().launches > 0) return writer.take();
      closed = writer.leg();
    }
  }
  return closed;
}

std::int32_t SoloRuns::rendezvous_of(std::int32_t c, const Instruction& launch) const {
  const std::int32_t group =
      state_.system.chips[c].group_class[state_.system.communicator_of[launch.message]];
  for (std::size_t m = 0; m < state_.all_rendezvous.size(); ++m)
    if (state_.all_rendezvous[m].group == group && state_.all_rendezvous[m].stream == launch.stream)
      return static_cast<std::int32_t>(m);
  PODSIM_CHECK(false, "what is launched has a rendezvous");
  return -1;
}

// Whether the chip alone decides how the operation goes; on which other streams of its nothing may be
// under way.
bool SoloRuns::own(std::int32_t c, const Instruction& launch, std::uint32_t& streams) {
  const System& system = state_.system;
  const std::int32_t group = system.chips[c].group_class[system.communicator_of[launch.message]];
  if (launch.stream >= Stream::kForwardNext || system.step.messages[launch.message].scope.neighbour != 0 ||
      system.groups[group].members.size() != 1)
    return false;
  if (users_.empty()) list_users();
  const std::int32_t run = uncontended_.find(group, launch.message);
  if (!uncontended_[run].ends) return false;
  for (const std::int32_t link : uncontended_.links(run))
    for (const User& user : users_[static_cast<std::size_t>(link)]) {
      const std::vector<std::int32_t>& members = system.groups[user.group].members;
      if (members.size() != 1 || members.front() != c) return false;
      streams |= Leg::bit(user.stream);
    }
  return true;
}

void SoloRuns::list_users() {
  const System& system = state_.system;
  users_.resize(system.links.size());
  for (const ChipClass& chip : system.chips)
    for (const std::vector<Instruction>& segment : system.step.stages[chip.program].segments)
      for (const Instruction& each : segment) {
        if (each.kind != Instruction::Kind::kLaunch) continue;
        const User user{chip.group_class[system.communicator_of[each.message]], each.stream};
        for (const std::int32_t link : uncontended_.links(uncontended_.find(user.group, each.message))) {
          std::vector<User>& users = users_[static_cast<std::size_t>(link)];
          if (std::ranges::find(users, user) == users.end()) users.push_back(user);
        }
      }
}

// The host launches in time for all of them if it is not later than this when the first one begins: whatever
// drains beside them, the chip comes to nothing sooner.
void SoloRuns::join(std::int32_t c, std::vector<Leg>& legs, std::int32_t first) const {
  const Time lead = state_.program_of(state_.chips[c]).host_lead;
  Leg& begin = legs[static_cast<std::size_t>(first)];
  begin.last = first;
  begin.latest_host = Time::max();
  Time now, add, floor = LegOutcome::kNever;
  std::int32_t events = 0;
  for (auto l = static_cast<std::size_t>(first); l < legs.size(); ++l) {
    if (l > static_cast<std::size_t>(first) && legs[l].first != legs[l - 1].after) break;
    Time latest = begin.latest_host;
    bool in_time = true;
    for (const HostCall& call : legs[l].host) {
      const Time at = now + call.at;
      if (call.synchronises) {
        add = LegOutcome::kNever;
        floor = at;
        continue;
      }
      add = LegOutcome::later(add, call.length);
      floor = LegOutcome::later(floor, call.length);
      if (lead < Time::max()) floor = std::max(floor, at - lead);
      if (add != LegOutcome::kNever) latest = std::min(latest, at - add - kMargin);
      in_time = in_time && floor + kMargin <= at;
    }
    if (!in_time) break;
    begin.latest_host = latest;
    begin.idle |= legs[l].streams;
    begin.last = static_cast<std::int32_t>(l) + 1;
    now += legs[l].alone.length;
    events += legs[l].events;
  }
  if (events < 2) begin.last = first;
}

const LegOutcome& SoloRuns::outcome(std::int32_t c, std::int32_t number, Time begin) {
  Run& run = runs_[c];
  Leg& leg = run.legs->legs[static_cast<std::size_t>(number)];
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
  const StageProgram& program = state_.program_of(state_.chips[c]);
  if (throughout) {
    for (const auto& [known, outcome] : leg.slowed)
      if (known == pattern) return outcome;
    LegOutcome& slowed = leg.slowed.emplace_back(pattern, LegOutcome{}).second;
    const DrainBeside all{Time{}, Time::max(), pattern};
    rehearse(state_.system, program, leg, {&all, 1}, slowed);
    return slowed;
  }
  near_.clear();
  for (const DrainBeside& each : run.beside) {
    if (each.end <= begin || each.begin >= most) continue;
    near_.push_back(
        {each.begin - begin, each.end == Time::max() ? each.end : each.end - begin, each.pattern});
  }
  rehearse(state_.system, program, leg, near_, scratch_);
  return scratch_;
}

void SoloRuns::book_until(std::int32_t c, Time now) {
  Run& run = runs_[c];
  while (run.leg < run.last) {
    const LegOutcome& next = outcome(c, run.leg, run.begin);
    if (run.begin + next.length > now) break;
    book(c, run.legs->legs[static_cast<std::size_t>(run.leg)], next, run.begin);
    run.begin += next.length;
    ++run.leg;
  }
  std::erase_if(run.beside, [&](const DrainBeside& each) { return each.end <= run.begin; });
}

void SoloRuns::book(std::int32_t c, const Leg& leg, const LegOutcome& outcome, Time begin) {
  const Time end = begin + outcome.length;
  RunningChip& chip = state_.chips[c];
  state_.accounts.add(c, outcome.bucket, outcome.exposed);
  for (const LegLaunches& each : leg.launched) {
    state_.accounts.start(each.rendezvous, each.count);
    state_.queues.pass(c, chip.program, each.stream, each.count, end);
  }
  const Time before =
      outcome.host_add == LegOutcome::kNever ? LegOutcome::kNever : chip.host + outcome.host_add;
  const Time floor = LegOutcome::later(outcome.host_floor, begin);
  chip.host = std::max(before, floor);
  if (floor > before) chip.met = end;
  state_.events += leg.events;
}

void SoloRuns::foresee_later(std::int32_t c) {
  if (!std::exchange(runs_[c].unforeseen, true)) unforeseen_.push_back(c);
}

}  // namespace podsim
