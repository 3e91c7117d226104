// Names what costs at least half of the delay, and compares two ways to tell the slowdown.
#include "report/summary/verdict.h"

#include <algorithm>
#include <cmath>

#include "engine/check.h"
#include "report/text/text.h"
#include "scheduler/replay/likely_cause.h"

namespace podsim {
namespace {

constexpr double kMainShare = 0.5;  // of the delay, from which on one of several adversities is its cause

// Slowdowns nearer than the greater of these are told as agreement.
constexpr double kNearSlowdown = 0.005;
constexpr double kNearShare = 0.25;  // of S - 1

std::string slowdown_text(double slowdown) { return fixed(slowdown, 3); }

std::string replay_text(const WhatIf& what_if, double slowdown, int steps) {
  const double replayed = what_if.S.mean;
  const bool near =
      std::abs(replayed - slowdown) <= std::max(kNearSlowdown, kNearShare * std::abs(slowdown - 1));
  const int of_replay = static_cast<int>(what_if.steps.size());
  std::string text = std::string(near ? "agrees" : "differs") + ": S " + slowdown_text(replayed);
  if (of_replay < steps)
    text += " in the first " + (of_replay > 1 ? std::to_string(of_replay) + " " : std::string()) + "of " +
            std::to_string(steps) + " steps";
  text += ", likely cause by the rules for recordings: " + what_if.likely_cause;
  if (!near)
    text +=
        "; a replay knows the operations of these steps and takes their mean for ideal, not the job without "
        "adversities";
  return text;
}

}  // namespace

StragglerVerdict verdict_of(const Report& report, const std::string& no_replay) {
  PODSIM_CHECK(!report.fault_costs.empty(), "a verdict needs the costs of the adversities");
  StragglerVerdict verdict;
  const double delay_s = report.straggler_delay.in_seconds(), step_s = report.step_time.in_seconds();
  verdict.slowdown = step_s / (step_s - delay_s);
  if (verdict.slowdown < kWorthNaming) {
    verdict.cause = "none";
  } else {
    const FaultCost& dearest = report.fault_costs.front();
    const double share = dearest.cost.in_seconds() / delay_s;
    const bool alone = share >= kMainShare;
    int all = 0;
    for (const FaultCost& each : report.fault_costs) all += each.adversities;
    verdict.cause = alone ? dearest.what : std::to_string(all) + " adversities together";
    verdict.share = alone ? share : 1;
  }
  verdict.replay = report.what_if ? replay_text(*report.what_if, verdict.slowdown, report.steps)
                                  : "not possible: " + no_replay;
  return verdict;
}

std::string verdict_table(const StragglerVerdict& verdict) {
  const std::string share =
      verdict.share > 0 ? ", " + percent(verdict.share) + " of the delay" : std::string();
  return "verdict\nS, the step over that of the same job without adversities: " +
         slowdown_text(verdict.slowdown) + "\ncause: " + verdict.cause + share +
         "\nwhat-if replay: " + verdict.replay + "\n";
}

std::string verdict_sentence(const StragglerVerdict& verdict) {
  if (verdict.slowdown >= kWorthNaming)
    return "Stragglers make the step " + percent(verdict.slowdown - 1) + " longer: the cause is " +
           verdict.cause + ", " + percent(verdict.share) + " of it.";
  if (verdict.slowdown > 2 - kWorthNaming)
    return "The adversities change the step by less than " + percent(kWorthNaming - 1) + ".";
  return "The adversities make the step " + percent(1 - verdict.slowdown) + " shorter.";
}

}  // namespace podsim
