// What pictures say of collectives follows from what their links carry.
#include "report/pictures/collective_uses.h"

#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"
#include "tests/prediction/small_job.h"

namespace podsim::collective_uses_test {
namespace {

StepDetail detail_of(const Spec& spec) {
  PredictOptions options;
  options.detail = true;
  return predict_step(spec, options).detail.value();
}

Bandwidth rate_of(const StepDetail& detail, const std::string& kind) {
  for (const LinkClassUse& link : detail.links)
    if (link.kind == kind) return link.bandwidth;
  return {};
}

TEST(CollectiveUses, a_ring_within_a_domain_uses_as_much_of_its_link_as_its_bus_bandwidth_says) {
  const StepDetail detail = detail_of(testing::load("llama3_70b_512_h100"));
  int rings = 0;
  for (const CollectiveUse& use : detail.collectives) {
    constexpr double kLarge = 1 << 20;  // protocols for smaller ones send more than their bytes
    if (use.axes != "tensor" || use.algorithm != "ring" || use.bytes.value < kLarge) continue;
    EXPECT_EQ(use.link, "nvlink");
    const double payload = bus_bandwidth(use) / rate_of(detail, "nvlink").value;
    EXPECT_GE(use.link_share, payload);
    EXPECT_LT(use.link_share, 1.02 * payload) << "what the library sends beside the payload";
    ++rings;
  }
  EXPECT_GE(rings, 2);
}

TEST(CollectiveUses, none_uses_more_of_a_link_than_there_is) {
  for (const std::string& pipeline : testing::schedules()) {
    testing::SmallJob job;
    job.pipeline = pipeline;
    const StepDetail detail = detail_of(testing::load(job));
    EXPECT_FALSE(detail.collectives.empty());
    for (const CollectiveUse& use : detail.collectives) {
      EXPECT_NE(use.link, "") << pipeline << ": " << use.axes << " " << use.kind;
      EXPECT_GT(use.link_share, 0);
      EXPECT_LE(use.link_share, 1 + 1e-9) << pipeline << ": " << use.axes << " " << use.kind;
    }
  }
}

}  // namespace
}  // namespace podsim::collective_uses_test
