// Carries out instructions without a fabric.
#include "planner/bounds/lone_chips.h"

#include <algorithm>
#include <array>
#include <bit>

#include "engine/check.h"
#include "planner/bounds/alone_times.h"

namespace podsim {
namespace {

using Kind = Instruction::Kind;

// Transfers that have been sent on one stream, in their order.
struct Inbox {
  std::vector<double> arrivals;
  std::size_t received = 0;
};
using Inboxes = std::array<Inbox, kStreams>;

// As many ends of a stream as any wait of these looks back.
std::size_t ends_to_keep(const std::vector<LoneOp>& ops) {
  std::int32_t most = 0;
  for (const LoneOp& op : ops) most = std::max(most, op.pending);
  return std::bit_ceil(static_cast<std::size_t>(most) + 1);
}

class LoneChip {
 public:
  explicit LoneChip(std::size_t ends_kept)
      : kept_(ends_kept), ends_(kStreams * ends_kept) {}  // REQUIRES: a power of two

  double now() const { return now_; }
  void host_leads_by(double seconds) { lead_ = seconds, follows_host_ = true; }

  // False where it has to wait for a transfer that nobody has sent yet. Operations that it launches to a
  // neighbour are told to `sent(neighbour, stream, end)`.
  template <class Sent>
  bool issue(const LoneOp& op, Inboxes& inboxes, Sent&& sent) {
    switch (op.kind) {
      case Kind::kCompute:
      case Kind::kPause:
        now_ += op.seconds;
        return true;
      case Kind::kLaunch:
      case Kind::kCopy: {
        const double end = put(op.stream, op.seconds);
        if (op.neighbour != 0) sent(op.neighbour, op.stream, end);
        return true;
      }
      case Kind::kWait: {
        const auto pending = static_cast<std::size_t>(op.pending), launched = launched_[index(op.stream)];
        if (launched > pending) now_ = std::max(now_, end_of(op.stream, launched - 1 - pending));
        return true;
      }
      case Kind::kReceive: {
        Inbox& inbox = inboxes[index(op.stream)];
        if (inbox.received == inbox.arrivals.size()) return false;
        host_ = now_ = std::max(now_, inbox.arrivals[inbox.received++]);
        return true;
      }
      case Kind::kHost:
        if (!follows_host_) return true;
        host_ = std::max(host_ + op.seconds, now_ - lead_);
        now_ = std::max(now_, host_);
        return true;
      case Kind::kSynchronise:
        host_ = now_;
        return true;
      case Kind::kInput:
        return true;
    }
    return true;
  }

 private:
  static std::size_t index(Stream stream) { return static_cast<std::size_t>(stream); }

  double& end_of(Stream stream, std::size_t operation) {
    return ends_[index(stream) * kept_ + (operation & (kept_ - 1))];
  }

  double put(Stream stream, double seconds) {
    const std::size_t before = launched_[index(stream)]++;
    const double free = before == 0 ? now_ : std::max(now_, end_of(stream, before - 1));
    return end_of(stream, before) = free + seconds;
  }

  const std::size_t kept_;
  double now_ = 0, host_ = 0, lead_ = 0;
  bool follows_host_ = false;
  std::array<std::size_t, kStreams> launched_{};  // [stream] operations
  std::vector<double> ends_;                      // of the last ones of every stream
};

// A chip on its way through the program of its stage.
struct Walk {
  LoneChip chip;
  std::vector<std::vector<LoneOp>> segments;
  std::size_t position = 0, op = 0;
};

Walk begin_of(const StageProgram& program, std::span<const CollectiveCall> messages,
              const std::vector<double>& alone_s) {
  std::vector<std::vector<LoneOp>> segments;
  std::size_t kept = 1;
  for (const std::vector<Instruction>& segment : program.segments) {
    segments.push_back(lone_ops(segment, messages, alone_s, program.skew));
    kept = std::max(kept, ends_to_keep(segments.back()));
  }
  Walk walk{LoneChip(kept), std::move(segments)};
  walk.chip.host_leads_by(program.host_lead.in_seconds());
  return walk;
}

}  // namespace

std::vector<LoneOp> lone_ops(const std::vector<Instruction>& instructions,
                             std::span<const CollectiveCall> messages, const std::vector<double>& alone_s,
                             double skew) {
  std::vector<LoneOp> ops;
  ops.reserve(instructions.size());
  for (const Instruction& each : instructions) {
    LoneOp& op = ops.emplace_back(LoneOp{each.kind, each.stream});
    op.pending = each.pending;
    op.seconds = each.duration.in_seconds();
    if (each.kind == Kind::kCompute) op.seconds *= 1 + skew;
    if (each.kind != Kind::kLaunch) continue;
    const auto message = static_cast<std::size_t>(each.message);
    op.seconds = alone_s[message];
    if (!messages.empty()) op.neighbour = static_cast<std::int16_t>(messages[message].scope.neighbour);
  }
  return ops;
}

double lone_seconds(const std::vector<LoneOp>& ops) {
  LoneChip chip(ends_to_keep(ops));
  Inboxes nothing;
  for (const LoneOp& op : ops)
    PODSIM_CHECK(chip.issue(op, nothing, [](int, Stream, double) {}), "it receives nothing");
  return chip.now();
}

double blocked_seconds(const std::vector<LoneOp>& ops) {
  struct Launched {
    std::vector<double> seconds;  // of its operations
    std::size_t first = 0;        // since the last computation
    double waited = 0;            // for those since then
    std::size_t over = 0;         // operations that were waited for
  };
  std::array<Launched, kStreams> streams;
  double blocked = 0, paused = 0;
  // Different streams are waited for at once, and while a pause goes on.
  const auto compute = [&] {
    double longest = paused;
    for (Launched& stream : streams) {
      longest = std::max(longest, stream.waited);
      stream.waited = 0;
      stream.first = stream.seconds.size();
    }
    blocked += longest;
    paused = 0;
  };
  for (const LoneOp& op : ops) {
    Launched& stream = streams[static_cast<std::size_t>(op.stream)];
    if (op.kind == Kind::kCompute) compute();
    if (op.kind == Kind::kPause) paused += op.seconds;
    if (op.kind == Kind::kLaunch || op.kind == Kind::kCopy) stream.seconds.push_back(op.seconds);
    if (op.kind != Kind::kWait || stream.seconds.size() <= static_cast<std::size_t>(op.pending)) continue;
    const std::size_t end = stream.seconds.size() - static_cast<std::size_t>(op.pending);
    for (std::size_t i = std::max(stream.first, stream.over); i < end; ++i)
      stream.waited += stream.seconds[i];
    stream.over = std::max(stream.over, end);
  }
  compute();
  return blocked;
}

std::vector<double> alone_seconds(const std::vector<CollectiveCall>& messages, const AloneTimes& alone) {
  std::vector<double> seconds;
  seconds.reserve(messages.size());
  for (const CollectiveCall& call : messages) seconds.push_back(alone.seconds(call));
  return seconds;
}

double relaxed_step_s(const LoweredStep& step, const std::vector<double>& alone_s) {
  const int stages = static_cast<int>(step.stages.size());
  std::vector<Inboxes> inboxes(step.stages.size());
  std::vector<Walk> walks;
  for (const StageProgram& program : step.stages) walks.push_back(begin_of(program, step.messages, alone_s));
  // Goes as far as it can. True where it went on at all.
  const auto advance = [&](int stage) {
    Walk& walk = walks[static_cast<std::size_t>(stage)];
    const std::vector<std::int32_t>& order = step.stages[static_cast<std::size_t>(stage)].order;
    const auto sent = [&](int neighbour, Stream stream, double end) {
      const int to = (stage + neighbour + stages) % stages;
      inboxes[static_cast<std::size_t>(to)][static_cast<std::size_t>(stream)].arrivals.push_back(end);
    };
    bool moved = false;
    for (; walk.position < order.size(); ++walk.position, walk.op = 0) {
      const std::vector<LoneOp>& segment = walk.segments[static_cast<std::size_t>(order[walk.position])];
      for (; walk.op < segment.size(); ++walk.op, moved = true)
        if (!walk.chip.issue(segment[walk.op], inboxes[static_cast<std::size_t>(stage)], sent)) return moved;
    }
    return moved;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < stages; ++stage) moved = advance(stage) || moved;
  }
  double end = 0;
  for (std::size_t stage = 0; stage < walks.size(); ++stage) {
    PODSIM_CHECK(walks[stage].position == step.stages[stage].order.size(), "no stage waits for ever");
    end = std::max(end, walks[stage].chip.now());
  }
  return end;
}

}  // namespace podsim
