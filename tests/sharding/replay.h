// Replays a plan step by step, apart from the planner: is every step possible, and what does it send?
#pragma once

#include <string>
#include <vector>

#include "workload/op_planning/op_plan.h"

namespace podsim::testing {

// Everything wrong with a plan, in words; empty = valid.
using Faults = std::vector<std::string>;

// One tensor under replay. Steps are judged at the level of axes and, on meshes of up to kDeviceLimit
// devices, by the blocks that every device holds: a slice keeps part of what is there, a gather is the union
// of the group, an all-to-all takes 1/n of each new shard from every member, a permute is a bijection of
// blocks.
class Replay {
 public:
  static constexpr int kDeviceLimit = 256;

  Replay(Mesh mesh, TensorShape shape, Layout from);

  // Faults are collected; the layout moves on to `step.after` in any case. A permute with a count above 1 is
  // a window: blocks go round the ring of its axes until each device has seen (or summed) them all.
  void apply(const PlanStep& step);
  // The layout is the wanted one; pieces of axes may be written in any way.
  void expect(const Layout& wanted);

  const Layout& layout() const { return now_; }
  const Faults& faults() const { return faults_; }
  Bytes sent() const { return sent_; }  // recomputed from local shapes, by one device, all executions

 private:
  void judge_bytes(const PlanStep& step, const Layout& before);
  void fault(const std::string& text);

  Mesh mesh_;
  TensorShape shape_;
  Layout now_;
  Bytes sent_;
  int step_ = 0;
  Faults faults_;
};

struct ReshardProblem {
  Mesh mesh;
  TensorShape shape;
  Layout from, to;
};
Faults check(const ReshardProblem& problem, const std::vector<PlanStep>& steps);

// The computation itself: which axes the operands put on each factor, and whether all agree. `results` are
// the layouts as computed, before any reduction.
struct Computation {
  Faults faults;
  std::vector<AxisList> factors;
  double flops = 0;  // of one device
};
Computation check_compute(const Mesh& mesh, const OpRule& rule, const std::vector<Layout>& operands,
                          const std::vector<Layout>& results, const AxisList& carried = {},
                          double flops_per_point = 2);

// A whole operation: every operand from an available layout, the computation, statistics, results as wanted,
// and the cost that the plan claims. Steps of `problem.prepare` must be halos.
Faults check(const Mesh& mesh, const OpProblem& problem, const OpPlan& plan, const CostModel& cost);

// Building blocks of the judgement, one step of one kind each.
Faults judge_axes(const Mesh& mesh, const Layout& before, const PlanStep& step);
Faults judge_devices(const Mesh& mesh, const Layout& before, const PlanStep& step);

// Equal, however pieces of axes are written.
bool same_layout(const Layout& a, const Layout& b);

}  // namespace podsim::testing
