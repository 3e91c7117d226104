// Carries out instructions without a fabric.
#include "planner/bounds/lone_chips.h"

#include <algorithm>
#include <array>

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

class LoneChip {
 public:
  LoneChip(const std::vector<double>& alone_s, double skew) : alone_s_(alone_s), stretch_(1 + skew) {}

  double now() const { return now_; }
  void host_leads_by(double seconds) { lead_ = seconds, follows_host_ = true; }

  // False where it has to wait for a transfer that nobody has sent yet. Operations that it launches to a
  // neighbour are told to `sent(neighbour, stream, end)`.
  template <class Sent>
  bool issue(const Instruction& instruction, const CollectiveCall* call, std::array<Inbox, kStreams>& inboxes,
             Sent&& sent) {
    switch (instruction.kind) {
      case Kind::kCompute:
        now_ += instruction.duration.in_seconds() * stretch_;
        return true;
      case Kind::kPause:
        now_ += instruction.duration.in_seconds();
        return true;
      case Kind::kLaunch: {
        const double end = put(instruction.stream, alone_s_[static_cast<std::size_t>(instruction.message)]);
        if (call->scope.neighbour != 0) sent(call->scope.neighbour, instruction.stream, end);
        return true;
      }
      case Kind::kCopy:
        put(instruction.stream, instruction.duration.in_seconds());
        return true;
      case Kind::kWait: {
        const std::vector<double>& ends = ends_[static_cast<std::size_t>(instruction.stream)];
        const auto pending = static_cast<std::size_t>(instruction.pending);
        if (ends.size() > pending) now_ = std::max(now_, ends[ends.size() - 1 - pending]);
        return true;
      }
      case Kind::kReceive: {
        Inbox& inbox = inboxes[static_cast<std::size_t>(instruction.stream)];
        if (inbox.received == inbox.arrivals.size()) return false;
        host_ = now_ = std::max(now_, inbox.arrivals[inbox.received++]);
        return true;
      }
      case Kind::kHost:
        if (!follows_host_) return true;
        host_ = std::max(host_ + instruction.duration.in_seconds(), now_ - lead_);
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
  double put(Stream stream, double seconds) {
    std::vector<double>& ends = ends_[static_cast<std::size_t>(stream)];
    ends.push_back((ends.empty() ? now_ : std::max(now_, ends.back())) + seconds);
    return ends.back();
  }

  const std::vector<double>& alone_s_;
  const double stretch_;
  double now_ = 0, host_ = 0, lead_ = 0;
  bool follows_host_ = false;
  std::array<std::vector<double>, kStreams> ends_;  // [stream] of its operations, in order
};

// A chip on its way through the program of its stage.
struct Walk {
  LoneChip chip;
  std::size_t position = 0, instruction = 0;
};

}  // namespace

double lone_seconds(const std::vector<Instruction>& instructions, const std::vector<double>& alone_s,
                    double skew) {
  LoneChip chip(alone_s, skew);
  std::array<Inbox, kStreams> nothing;
  static const CollectiveCall kOfGroup{};
  for (const Instruction& instruction : instructions)
    PODSIM_CHECK(chip.issue(instruction, &kOfGroup, nothing, [](int, Stream, double) {}),
                 "it receives nothing");
  return chip.now();
}

std::vector<double> alone_seconds(const std::vector<CollectiveCall>& messages, const AloneTimes& alone) {
  std::vector<double> seconds;
  seconds.reserve(messages.size());
  for (const CollectiveCall& call : messages) seconds.push_back(alone.seconds(call));
  return seconds;
}

double relaxed_step_s(const LoweredStep& step, const std::vector<double>& alone_s) {
  const int stages = static_cast<int>(step.stages.size());
  std::vector<std::array<Inbox, kStreams>> inboxes(step.stages.size());
  std::vector<Walk> walks;
  for (const StageProgram& program : step.stages) {
    walks.push_back({LoneChip(alone_s, program.skew)});
    walks.back().chip.host_leads_by(program.host_lead.in_seconds());
  }
  // Goes as far as it can. True where it went on at all.
  const auto advance = [&](int stage) {
    Walk& walk = walks[static_cast<std::size_t>(stage)];
    const StageProgram& program = step.stages[static_cast<std::size_t>(stage)];
    const auto sent = [&](int neighbour, Stream stream, double end) {
      const int to = (stage + neighbour + stages) % stages;
      inboxes[static_cast<std::size_t>(to)][static_cast<std::size_t>(stream)].arrivals.push_back(end);
    };
    bool moved = false;
    for (; walk.position < program.order.size(); ++walk.position, walk.instruction = 0) {
      const auto& segment = program.segments[static_cast<std::size_t>(program.order[walk.position])];
      for (; walk.instruction < segment.size(); ++walk.instruction, moved = true) {
        const Instruction& next = segment[walk.instruction];
        const CollectiveCall* call =
            next.message < 0 ? nullptr : &step.messages[static_cast<std::size_t>(next.message)];
        if (!walk.chip.issue(next, call, inboxes[static_cast<std::size_t>(stage)], sent)) return moved;
      }
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
