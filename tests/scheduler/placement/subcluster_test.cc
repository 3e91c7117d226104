// Which chips a job among several can have, and what its own fabric is.
#include "scheduler/placement/subcluster.h"

#include <gtest/gtest.h>

#include "scheduler/placement/place.h"
#include "tests/scheduler/fixture.h"

namespace podsim::subcluster_test {
namespace {

FabricSpec slices_of_8(int slices) {
  FabricSpec fabric = testing::ring_fabric(8 * slices);
  fabric.torus->shape = {8, 1, 1};
  fabric.slices = slices;
  return fabric;
}

TEST(Subcluster, gpu_jobs_have_whole_domains_or_lie_inside_one) {
  const FabricSpec servers = testing::gpu_fabric(64, 8, 16);
  EXPECT_EQ(explain_invalid_subcluster(servers, 8, 24), "");
  EXPECT_EQ(explain_invalid_subcluster(servers, 10, 6), "");
  EXPECT_EQ(explain_invalid_subcluster(servers, 4, 8),
            "a job begins and ends at borders of NVLink domains of 8 GPUs, or lies inside one; chips 4 to 11 "
            "do not");
  EXPECT_NE(explain_invalid_subcluster(servers, 8, 12), "");
}

TEST(Subcluster, torus_jobs_have_whole_slices) {
  EXPECT_EQ(explain_invalid_subcluster(slices_of_8(4), 8, 16), "");
  EXPECT_EQ(explain_invalid_subcluster(slices_of_8(4), 8, 4),
            "a job has whole slices of 8 chips, not chips 8 to 11");
}

TEST(Subcluster, chips_must_exist) {
  EXPECT_EQ(explain_invalid_subcluster(testing::gpu_fabric(64, 8, 16), 56, 16),
            "chips 56 to 71 are not all there: the cluster has 64");
  EXPECT_NE(explain_invalid_subcluster(testing::gpu_fabric(64, 8, 16), 999'999, 1'000'000), "");
}

TEST(Subcluster, a_part_of_the_slices_is_a_fabric_of_fewer_slices) {
  const FabricSpec part = subcluster(slices_of_8(4), 24);
  EXPECT_EQ(part.chips, 24);
  EXPECT_EQ(part.slices, 3);
  EXPECT_EQ(subcluster(testing::gpu_fabric(64, 8, 16), 24).slices, 1);
}

TEST(Subcluster, a_job_is_placed_as_on_its_own_fabric_and_shifted) {
  const Mesh mesh{{{"data", 4}, {"tensor", 4}}};
  const Placement own = place(build_fabric(slices_of_8(2)), mesh, {});
  const Placement shifted = place(build_fabric(slices_of_8(4)), mesh, {}, 16);
  ASSERT_EQ(shifted.chip_of_device.size(), 16u);
  for (int device = 0; device < 16; ++device)
    EXPECT_EQ(shifted.chip_of_device[device], own.chip_of_device[device] + 16);
}

TEST(Subcluster, a_job_alone_keeps_only_what_goes_wrong_at_its_chips) {
  Spec spec = testing::plain_spec();
  spec.name = "both";
  spec.cluster.fabric = testing::gpu_fabric(64, 8, 16);
  spec.adversities.add(Degradation::of_chip(3, 0.5));
  spec.adversities.add(Degradation::of_chip(40, 0.7));
  spec.adversities.add(Degradation::of_link(40, LinkKind::kNic, 0.5));
  spec.adversities.add(Degradation::of_link(7, LinkKind::kNic, 0.5));
  const Spec own = spec_of_job(spec, {"b", 32, 32, spec.job, {}});
  EXPECT_EQ(own.name, "both/b");
  EXPECT_EQ(own.cluster.fabric.chips, 32);
  ASSERT_EQ(own.adversities.degradations.size(), 2u);
  EXPECT_EQ(own.adversities.degradations[0].chip, 40);
  EXPECT_EQ(own.adversities.degradations[0].cause, Degradation::Cause::kSlowChip);
  EXPECT_EQ(own.adversities.degradations[1].chip, 40);
  EXPECT_EQ(own.adversities.degradations[1].cause, Degradation::Cause::kSlowLink);
}

}  // namespace
}  // namespace podsim::subcluster_test
