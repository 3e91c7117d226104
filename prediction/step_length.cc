// Adds up what one chip does, each thing after the other.
#include "prediction/step_length.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/sharing.h"
#include "engine/unit_factors.h"
#include "prediction/drawn_length.h"
#include "report/text/text.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {
namespace {

double mean_factor(const Staircase& staircase) {
  if (staircase.period.ps == 0) return 1;
  double sum = 0;
  for (std::size_t i = 0; i < staircase.steps.size(); ++i) {
    const bool last = i + 1 == staircase.steps.size();
    const Time end = last ? staircase.period : staircase.steps[i + 1].first;
    sum += staircase.steps[i].second * (end - staircase.steps[i].first).in_seconds();
  }
  return sum / staircase.period.in_seconds();
}

// Of speeds that are what they are in the mean.
double mean_factor(const System& system, std::int32_t profile) {
  double mean = 1;
  if (profile < 0) return mean;
  for (const Wave& wave : system.profiles[profile]) {
    const double there = mean_factor(wave.staircase);
    mean *= wave.chance ? 1 - wave.chance->share * (1 - there) : there;
  }
  return mean;
}

// The slowest thing of a kind, by what multiplies its time.
struct Slowest {
  double times = 0;
  std::int32_t number = -1;
  void meet(double more, std::int32_t which) {
    if (more > times) *this = {more, which};
  }
};

class StepBound {
 public:
  explicit StepBound(const System& system)
      : system_(system), capacities_(link_capacities(system)), sends_(system.patterns.size()) {
    for (const GroupClass& group : system.groups)
      for (std::size_t p = 0; p < group.patterns.size(); ++p)
        if (!group.patterns[p].empty()) meet(sends_[p], group.patterns[p]);
    for (std::size_t m = 0; m < system.step.messages.size(); ++m)
      messages_.push_back(time_of(system.step.messages[m].bytes, sends_[system.pattern_of[m]]));
  }

  // Throws where the step of the longest program of any chip is too long for so many steps.
  void refuse(int steps) const {
    std::vector<Slowest> chips(system_.step.stages.size());
    for (std::size_t c = 0; c < system_.chips.size(); ++c) {
      const ChipClass& chip = system_.chips[c];
      const double speed = chip.speed * mean_factor(system_, chip.profile);
      chips[chip.program].meet(1 / speed, static_cast<std::int32_t>(c));
    }
    for (std::size_t s = 0; s < chips.size(); ++s)
      if (chips[s].number >= 0) refuse(system_.step.stages[s], chips[s], steps);
  }

 private:
  // What a pattern takes: the slowest of its groups.
  struct Send {
    const std::vector<ClassPhase>* phases = nullptr;
    double s_per_byte = -1;
    std::int32_t link = -1;  // the class that limits it
  };

  void meet(Send& send, const std::vector<ClassPhase>& phases) const {
    double s_per_byte = 0;
    Slowest link;
    for (const ClassPhase& phase : phases) {
      Slowest limit;
      for (const Use& use : phase.uses) {
        const double factor = mean_factor(system_, system_.links[use.resource].profile);
        limit.meet(static_cast<double>(use.usage) / kUsageUnit / (capacities_[use.resource] * factor),
                   use.resource);
      }
      s_per_byte += phase.work_per_byte * limit.times;
      link.meet(phase.work_per_byte * limit.times, limit.number);
    }
    if (s_per_byte > send.s_per_byte) send = {&phases, s_per_byte, link.number};
  }

  // What a message takes, which programs launch again and again.
  struct Message {
    double seconds = 0, on_link_s = 0;
    std::int32_t link = -1;
  };

  static Message time_of(Bytes bytes, const Send& send) {
    if (!send.phases) return {};
    double latency = 0;
    for (const ClassPhase& phase : *send.phases) latency += latency_of(phase, bytes).in_seconds();
    return {latency + send.s_per_byte * bytes.value, send.s_per_byte * bytes.value, send.link};
  }

  void refuse(const StageProgram& program, const Slowest& chip, int steps) const {
    std::vector<double> compute, send;  // [segment]
    Slowest link;
    for (const std::vector<Instruction>& segment : program.segments) {
      double computed = 0, sent = 0;
      for (const Instruction& next : segment) {
        if (next.kind == Instruction::Kind::kLaunch) {
          const Message& message = messages_[static_cast<std::size_t>(next.message)];
          sent += message.seconds;
          link.meet(message.on_link_s, message.link);
        }
        computed += next.duration.in_seconds();
      }
      compute.push_back(computed * chip.times * (1 + program.skew) * (1 + program.interference));
      send.push_back(sent);
    }
    double compute_s = 0, send_s = 0;
    for (const std::int32_t segment : program.order) compute_s += compute[segment], send_s += send[segment];
    const double step_s = compute_s + send_s + program.input.load.in_seconds();
    if (step_s <= kLongestStep_s && step_s * steps <= kLongestRun_s) return;
    throw StepTooLong(words(step_s, steps) + (compute_s >= send_s ? of_chip(chip) : of_link(link)));
  }

  static std::string words(double step_s, int steps) {
    if (step_s > kLongestStep_s)
      return "a step may take " + significant(step_s / kSecondsPerDay, 3) + " days, and " +
             longest_step_words() + ": ";
    return std::to_string(steps) + " steps may take " + significant(step_s * steps / kSecondsPerDay, 3) +
           " days together, and " + longest_run_words() + ": take fewer steps; ";
  }

  std::string of_chip(const Slowest& chip) const {
    return "its longest part is computation on chip " +
           std::to_string(system_.chips[chip.number].representative) + ", at " +
           significant(1 / chip.times, 2) + " of its speed";
  }

  std::string of_link(const Slowest& link) const {
    if (link.number < 0) return "its longest part is communication";
    const LinkClass& slow = system_.links[link.number];
    return "its longest part is communication, over a link of kind " + std::string(to_string(slow.kind)) +
           " with " + significant(slow.bandwidth.value / 1e9, 2) + " GB/s";
  }

  const System& system_;
  const std::vector<double> capacities_;
  std::vector<Send> sends_;        // [pattern]
  std::vector<Message> messages_;  // [message]
};

}  // namespace

void refuse_endless(const System& system, std::span<const SimulateOptions> draws) {
  int steps = 1;
  for (const SimulateOptions& draw : draws) steps = std::max(steps, draw.steps);
  StepBound(system).refuse(steps);
  const std::string why = why_endless_by_chance(system, draws);
  if (!why.empty()) throw StepTooLong(why);
}

}  // namespace podsim
