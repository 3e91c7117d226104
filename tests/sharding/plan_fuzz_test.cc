// Ten thousand random problems: every plan survives the replay, is planned the same way again, and is never
// worse than gathering everything and slicing what is wanted.
#include <gtest/gtest.h>

#include "tests/rounds.h"
#include "tests/sharding/random_problem.h"

namespace podsim::testing::plan_fuzz_test {
namespace {

constexpr std::uint64_t kProblems = rounds(5000);  // of each kind

double sent(StepKind kind, int n, double bytes) {
  return sent_bytes(*collective_of(kind), n, Bytes{bytes}).value;
}

// What a reduction and a gather of the whole tensor send.
double gather_everything(const TensorShape& shape, const Layout& from, const AxisList& wanted_sums) {
  const double local = local_bytes(shape, from).value;
  const double whole = local_bytes(shape, replicated(from.dims.size())).value;
  return sent(StepKind::kAllReduce, shard_count(without(from.unreduced, wanted_sums)), local) +
         sent(StepKind::kAllGather, shard_count(from.sharded()), whole);
}

bool equal(const std::vector<PlanStep>& a, const std::vector<PlanStep>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const PlanStep& x, const PlanStep& y) {
    return x.kind == y.kind && x.axes == y.axes && x.after == y.after && x.sent == y.sent;
  });
}

std::string described(const ReshardProblem& problem) {
  std::string text = "mesh";
  for (const MeshAxis& axis : problem.mesh.axes) text += " " + axis.name + "=" + std::to_string(axis.size);
  text += ", dims";
  for (const TensorDim& dim : problem.shape.dims) text += " " + std::to_string(dim.blocks[0].size);
  return text + ", " + to_string(problem.mesh, problem.from) + " -> " + to_string(problem.mesh, problem.to);
}

TEST(PlanFuzz, reshard_plans_are_valid_deterministic_and_never_worse_than_gathering_everything) {
  const SentBytes cost;
  for (std::uint64_t number = 0; number < kProblems; ++number) {
    const ReshardProblem problem = random_reshard(number, 5, 64, 4);
    const auto steps = plan_reshard(problem.mesh, problem.shape, problem.from, problem.to, cost);
    const Faults faults = check(problem, steps);
    ASSERT_TRUE(faults.empty()) << number << ": " << described(problem) << "\n" << faults[0];
    ASSERT_TRUE(equal(steps, plan_reshard(problem.mesh, problem.shape, problem.from, problem.to, cost)));
    ASSERT_LE(total_cost(steps, cost).value,
              gather_everything(problem.shape, problem.from, problem.to.unreduced) + 1e-6)
        << number << ": " << described(problem);
  }
}

// Gathers both operands and the result, and computes what a compiler would that counts elements.
double gather_all_tensors(const RandomOperation& random, const std::vector<AxisList>& common) {
  const OpProblem& problem = random.problem;
  double bytes = 0;
  for (const OpOperand& operand : problem.operands)
    bytes += operand.repeats * gather_everything(operand.shape, operand.available[0], {});
  Layout natural;
  for (const std::vector<int>& dim : problem.rule.results[0])
    natural.dims.push_back(common[static_cast<std::size_t>(dim[0])]);
  for (std::size_t f = 0; f < common.size(); ++f)
    if (problem.rule.factors[f].kind == FactorKind::kReduction)
      natural.unreduced.insert(natural.unreduced.end(), common[f].begin(), common[f].end());
  natural.unreduced = canonical(natural.unreduced);
  return bytes + gather_everything(problem.results[0].shape, natural, {});
}

TEST(PlanFuzz, einsum_plans_are_valid_deterministic_and_never_worse_than_gathering_everything) {
  const SentBytes cost;
  for (std::uint64_t number = 0; number < kProblems; ++number) {
    const RandomOperation random = random_einsum(number, 5, 64);
    const OpPlan plan = plan_op(random.mesh, random.problem, cost);
    const Faults faults = check(random.mesh, random.problem, plan, cost);
    ASSERT_TRUE(faults.empty()) << number << ": " << faults[0];
    const OpPlan again = plan_op(random.mesh, random.problem, cost);
    ASSERT_EQ(plan.factors, again.factors) << number;
    ASSERT_EQ(plan.cost, again.cost) << number;
    ASSERT_TRUE(equal(plan.result_steps[0], again.result_steps[0])) << number;
    const std::vector<AxisList> common = common_axes(random.mesh, random.problem);
    ASSERT_LE(plan.cost.value, gather_all_tensors(random, common) * (1 + 1e-12)) << number;
  }
}

}  // namespace
}  // namespace podsim::testing::plan_fuzz_test
