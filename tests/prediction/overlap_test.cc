// How exposed communication follows prefetch depth and network on 128 to 512 GPUs.
#include <gtest/gtest.h>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"

namespace podsim::overlap_test {
namespace {

// Seconds of exposed communication of a job whose weights lie on all GPUs (FSDP), with NICs of this share of
// their bandwidth.
double exposed_s(Spec spec, int depth, double nic) {
  spec.job.stack.prefetch_forward = spec.job.stack.prefetch_backward = depth;
  LinkSpec& link = spec.cluster.fabric.gpu->nic;
  link.bandwidth = nic * link.bandwidth;
  return predict_step(spec, {}).report.exposed_communication.in_seconds();
}

// The same work per GPU on that many.
Spec on_gpus(Spec spec, int chips) {
  spec.job.global_batch *= chips / spec.cluster.fabric.chips;
  spec.job.mesh.axes[0].size = spec.cluster.fabric.chips = chips;
  return spec;
}

std::vector<Spec> jobs() {
  const Spec small = testing::load("validation/g266_torchtitan_8b_128_h100_500w");
  return {small, testing::load("validation/g135_mosaic_70b_256_h100"), on_gpus(small, 512)};
}

TEST(Overlap, exposed_communication_falls_with_prefetch_depth) {
  for (const Spec& spec : jobs()) {
    const double at_use = exposed_s(spec, 0, 1), one = exposed_s(spec, 1, 1), two = exposed_s(spec, 2, 1);
    EXPECT_LT(one, 0.5 * at_use) << spec.name;
    EXPECT_LT(two, 1.001 * one) << spec.name << ": equal layers leave nothing to a second block";
  }
}

TEST(Overlap, exposed_communication_rises_as_nics_get_slower) {
  for (const Spec& spec : jobs()) {
    for (const int depth : {0, 1, 2}) {
      const double full = exposed_s(spec, depth, 1), half = exposed_s(spec, depth, 0.5),
                   eighth = exposed_s(spec, depth, 0.125);
      EXPECT_LT(1.1 * full, half) << spec.name << ", depth " << depth;
      EXPECT_LT(2 * half, eighth) << spec.name << ", depth " << depth;
    }
  }
}

// Behind a network slower than the computation, a step takes as long as its transfers: the time that prefetch
// saves is bounded by the computation it can hide.
TEST(Overlap, prefetch_never_costs_time_and_saves_at_most_the_computation) {
  for (const Spec& spec : jobs()) {
    for (const double nic : {1.0, 0.25}) {
      const double at_use = exposed_s(spec, 0, nic), ahead = exposed_s(spec, 1, nic);
      const double compute = predict_step(spec, {}).report.compute.in_seconds();
      EXPECT_LE(ahead, at_use) << spec.name;
      EXPECT_GE(ahead, at_use - compute) << spec.name;
    }
  }
}

// Seconds of a step for which the mean NIC is taken up, where collectives reach this share of it.
double nic_s(Spec spec, double network_share) {
  spec.job.stack.network_share = network_share;
  const Report report = predict_step(spec, {}).report;
  for (const LinkUse& use : report.link_use)
    if (use.kind == "nic") return use.mean_utilisation * report.step_time.in_seconds();
  return 0;
}

TEST(LinkUse, nics_of_which_collectives_reach_half_are_taken_up_twice_as_long) {
  const Spec spec = jobs().front();
  const double whole = nic_s(spec, 1);
  EXPECT_GT(whole, 0);
  EXPECT_NEAR(nic_s(spec, 0.5), 2 * whole, 1e-6 * whole);
}

// Chunks leave one part of each collective exposed, and pay with latencies and smaller matmuls.
TEST(Overlap, chunked_matmuls_hide_tensor_parallel_communication_and_compute_longer) {
  const auto run = [](int chunks) {
    Spec spec = testing::load("llama3_70b_512_h100");
    spec.job.stack.tensor_hidden = 0;
    spec.job.stack.tensor_chunks = chunks;
    return predict_step(spec, {}).report;
  };
  const Report whole = run(1), halves = run(2), quarters = run(4);
  EXPECT_LT(halves.exposed_communication.in_seconds(), 0.8 * whole.exposed_communication.in_seconds());
  EXPECT_LT(quarters.exposed_communication, halves.exposed_communication);
  EXPECT_GT(halves.compute, whole.compute);
  EXPECT_GT(quarters.compute, halves.compute);
  EXPECT_LT(quarters.step_time, whole.step_time);
}

}  // namespace
}  // namespace podsim::overlap_test
