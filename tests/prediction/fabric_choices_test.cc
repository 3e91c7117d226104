// The plan of an operation depends on the fabric: each is at least as fast on its own as the other would be.
#include <gtest/gtest.h>

#include <optional>

#include "proto/cases/load_shard_cases.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/chosen_fabric.h"
#include "scheduler/placement/fabric_cost.h"
#include "scheduler/question/spec.h"
#include "workload/cases/plan_case.h"

namespace podsim::testing::fabric_choices_test {
namespace {

// One of the two fabrics of docs/guide/sharding.md, with the mesh of a case on it.
class Placed {
 public:
  Placed(const std::string& name, int chips, std::vector<int> shape, const Mesh& mesh)
      : fabric_(build_fabric(*spec(name, chips, std::move(shape)))),
        mesh_(mesh),
        placement_(place(fabric_, mesh_, {})),
        cost_(fabric_, mesh_, placement_, FlopRate{400e12}) {}

  const CostModel& cost() const { return cost_; }

 private:
  static std::optional<FabricSpec> spec(const std::string& name, int chips, std::vector<int> shape) {
    FabricChoice choice;
    choice.name = name;
    choice.chips = chips;
    choice.shape = std::move(shape);
    return chosen_fabric(Catalog(), choice).first;
  }

  Fabric fabric_;
  Mesh mesh_;
  Placement placement_;
  FabricCost cost_;
};

bool same(const CasePlan& a, const CasePlan& b) {
  if (a.steps.size() != b.steps.size()) return false;
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    if (a.steps[i].tensor != b.steps[i].tensor || a.steps[i].step.after != b.steps[i].step.after)
      return false;
  }
  return true;
}

TEST(FabricChoices, plans_differ_and_each_is_the_faster_one_at_home) {
  const auto loaded = load_shard_cases_file(PODSIM_SOURCE_DIR "/scenarios/sharding/fabric_choices.json");
  ASSERT_TRUE(loaded.cases.has_value());
  EXPECT_GE(loaded.cases->size(), 5u);
  for (const ShardCase& question : *loaded.cases) {
    const Placed servers("dgx_h100", 16, {}, question.mesh), slice("v5e_pod", 0, {4, 4}, question.mesh);
    const CasePlan there = plan_case(question, servers.cost()), here = plan_case(question, slice.cost());
    ASSERT_TRUE(there.error.empty() && here.error.empty()) << question.id;
    EXPECT_FALSE(same(there, here)) << question.id;
    EXPECT_LT(seconds_of(there, servers.cost()), seconds_of(here, servers.cost())) << question.id;
    EXPECT_LT(seconds_of(here, slice.cost()), seconds_of(there, slice.cost())) << question.id;
  }
}

}  // namespace
}  // namespace podsim::testing::fabric_choices_test
