// What a run on one cluster comes to: its inputs give its own figures again.
#include "planner/plan/cluster_run.h"

#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "proto/scenario/load.h"

namespace podsim::cluster_run_test {
namespace {

constexpr double kTokens = 1e11;

std::string job_with(int spare_nodes) {
  return R"(cluster { chip: "h100" chips: 64 fabric: "dgx_h100" grid: "sweden" embodied_kg: 20000 }
job { model: "llama3_8b" stack: "megatron_bridge_2025" mesh { name: "fsdp" size: 64 } sharding: "fsdp"
  global_batch_sequences: 64 microbatch_sequences: 1 sequence_tokens: 4096 precision: bf16 recompute: full }
reliability { failures: "rsc1" checkpoint { save_s: 30 } spares { nodes: )" +
         std::to_string(spare_nodes) + " } }\n";
}

ClusterRun run_with(const std::string& scenario, bool weeks) {
  const Catalog catalog;
  const LoadResult loaded = load_scenario("job", scenario, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  std::string why;
  const auto run = run_on_cluster({"job", scenario, {}, kTokens, weeks}, *loaded.spec,
                                  main_figures(predict_step(*loaded.spec, {}).report), catalog, why);
  EXPECT_TRUE(run) << why;
  return run.value_or(ClusterRun{});
}

double tonnes_by_inputs(const RunInputs& inputs) {
  return inputs.mwh * inputs.kg_per_kwh + inputs.days * inputs.making_t_per_day;
}

// Eight spare nodes are as many chips again, which are held as long as the job's.
TEST(ClusterRun, emits_what_its_inputs_say_with_spares_and_without) {
  for (const int spare_nodes : {0, 1, 8}) {
    const ClusterRun run = run_with(job_with(spare_nodes), true);
    ASSERT_TRUE(run.carbon_t);
    EXPECT_NEAR(tonnes_by_inputs(run.inputs), *run.carbon_t, 1e-9 * *run.carbon_t) << spare_nodes;
  }
  const double alone = run_with(job_with(0), true).inputs.making_t_per_day,
               with_spares = run_with(job_with(8), true).inputs.making_t_per_day;
  EXPECT_NEAR(with_spares / alone, 2, 0.1);
}

TEST(ClusterRun, in_which_nothing_fails_emits_by_the_chips_of_the_job) {
  const ClusterRun run = run_with(job_with(8), false);
  ASSERT_TRUE(run.carbon_t);
  EXPECT_NEAR(tonnes_by_inputs(run.inputs), *run.carbon_t, 1e-12 * *run.carbon_t);
}

}  // namespace
}  // namespace podsim::cluster_run_test
