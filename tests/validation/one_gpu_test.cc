// Steps of one GPU that were measured for this project, beside generic stacks.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/validation/example_run.h"
#include "validation/run_table.h"
#include "validation/validate_runs.h"

namespace podsim::one_gpu_test {
namespace {

const std::vector<PredictedRun>& runs() {
  static const std::vector<PredictedRun> kRuns = [] {
    const std::string file = PODSIM_SOURCE_DIR "/scenarios/measurements/one_gpu_steps.csv";
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    RunTable table = read_run_table(file, text.str());
    if (!table.problems.empty()) throw std::runtime_error(format_problem(table.problems.front()));
    std::vector<RunScenario> scenarios;
    for (const RunRow& row : table.rows)
      scenarios.push_back(run_scenario(row, builtin_run_rules(), catalog()));
    return predict_runs(scenarios, catalog(), 0);
  }();
  return kRuns;
}

TEST(OneGpu, all_88_steps_are_simulated_and_off_by_a_tenth_in_the_mean) {
  ASSERT_EQ(runs().size(), 88u);
  double dense = 0, experts = 0;
  int with_experts = 0;
  for (const PredictedRun& run : runs()) {
    ASSERT_TRUE(run.failure.empty()) << run.run.id << run.failure;
    EXPECT_LT(std::abs(*run.error()), run.run.architecture == "moe" ? 0.30 : 0.25) << run.run.id;
    with_experts += run.run.architecture == "moe";
    (run.run.architecture == "moe" ? experts : dense) += std::abs(*run.error());
  }
  ASSERT_EQ(with_experts, 34);
  EXPECT_LT(dense / 54, 0.10);
  EXPECT_LT(experts / 34, 0.11);
}

TEST(OneGpu, every_step_fits_in_the_memory_that_it_fitted_in) {
  for (const PredictedRun& run : runs()) EXPECT_FALSE(run.misfits()) << run.run.id;
}

}  // namespace
}  // namespace podsim::one_gpu_test
