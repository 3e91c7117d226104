// What one process remembers changes no figure, whatever it was asked before.
#include "prediction/evaluator.h"

#include <gtest/gtest.h>

#include <random>

#include "proto/writing/write.h"
#include "tests/prediction/scenario.h"
#include "tests/prediction/small_job.h"
#include "tests/rounds.h"
#include "workload/partition/job_validity.h"
#include "workload/sharding/sharding.h"

namespace podsim::evaluator_test {
namespace {

// Layouts that share fabrics, meshes, pieces or messages with others of the list, and some that share none.
std::vector<Spec> layouts() {
  std::vector<Spec> specs;
  for (const std::string& pipeline : testing::schedules())
    for (const char* stack : {"megatron_bridge_2025", "megatron_2022", "maxtext_2025"})
      for (const char* further : {"", "evaluation { sequences: 32 every_sequences: 64 }"}) {
        testing::SmallJob small;
        small.pipeline = pipeline;
        small.stack = stack;
        small.job = further;
        if (small.stack == "maxtext_2025")
          small.cluster = "chip: \"tpu_v5p\" fabric: \"v5p_pod\" slice_shape: [2, 2, 4]";
        specs.push_back(testing::load(small));
      }
  const std::size_t loaded = specs.size();
  for (std::size_t i = 0; i < loaded; ++i) {
    Spec wider = specs[i];
    wider.job.global_batch *= 2;
    specs.push_back(wider);
    wider.job.sequence *= 2;
    specs.push_back(wider);
    Spec smaller = specs[i];
    smaller.cluster.chip.hbm_capacity = {1e9};
    specs.push_back(smaller);
    Spec slow = specs[i];
    slow.adversities.add(Degradation::of_chip(static_cast<ChipId>(i % 16), 0.9));
    specs.push_back(slow);
    Spec priced = specs[i];
    priced.cluster.price.usd_per_chip_hour = 3;
    priced.job.mesh.axes[1].size = 4;
    priced.job.mesh.axes[2].size = 1;
    specs.push_back(priced);
  }
  std::erase_if(specs, [](const Spec& spec) { return !explain_invalid(spec.job).empty(); });
  return specs;
}

PredictOptions without_advice() {
  PredictOptions options;
  options.memory_advice = false;
  return options;
}

TEST(EvaluatorLaw, figures_are_those_of_a_lone_prediction_in_any_order_of_random_layouts) {
  const std::vector<Spec> specs = layouts();
  ASSERT_GT(specs.size(), 150u);
  std::mt19937 random(27);
  Evaluator evaluator;
  int fit = 0, refused = 0;
  for (int round = 0; round < testing::rounds(80); ++round) {
    const Spec& spec = specs[random() % specs.size()];
    const Report lone = predict_step(spec, without_advice()).report;
    const Appraisal appraisal = evaluator.evaluate(spec);
    ASSERT_EQ(appraisal.fits(), lone.memory.fits) << round;
    ASSERT_EQ(appraisal.stage, lone.memory.worst_stage) << round;
    ASSERT_EQ(appraisal.needed.value / (1024.0 * 1024.0 * 1024.0), lone.memory.total) << round;
    ASSERT_EQ(appraisal.step_time, appraisal.fits() ? lone.step_time : Time{}) << round;
    ASSERT_EQ(appraisal.refusal().empty(), appraisal.fits()) << round;
    ASSERT_EQ(evaluator.evaluate(spec).step_time, appraisal.step_time) << "asked again, " << round;
    ++(appraisal.fits() ? fit : refused);
    if (round % 4 == 0) {
      ASSERT_EQ(report_json(evaluator.predict(spec, without_advice()).report), report_json(lone)) << round;
    }
  }
  EXPECT_GT(fit, 0);
  EXPECT_GT(refused, 0);
}

TEST(Evaluator, a_layout_that_does_not_fit_is_refused_with_its_numbers) {
  Spec spec = testing::load(testing::SmallJob{});
  Evaluator evaluator;
  EXPECT_EQ(evaluator.evaluate(spec).refusal(), "");
  spec.cluster.chip.hbm_capacity = {1024.0 * 1024.0 * 1024.0};
  const Appraisal refused = evaluator.evaluate(spec);
  EXPECT_EQ(refused.step_time, Time{});
  EXPECT_NE(refused.refusal().find("stage 3 needs "), std::string::npos) << refused.refusal();
  EXPECT_NE(refused.refusal().find(" GiB of 1.00 GiB"), std::string::npos) << refused.refusal();
}

}  // namespace
}  // namespace podsim::evaluator_test
