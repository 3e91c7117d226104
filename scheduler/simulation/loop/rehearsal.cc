// Goes through legs step by step.
#include "scheduler/simulation/loop/rehearsal.h"

#include <algorithm>
#include <limits>

#include "engine/check.h"

namespace podsim {

inline void Rehearsal::expose(std::int32_t pattern, Time time) {
  book(Bucket::kCommunication, time);
  for (auto& [known, sum] : outcome_.exposed)
    if (known == pattern) {
      sum += time;
      return;
    }
  outcome_.exposed.emplace_back(pattern, time);
}

// As Accounts::wait.
inline void Rehearsal::wait(const LegStep& step) {
  const Time now = outcome_.length;
  const RehearsedLaunch& of = launches_[static_cast<std::size_t>(step.launch)];
  if (of.end <= now) return;
  const Time peers_begin = std::max(now, of.reached), peers = std::max(Time{}, of.started - peers_begin);
  if (peers > Time{}) {
    book(Bucket::kPeerWait, peers);
    waited_for_.emplace_back(of.last, peers);
    stood_ += peers;
  }
  if (peers_begin > now) {
    note_own(now);
  } else if (of.end > peers_begin + peers) {
    note_own(peers_begin + peers);
  }
  for (std::int32_t before = of.behind; before >= 0;) {
    const RehearsedLaunch& earlier = launches_[static_cast<std::size_t>(before)];
    if (earlier.end <= now) break;
    stood_ += std::max(Time{}, earlier.started - std::max(now, earlier.reached));
    before = earlier.behind;
  }
  expose(step.pattern, of.end - now - peers);
  outcome_.length = of.end;
}

inline double Rehearsal::pace_at(Time now) const {
  for (const DrainBeside& drain : drains_)
    if (drain.begin <= now && now < drain.end) return 1 + program_.interference;
  return 1;
}

// Of a transfer, after now.
inline Time Rehearsal::next_edge(Time now) const {
  Time next = Time::max();
  for (const DrainBeside& drain : drains_) {
    if (drain.begin > now) {
      next = std::min(next, drain.begin);
    } else if (drain.end > now) {
      next = std::min(next, drain.end);
    }
  }
  return next;
}

// To the first pattern that drains at the instant.
inline Time Rehearsal::lose(Time at, Time time) {
  std::int32_t pattern = std::numeric_limits<std::int32_t>::max();
  for (const DrainBeside& drain : drains_)
    if (drain.begin <= at && at < drain.end) pattern = std::min(pattern, drain.pattern);
  if (system_.patterns[pattern].kind == CollectiveKind::kSendReceive) {
    book(Bucket::kBubble, time);
  } else {
    expose(pattern, time);
  }
  return time;
}

inline void Rehearsal::compute(const LegStep& step) {
  const Time begin = outcome_.length;
  Time left = step.length, at = begin, lost;
  double pace = pace_at(at);
  Time end = at + LegOutcome::scaled(left, pace);
  for (;;) {
    const Time edge = next_edge(at);
    const Time now = std::min(edge, end), elapsed = now - at;
    const Time done = pace == 1 ? elapsed : nearest(static_cast<double>(elapsed.ps) / pace);
    if (done < elapsed) lost += lose(at, elapsed - done);
    left = std::max(Time{}, left - done);
    at = now;
    if (edge >= end) break;
    if (const double after = pace_at(at); after != pace) {
      pace = after;
      end = at + LegOutcome::scaled(left, pace);
    }
  }
  if (end > begin) note_own(begin);
  outcome_.length = end;
  const Time computed = end - begin - lost;
  const bool skewed = step.bucket == Bucket::kCompute || step.bucket == Bucket::kOptimizer;
  const double skew = skewed && end > begin ? program_.skew : 0;
  const Time waited = nearest(static_cast<double>(computed.ps) * skew / (1 + skew));
  book(step.bucket, computed - waited);
  book(Bucket::kSkew, waited);
}

void Rehearsal::carry_out(const LegStep& step) {
  const Time now = outcome_.length;
  switch (step.kind) {
    case LegStep::Kind::kCompute:
      return compute(step);
    case LegStep::Kind::kPause:
      if (step.length > Time{}) note_own(now);
      outcome_.length += step.length;
      return book(step.bucket, step.length);
    case LegStep::Kind::kHost:
      if (host_) host_->push_back({now, step.length});
      outcome_.host_add = LegOutcome::later(outcome_.host_add, step.length);
      outcome_.host_floor = LegOutcome::later(outcome_.host_floor, step.length);
      if (program_.host_lead < Time::max())
        outcome_.host_floor = std::max(outcome_.host_floor, now - program_.host_lead);
      return;
    case LegStep::Kind::kSynchronise:
      if (host_) host_->push_back({now, {}, true});
      outcome_.host_add = LegOutcome::kNever;
      outcome_.host_floor = now;
      return;
    case LegStep::Kind::kWait:
      return wait(step);
    case LegStep::Kind::kLaunch:
      break;
  }
  PODSIM_CHECK(false, "launches are carried out by launch()");
}

void Rehearsal::launch(const LegStep& step, Time started, std::int32_t last) {
  const Time now = outcome_.length;
  PODSIM_CHECK(started >= turn(step), "an operation starts when its last member has come");
  launches_[static_cast<std::size_t>(step.launch)] = {turn(step), started, started + step.length, last,
                                                      step.behind};
  if (program_.interference == 0) return;
  std::erase_if(drains_, [&](const DrainBeside& drain) { return drain.end <= now; });
  for (std::size_t e = 0; e + 1 < step.edges.size(); e += 2)
    drains_.push_back({started + step.edges[e].after, started + step.edges[e + 1].after, step.pattern});
}

void rehearse(const System& system, const StageProgram& program, const Leg& leg,
              std::span<const DrainBeside> beside, RehearsalBuffers& buffers, LegOutcome& outcome,
              std::vector<HostCall>* host) {
  Rehearsal rehearsal(system, program, buffers, outcome, host);
  rehearsal.begin({}, beside);
  rehearsal.begin_leg(leg);
  for (const LegStep& step : leg.steps)
    step.kind == LegStep::Kind::kLaunch ? rehearsal.launch(step, rehearsal.turn(step))
                                        : rehearsal.carry_out(step);
}

}  // namespace podsim
