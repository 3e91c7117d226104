// Steps of one GPU that were measured for this project, beside generic stacks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

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

struct Errors {
  int count = 0;
  double sum = 0, most = 0;
};

// The models whose steps the generic stacks were first set by, dense and with experts, and those of other
// kinds.
std::map<std::string, Errors> errors_by_kind() {
  const std::set<std::string> others = {
      "bert_large", "vit_l_16",  "vit_h_14",  "t5_large",   "whisper_small", "whisper_large_v3",
      "dit_xl_2",   "sdxl_unet", "gemma3_1b", "qwen3_0_6b", "llama3_8b",     "llama2_7b_4_layers"};
  std::map<std::string, Errors> result;
  for (const PredictedRun& run : runs()) {
    if (!run.failure.empty()) throw std::runtime_error(run.run.id + ": " + run.failure);
    const bool other = std::any_of(others.begin(), others.end(), [&](const std::string& model) {
      return run.run.id.find("-" + model + "-") != std::string::npos;
    });
    Errors& kind = result[other ? "other" : run.run.architecture];
    ++kind.count;
    kind.sum += std::abs(*run.error());
    kind.most = std::max(kind.most, std::abs(*run.error()));
  }
  return result;
}

TEST(OneGpu, all_138_steps_are_simulated_and_off_by_a_tenth_in_the_mean) {
  ASSERT_EQ(runs().size(), 138u);
  std::map<std::string, Errors> by_kind = errors_by_kind();
  const Errors &dense = by_kind["dense"], &experts = by_kind["moe"], &other = by_kind["other"];
  ASSERT_EQ(dense.count, 54);
  ASSERT_EQ(experts.count, 34);
  ASSERT_EQ(other.count, 50);
  EXPECT_LT(dense.sum / dense.count, 0.085);
  EXPECT_LT(dense.most, 0.25);
  EXPECT_LT(experts.sum / experts.count, 0.105);
  EXPECT_LT(experts.most, 0.30);
  EXPECT_LT(other.sum / other.count, 0.11);
  EXPECT_LT(other.most, 0.33);
}

TEST(OneGpu, every_step_fits_in_the_memory_that_it_fitted_in) {
  for (const PredictedRun& run : runs()) EXPECT_FALSE(run.misfits()) << run.run.id;
}

}  // namespace
}  // namespace podsim::one_gpu_test
