// What one measured step makes of the prediction of that step, over shipped scenarios.
#include <gtest/gtest.h>

#include <optional>

#include "calibration/anchor.h"
#include "tests/prediction/scenario.h"

namespace podsim::anchor_laws_test {
namespace {

double step_s(const Spec& spec) { return predict_step(spec, {}).report.step_time.in_seconds(); }

// The step after an anchor at this multiple of the step before it, as a multiple of that.
double anchored(const Spec& spec, double before_s, double factor) {
  const AnchorRun run{"mine", spec, factor * before_s, {}, "mine"};
  return step_s(Anchor(builtin_anchor_priors(), {run}, 1).moved(spec)) / before_s;
}

struct Case {
  const char* name;
  std::vector<Override> overrides;
};

// Short steps under fitted stacks, and one job under the stacks that nothing else is known of.
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = [] {
    std::vector<Case> all = {{"resnet50_spatial_64_v5p", {}},
                             {"custom_mlp_8_h100", {}},
                             {"dlrm_8_h100", {}},
                             {"stage_imbalance_32_h100", {{"job.stack", "generic_megatron"}}}};
    for (const char* stack : {"torchtitan", "generic_eager", "generic_fsdp", "generic_megatron"})
      all.push_back({"qwen3_14b_8_h100",
                     {{"job.stack", stack},
                      {"job.model", "llama3_8b"},
                      {"job.model_override.layers", "4"},
                      {"job.global_batch_sequences", "32"}}});
    return all;
  }();
  return kCases;
}

class AnchorLaws : public ::testing::TestWithParam<std::size_t> {
 protected:
  Spec spec() const {
    const Case& one = cases()[GetParam()];
    return testing::load(one.name, one.overrides);
  }
};

TEST_P(AnchorLaws, a_step_lies_between_what_was_predicted_and_what_was_measured_and_grows_with_it) {
  const Spec mine = spec();
  const double before_s = step_s(mine);
  double last = 0;
  for (const double factor : {0.8, 0.9, 1.0, 1.05, 1.1, 1.3}) {
    const double after = anchored(mine, before_s, factor);
    EXPECT_GE(after, factor > 1 ? 1.001 : factor - 1e-5) << factor;
    EXPECT_LE(after, factor < 1 ? 0.9999 : factor + 1e-5) << factor;
    EXPECT_GE(after, last - 1e-5) << factor;
    if (factor == 1) {
      EXPECT_EQ(after, 1);
    }
    last = after;
  }
}

Report predicted(const Spec& spec, double step_s, std::optional<double> noise) {
  return Anchor(builtin_anchor_priors(), {{"mine", spec, step_s, noise, "mine"}}, 1).predict(spec, {});
}

TEST_P(AnchorLaws, the_band_holds_the_step_that_was_measured) {
  const Spec mine = spec();
  const double before_s = step_s(mine);
  for (const double factor : {0.5, 0.8, 1.0, 1.25, 2.0, 5.0}) {
    const Report report = predicted(mine, factor * before_s, {});
    ASSERT_TRUE(report.band);
    EXPECT_LE(report.band->low.in_seconds(), factor * before_s * (1 + 1e-6)) << factor;
    EXPECT_GE(report.band->high.in_seconds(), factor * before_s * (1 - 1e-6)) << factor;
  }
}

TEST_P(AnchorLaws, a_measured_step_of_no_weight_moves_nothing_and_makes_nothing_surer) {
  const Spec mine = spec();
  const Report before = predict_step(mine, {}).report;
  const double before_s = before.step_time.in_seconds();
  const Report report = predicted(mine, 1.2 * before_s, 1e6);
  EXPECT_NEAR(report.step_time.in_seconds() / before_s, 1, 1e-4);
  ASSERT_TRUE(report.band);
  if (!before.band) return;  // measured layers have none of their own
  EXPECT_LE(report.band->low.in_seconds(), before.band->low.in_seconds() * (1 + 1e-4));
  EXPECT_GE(report.band->high.in_seconds(), before.band->high.in_seconds() * (1 - 1e-4));
}

INSTANTIATE_TEST_SUITE_P(Shipped, AnchorLaws, ::testing::Range(std::size_t{0}, cases().size()),
                         [](const auto& one) {
                           std::string name = cases()[one.param].name;
                           for (const Override& change : cases()[one.param].overrides)
                             if (change.path == "job.stack") name += "_" + change.value;
                           return name;
                         });

}  // namespace
}  // namespace podsim::anchor_laws_test
