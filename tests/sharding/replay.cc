// Replays the steps of a tensor and recomputes what they send.
#include "tests/sharding/replay.h"

#include <algorithm>
#include <cmath>

namespace podsim::testing {
namespace {

const char* name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kSlice:
      return "slice";
    case StepKind::kPermute:
      return "permute";
    case StepKind::kAllToAll:
      return "all-to-all";
    case StepKind::kAllGather:
      return "all-gather";
    case StepKind::kReduceScatter:
      return "reduce-scatter";
    case StepKind::kAllReduce:
      return "all-reduce";
    case StepKind::kHalo:
      return "halo";
    case StepKind::kCompute:
      return "compute";
  }
  return "unknown step";
}

// Sent per execution for the bytes before and after; uneven shards may count with or without their padding.
std::vector<double> possible_sent(const PlanStep& step, double before, double after) {
  const double n = shard_count(step.axes), share = (n - 1) / n;
  switch (step.kind) {
    case StepKind::kAllGather:
      return {share * after, share * n * before};
    case StepKind::kReduceScatter:
      return {share * before, share * n * after};
    case StepKind::kAllReduce:
      return {2 * share * before};
    case StepKind::kAllToAll:
      return {share * before, share * after};
    case StepKind::kPermute:
      return {std::min(before, after)};
    case StepKind::kHalo:
      return {step.operand.value};
    default:
      return {0};
  }
}

bool near(double a, double b) { return std::abs(a - b) <= 1; }

}  // namespace

Replay::Replay(Mesh mesh, TensorShape shape, Layout from)
    : mesh_(std::move(mesh)), shape_(std::move(shape)), now_(std::move(from)) {}

void Replay::fault(const std::string& text) {
  faults_.push_back("step " + std::to_string(step_) + ": " + text);
}

void Replay::judge_bytes(const PlanStep& step, const Layout& before) {
  const double in = local_bytes(shape_, before).value, out = local_bytes(shape_, step.after).value;
  const std::vector<double> possible = possible_sent(step, in, out);
  sent_ += static_cast<double>(step.count) * Bytes{possible[0]};
  if (std::none_of(possible.begin(), possible.end(), [&](double s) { return near(s, step.sent.value); }))
    fault(std::string(name_of(step.kind)) + " claims to send " + std::to_string(step.sent.value) +
          " bytes, not " + std::to_string(possible[0]));
  if (step.kind == StepKind::kHalo || step.count > 1) return;
  const double n = shard_count(step.axes);
  const bool scatter = step.kind == StepKind::kReduceScatter, gather = step.kind == StepKind::kAllGather;
  if (!near(step.operand.value, in) && !(scatter && near(step.operand.value, n * out)))
    fault("operand of " + std::to_string(step.operand.value) + " bytes, not " + std::to_string(in));
  if (!near(step.result.value, out) && !(gather && near(step.result.value, n * in)))
    fault("result of " + std::to_string(step.result.value) + " bytes, not " + std::to_string(out));
}

void Replay::apply(const PlanStep& step) {
  ++step_;
  const Layout before = now_;
  const Faults axes = judge_axes(mesh_, before, step);
  for (const std::string& text : axes) fault(std::string(name_of(step.kind)) + ": " + text);
  if (axes.empty() && mesh_.devices() <= kDeviceLimit) {
    for (const std::string& text : judge_devices(mesh_, before, step))
      fault(std::string(name_of(step.kind)) + ": " + text);
  }
  judge_bytes(step, before);
  now_ = step.after;
}

void Replay::expect(const Layout& wanted) {
  if (!same_layout(now_, wanted))
    faults_.push_back("ends as " + to_string(mesh_, now_) + ", not as " + to_string(mesh_, wanted));
}

Faults check(const ReshardProblem& problem, const std::vector<PlanStep>& steps) {
  Replay replay(problem.mesh, problem.shape, problem.from);
  for (const PlanStep& step : steps) replay.apply(step);
  replay.expect(problem.to);
  return replay.faults();
}

}  // namespace podsim::testing
