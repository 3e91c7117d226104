// Better hardware makes no step slower: what is chosen by predicted times must hold in the step.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "tests/rounds.h"
#include "tests/swarm/random_scenario.h"

namespace podsim::testing {
namespace {

constexpr int kJobs = 60;
constexpr double kSlower = 0.005;  // what overlaps can fall out of step for

struct Improvement {
  const char* name;
  void (*make)(Cluster& cluster);
};

void speed_up(LinkSpec& link) { link.bandwidth = link.bandwidth * 1.5; }
void shorten(LinkSpec& link) { link.latency = Time{}; }

std::vector<Improvement> improvements_of(const Cluster& cluster) {
  std::vector<Improvement> all = {
      {"matrix units 1.3 times as fast",
       [](Cluster& of) {
         for (auto& [dtype, rate] : of.chip.matmul) rate.peak = rate.peak * 1.3;
       }},
      {"HBM 1.3 times as fast", [](Cluster& of) { of.chip.hbm = of.chip.hbm * 1.3; }},
      {"collectives launched at once", [](Cluster& of) { of.fabric.collective_launch = Time{}; }}};
  if (cluster.fabric.gpu) {
    all.push_back({"NIC bandwidth", [](Cluster& of) { speed_up(of.fabric.gpu->nic); }});
    all.push_back({"NIC latency", [](Cluster& of) { shorten(of.fabric.gpu->nic); }});
    all.push_back({"NVLink bandwidth", [](Cluster& of) { speed_up(of.fabric.gpu->nvlink); }});
    all.push_back({"NVLink latency", [](Cluster& of) { shorten(of.fabric.gpu->nvlink); }});
  } else {
    all.push_back({"ICI bandwidth", [](Cluster& of) { speed_up(of.fabric.torus->ici); }});
    all.push_back({"ICI latency", [](Cluster& of) { shorten(of.fabric.torus->ici); }});
  }
  if (cluster.fabric.slices > 1) {
    all.push_back({"DCN bandwidth", [](Cluster& of) { speed_up(of.fabric.dcn); }});
    all.push_back({"DCN latency", [](Cluster& of) { shorten(of.fabric.dcn); }});
  }
  return all;
}

// One job by itself, where nothing goes wrong.
std::optional<Spec> drawn_job(const Catalog& catalog, int seed) {
  LoadResult loaded = load_scenario("drawn.textproto", random_scenario(seed), catalog, {});
  if (!loaded.spec || !loaded.spec->jobs.empty()) return std::nullopt;
  loaded.spec->adversities = {};
  loaded.spec->steps = loaded.spec->seeds = 1;
  return std::move(loaded.spec);
}

double step_of(const Spec& spec) { return predict_step(spec, {}).report.step_time.in_seconds(); }

// Four groups of the fsdp axis share the NIC of a host. Rings of eight chips would be faster for one of them
// where the DCN has no latency, and slower for all.
TEST(BetterHardware, groups_that_share_a_host_choose_together) {
  const auto scenario = [](int latency_us) {
    return R"(cluster { chip: "tpu_v5e" fabric: "v5e_pod" slice_shape: [4, 4] slices: 2
                fabric_override { dcn { host { latency_us: )" +
           std::to_string(latency_us) + R"( } } } }
              job {
                model_override {
                  name: "m" layers: 16 d_model: 1024 heads: 8 ffn: 4096 gated_ffn: true vocabulary: 32000
                }
                stack: "mlperf_tpu" mesh { name: "fsdp" size: 8 } mesh { name: "pipeline" size: 4 }
                sharding: "fsdp" pipeline { schedule: one_f_one_b } partitioner: search
                global_batch_sequences: 256 microbatch_sequences: 2 sequence_tokens: 1024
                recompute: selective
              })";
  };
  const Catalog catalog;
  const LoadResult far = load_scenario("far", scenario(10), catalog, {});
  const LoadResult near = load_scenario("near", scenario(0), catalog, {});
  ASSERT_TRUE(far.spec && near.spec);
  EXPECT_LT(step_of(*near.spec), step_of(*far.spec));
}

TEST(BetterHardware, makes_no_step_slower) {
  const Catalog catalog;
  int jobs = 0;
  for (int seed = 0; jobs < rounds(kJobs); ++seed) {
    const std::optional<Spec> spec = drawn_job(catalog, seed);
    if (!spec) continue;
    ++jobs;
    const double step = step_of(*spec);
    const std::vector<Improvement> all = improvements_of(spec->cluster);
    for (const std::size_t i : {std::size_t(seed) % all.size(), std::size_t(seed + 3) % all.size()}) {
      Spec better = *spec;
      all[i].make(better.cluster);
      EXPECT_LE(step_of(better), step * (1 + kSlower)) << "drawn scenario " << seed << ": " << all[i].name;
    }
  }
}

// Collectives that overlap are chosen one by one: where hops take no time, others are chosen, which meet
// more. Of the jobs drawn with the seeds 0 to 364 these three lose more than half a per cent.
TEST(BetterHardware, loses_a_few_per_cent_where_overlapping_collectives_change) {
  const Catalog catalog;
  for (const int seed : {316, 326, 364}) {
    const std::optional<Spec> spec = drawn_job(catalog, seed);
    ASSERT_TRUE(spec && spec->cluster.fabric.torus) << seed;
    Spec better = *spec;
    shorten(better.cluster.fabric.torus->ici);
    EXPECT_LE(step_of(better), step_of(*spec) * 1.05) << seed;
  }
}

}  // namespace
}  // namespace podsim::testing
