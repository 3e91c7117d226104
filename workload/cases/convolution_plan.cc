// Convolutions: along every spatial dimension outputs or taps may be cut, and the cheapest choice is taken.
#include <algorithm>

#include "engine/index.h"
#include "workload/cases/shape_plan.h"
#include "workload/op_planning/halo_steps.h"

namespace podsim {
namespace {

// One spatial dimension: its factors, and its window seen from each side.
struct Spatial {
  int position = 0, tap = 0;  // factors
  int lhs_dim = 0, rhs_dim = 0;
  std::int64_t outputs = 1;
  Window window;
  bool reversed = false;
  bool taps_cut = false;  // instead of outputs
};

class Convolution {
 public:
  Convolution(const Mesh& mesh, const ConvolutionQuestion& question)
      : mesh_(mesh), question_(question), rule_(convolution_rule(question.shape)) {
    for (std::size_t s = 0; s < rule_.windows.size(); ++s) {
      Spatial& spatial = spatial_.emplace_back();
      spatial.window = rule_.windows[s];
      spatial.lhs_dim = question.shape.lhs_spatial[s];
      spatial.rhs_dim = question.shape.rhs_spatial[s];
      spatial.position = rule_.windows[s].factor;
      spatial.tap = rule_.operands[1][at(spatial.rhs_dim)][0];
      spatial.outputs = question.shape.out[at(question.shape.out_spatial[s])];
      spatial.reversed = question.reversed[s];
    }
  }

  // `taps_cut`: bit s = along spatial dimension s taps are cut.
  OpPlan plan(unsigned taps_cut, const CostModel& cost) {
    OpProblem problem{.rule = rule_, .operands = {}, .results = {}};
    for (std::size_t s = 0; s < spatial_.size(); ++s) {
      Spatial& spatial = spatial_[s];
      spatial.taps_cut = (taps_cut >> s & 1) != 0;
      problem.rule.operands[0][at(spatial.lhs_dim)] = {spatial.taps_cut ? spatial.tap : spatial.position};
      if (spatial.taps_cut) problem.rule.factors[at(spatial.position)].kind = FactorKind::kNeedReplication;
    }
    for (const CaseTensor* operand : {&question_.lhs, &question_.rhs})
      problem.operands.push_back({.shape = shape_of(*operand), .available = {operand->layout}});
    problem.results.push_back({.shape = shape_of(question_.output), .wanted = question_.output.layout});
    problem.prepare = [this](std::size_t operand, const std::vector<AxisList>& factors, const Layout&) {
      return halos(operand, factors);
    };
    return plan_op(mesh_, problem, cost);
  }

  std::size_t spatial_dims() const { return spatial_.size(); }

 private:
  Layout layout(std::size_t operand, const std::vector<AxisList>& factors) const {
    FactorMap map = rule_.operands[operand];
    for (const Spatial& s : spatial_) {
      if (operand == 0) map[at(s.lhs_dim)] = {s.taps_cut ? s.tap : s.position};
    }
    Layout layout = replicated(map.size());
    for (std::size_t d = 0; d < map.size(); ++d) {
      for (const int f : map[d])
        layout.dims[d].insert(layout.dims[d].end(), factors[at(f)].begin(), factors[at(f)].end());
      layout.dims[d] = merged(layout.dims[d]);
    }
    return layout;
  }

  // Shards of a dimension that is groups times features (or batches) lie on group boundaries only where both
  // are cut evenly.
  bool groups_even(const std::vector<AxisList>& factors) const {
    for (const FactorMap& map : {rule_.operands[0], rule_.operands[1], rule_.results[0]}) {
      for (std::size_t d = 0; d < map.size(); ++d) {
        const bool spatial = std::any_of(spatial_.begin(), spatial_.end(), [&](const Spatial& s) {
          return !map[d].empty() && map[d][0] == s.position;
        });
        if (map[d].size() < 2 || spatial) continue;
        for (const int f : map[d]) {
          if (rule_.factors[at(f)].size % shard_count(factors[at(f)]) != 0) return false;
        }
      }
    }
    return true;
  }

  // Taps that run backwards meet the input from its other end: shards of the filter change places first.
  std::optional<PlanStep> mirror(const std::vector<AxisList>& factors) const {
    const Layout now = layout(1, factors);
    AxisList axes;
    for (const Spatial& s : spatial_) {
      if (s.reversed && s.taps_cut)
        axes.insert(axes.end(), factors[at(s.tap)].begin(), factors[at(s.tap)].end());
    }
    if (axes.empty()) return std::nullopt;
    const Bytes bytes = local_bytes(shape_of(question_.rhs), now);
    return PlanStep{.kind = StepKind::kPermute,
                    .axes = canonical(axes),
                    .after = now,
                    .operand = bytes,
                    .result = bytes,
                    .sent = bytes};
  }

  std::optional<std::vector<PlanStep>> halos(std::size_t operand,
                                             const std::vector<AxisList>& factors) const {
    if (!groups_even(factors)) return std::nullopt;
    HaloSteps lhs(shape_of(question_.lhs), layout(0, factors)),
        rhs(shape_of(question_.rhs), layout(1, factors));
    for (const Spatial& s : spatial_) {
      if (s.taps_cut) continue;
      if (!lhs.add(s.window, s.outputs, s.lhs_dim, factors[at(s.position)])) return std::nullopt;
    }
    for (const Spatial& s : spatial_) {
      const AxisList& axes = factors[at(s.tap)];
      if (!s.taps_cut || axes.empty()) continue;
      // Mirrored shards of unequal size would not come to lie on shards.
      if (s.reversed && s.window.size % shard_count(axes) != 0) return std::nullopt;
      HaloSteps on_lhs = lhs, on_rhs = rhs;
      const bool left = on_lhs.add(read_by_taps(s.window, s.outputs), s.window.size, s.lhs_dim, axes);
      const bool right = on_rhs.add(read_by_inputs(s.window, s.outputs), s.window.input, s.rhs_dim, axes);
      if (!left && !right) return std::nullopt;
      const double more_left = on_lhs.sent_bytes() - lhs.sent_bytes(),
                   more_right = on_rhs.sent_bytes() - rhs.sent_bytes();
      if (left && (!right || more_left <= more_right)) {
        lhs = on_lhs;
      } else {
        rhs = on_rhs;
      }
    }
    if (operand == 0) return lhs.steps();
    std::vector<PlanStep> steps;
    if (const auto step = mirror(factors)) steps.push_back(*step);
    steps.insert(steps.end(), rhs.steps().begin(), rhs.steps().end());
    return steps;
  }

  const Mesh& mesh_;
  const ConvolutionQuestion& question_;
  const OpRule rule_;
  std::vector<Spatial> spatial_;
};

}  // namespace

CasePlan plan_convolution(const Mesh& mesh, const ConvolutionQuestion& question, const CostModel& cost) {
  Convolution convolution(mesh, question);
  OpPlan best = convolution.plan(0, cost);
  for (unsigned taps_cut = 1; taps_cut < 1u << convolution.spatial_dims(); ++taps_cut) {
    OpPlan plan = convolution.plan(taps_cut, cost);
    if (plan.cost < best.cost) best = std::move(plan);
  }
  return named_plan(best, {"lhs", "rhs"});
}

}  // namespace podsim
