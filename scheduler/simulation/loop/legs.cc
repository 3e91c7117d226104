// Goes through legs move by move.
#include "scheduler/simulation/loop/legs.h"

#include <algorithm>

namespace podsim {
namespace {

// One leg, move by move, beside transfers given by their times after its begin. Rules 6, 7 and 13 of
// simulate.h.
class Rehearsal {
 public:
  Rehearsal(const System& system, const StageProgram& program, RehearsalBuffers& buffers, LegOutcome& outcome,
            std::vector<HostCall>* host)
      : system_(system),
        program_(program),
        outcome_(outcome),
        host_(host),
        drains_(buffers.drains),
        ends_(buffers.ends) {}

  void run(const Leg& leg, std::span<const DrainBeside> beside) {
    outcome_.clear();
    drains_.assign(beside.begin(), beside.end());
    ends_.assign(static_cast<std::size_t>(leg.launches), Time{});
    for (const LegStep& step : leg.steps) carry_out(step);
  }

 private:
  void book(Bucket bucket, Time time) { outcome_.bucket[static_cast<std::size_t>(bucket)] += time; }
  void expose(std::int32_t pattern, Time time) {
    book(Bucket::kCommunication, time);
    for (auto& [known, sum] : outcome_.exposed)
      if (known == pattern) {
        sum += time;
        return;
      }
    outcome_.exposed.emplace_back(pattern, time);
  }

  void carry_out(const LegStep& step) {
    const Time now = outcome_.length;
    switch (step.kind) {
      case LegStep::Kind::kCompute:
        return compute(step);
      case LegStep::Kind::kPause:
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
      case LegStep::Kind::kLaunch:
        return launch(step);
      case LegStep::Kind::kWait: {
        const Time end = ends_[static_cast<std::size_t>(step.launch)];
        if (end <= now) return;
        expose(step.pattern, end - now);
        outcome_.length = end;
        return;
      }
    }
  }

  void launch(const LegStep& step) {
    const Time now = outcome_.length;
    const Time turn = step.behind < 0 ? now : std::max(now, ends_[static_cast<std::size_t>(step.behind)]);
    ends_[static_cast<std::size_t>(step.launch)] = turn + step.length;
    if (program_.interference == 0) return;
    std::erase_if(drains_, [&](const DrainBeside& drain) { return drain.end <= now; });
    for (std::size_t e = 0; e + 1 < step.edges.size(); e += 2)
      drains_.push_back({turn + step.edges[e].after, turn + step.edges[e + 1].after, step.pattern});
  }

  void compute(const LegStep& step) {
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
    outcome_.length = end;
    const Time computed = end - begin - lost;
    const bool skewed = step.bucket == Bucket::kCompute || step.bucket == Bucket::kOptimizer;
    const double skew = skewed && end > begin ? program_.skew : 0;
    const Time waited = nearest(static_cast<double>(computed.ps) * skew / (1 + skew));
    book(step.bucket, computed - waited);
    book(Bucket::kSkew, waited);
  }

  // To the first pattern that drains at the instant.
  Time lose(Time at, Time time) {
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

  double pace_at(Time now) const {
    for (const DrainBeside& drain : drains_)
      if (drain.begin <= now && now < drain.end) return 1 + program_.interference;
    return 1;
  }

  // Of a transfer, after now.
  Time next_edge(Time now) const {
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

  const System& system_;
  const StageProgram& program_;
  LegOutcome& outcome_;
  std::vector<HostCall>* host_;  // to be listed, or null
  std::vector<DrainBeside>& drains_;
  std::vector<Time>& ends_;
};

}  // namespace

void LegOutcome::clear() {
  length = host_add = {};
  host_floor = kNever;
  bucket.fill({});
  exposed.clear();
}

bool HostAhead::in_time(std::span<const HostCall> calls, Time begin, Time& latest) {
  Time least = latest;
  for (const HostCall& call : calls) {
    const Time at = begin + call.at;
    if (call.synchronises) {
      add_ = LegOutcome::kNever;
      floor_ = at;
      continue;
    }
    add_ = LegOutcome::later(add_, call.length);
    floor_ = LegOutcome::later(floor_, call.length);
    if (lead_ < Time::max()) floor_ = std::max(floor_, at - lead_);
    if (add_ != LegOutcome::kNever) least = std::min(least, at - add_ - kRoundingMargin);
    if (floor_ + kRoundingMargin > at) return false;
  }
  latest = least;
  return true;
}

void rehearse(const System& system, const StageProgram& program, const Leg& leg,
              std::span<const DrainBeside> beside, RehearsalBuffers& buffers, LegOutcome& outcome,
              std::vector<HostCall>* host) {
  Rehearsal(system, program, buffers, outcome, host).run(leg, beside);
}

}  // namespace podsim
