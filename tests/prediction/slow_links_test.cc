// Slow links of every kind on every fabric: the stated factor reaches every link that is meant, once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "prediction/predict.h"
#include "prediction/selectors.h"
#include "proto/scenario/load.h"
#include "scheduler/folding/drawn_degradations.h"
#include "topology/fabric.h"

namespace podsim::slow_links_test {
namespace {

struct Case {
  std::string cluster, stack, precision, kind;
  int chips;
  LinkKind link;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {R"(chip: "tpu_v5p" fabric: "v5p_pod")", "maxtext_2025", "bf16", "ici", 512, LinkKind::kIci},
      {R"(chip: "tpu_v4" fabric: "v4_pod")", "maxtext_2025", "bf16", "ici", 64, LinkKind::kIci},
      {R"(chip: "tpu_v5e" fabric: "v5e_pod")", "maxtext_2025", "bf16", "ici", 16, LinkKind::kIci},
      {R"(chip: "h100" fabric: "dgx_h100")", "megatron_bridge_2025", "bf16", "nvlink", 16, LinkKind::kNvlink},
      {R"(chip: "h100" fabric: "dgx_h100")", "megatron_bridge_2025", "bf16", "nic", 16, LinkKind::kNic},
      {R"(chip: "v100" fabric: "v100_4gpu")", "megatron_2021", "fp16", "nvlink", 16, LinkKind::kNvlink},
      {R"(chip: "l40s" fabric: "l40s_pcie")", "megatron_2023", "bf16", "nvlink", 16, LinkKind::kNvlink},
      {R"(chip: "l40s" fabric: "l40s_pcie")", "megatron_2023", "bf16", "nic", 16, LinkKind::kNic}};
  return all;
}

Spec load(const Case& c, const std::string& adversity) {
  const std::string text = "cluster { chips: " + std::to_string(c.chips) + " " + c.cluster +
                           " } job { model: \"megatron_1_7b\" stack: \"" + c.stack +
                           "\" mesh { name: \"data\" size: " + std::to_string(c.chips) + " }" +
                           " sharding: \"data\" global_batch_sequences: 512 microbatch_sequences: 1\n"
                           "sequence_tokens: 2048 recompute: full precision: " +
                           c.precision + " }\nadversity { " + adversity + " }\n";
  const Catalog catalog;
  LoadResult loaded = load_scenario("links.textproto", text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  return *std::move(loaded.spec);
}

Fabric slowed(const Spec& spec) {
  return with_slow_links(build_fabric(spec.cluster.fabric), slow_links(spec.adversities.degradations));
}

// The product of the factors of those chips that the link ends at.
double stated(const Case& c, const Link& link, double of_chip_0, double of_chip_1) {
  if (!is_of_kind(link, c.link)) return 1;
  const auto ends_at = [&](NodeId chip) { return link.from == chip || link.to == chip; };
  return (ends_at(0) ? of_chip_0 : 1) * (ends_at(1) ? of_chip_1 : 1);
}

void expect_factors(const Case& c, const Fabric& healthy, const Fabric& slow, double of_chip_0,
                    double of_chip_1) {
  int hit = 0;
  for (std::size_t l = 0; l < healthy.links.size(); ++l) {
    const Link& link = healthy.links[l];
    const double factor = stated(c, link, of_chip_0, of_chip_1);
    EXPECT_DOUBLE_EQ(slow.links[l].bandwidth.value, factor * link.bandwidth.value)
        << c.cluster << " " << c.kind << " from " << link.from << " to " << link.to;
    hit += factor < 1;
  }
  EXPECT_GT(hit, 0) << c.cluster << " " << c.kind;
}

std::string entry(const Case& c, int chip, const std::string& speed) {
  return "slow_link { chip: " + std::to_string(chip) + " kind: \"" + c.kind + "\" speed_fraction: " + speed +
         " } ";
}

TEST(SlowLinks, of_a_scenario_have_the_nominal_bandwidth_times_the_stated_factors) {
  for (const Case& c : cases()) {
    const Spec spec = load(c, entry(c, 0, "0.5") + entry(c, 1, "0.25"));
    EXPECT_EQ(spec.adversities.degradations.size(), 2u) << "an entry is told as one adversity";
    expect_factors(c, build_fabric(spec.cluster.fabric), slowed(spec), 0.5, 0.25);
  }
}

TEST(SlowLinks, of_the_command_line_are_those_of_a_scenario) {
  for (const Case& c : cases()) {
    Spec spec = load(c, "");
    ASSERT_EQ(add_slow(spec, c.kind + ":0=0.5x"), "");
    EXPECT_EQ(spec.adversities.degradations.size(), 1u) << "an option is told as one adversity";
    expect_factors(c, build_fabric(spec.cluster.fabric), slowed(spec), 0.5, 1);
  }
}

Time step_time(const Case& c, const std::string& adversity, double scale_up = 1) {
  Spec spec = load(c, adversity);
  FabricSpec& fabric = spec.cluster.fabric;
  LinkSpec& link = fabric.torus ? fabric.torus->ici : fabric.gpu->nvlink;
  link.bandwidth = scale_up * link.bandwidth;
  return predict_step(spec, {}).report.step_time;
}

TEST(SlowLinks, that_are_all_half_as_fast_make_a_fabric_half_as_fast) {
  for (const Case& c : cases()) {
    if (c.kind == "nic" || c.chips > 64) continue;
    const std::string which = "which { kind: \"" + c.kind + "\" } ";
    const Time half = step_time(c, "", 0.5);
    EXPECT_GT(half, step_time(c, "")) << c.cluster;
    EXPECT_EQ(step_time(c, "slow { " + which + "speed_fraction: 0.5 }"), half) << c.cluster;
    EXPECT_EQ(step_time(c, "background { " + which + "taken_fraction: 0.5 }"), half) << c.cluster;
  }
}

TEST(SlowLinks, by_selector_are_those_by_chip) {
  for (const Case& c : cases()) {
    const Spec spec = load(c, "slow { which { kind: \"" + c.kind + "\" index: 0 } speed_fraction: 0.5 }");
    Fabric slow = build_fabric(spec.cluster.fabric);
    const Fabric healthy = slow;
    const std::vector<int> none(healthy.chips, -1);
    const DrawnDegradations drawn =
        draw_degradations(healthy, Parts(healthy, spec.cluster.fabric.chips_per_host), {none, none},
                          spec.adversities.degradations, 1);
    for (std::size_t l = 0; l < slow.links.size(); ++l)
      slow.links[l].bandwidth = slow.links[l].bandwidth * drawn.link_factor[l];
    expect_factors(c, healthy, slow, 0.5, 1);
  }
}

}  // namespace
}  // namespace podsim::slow_links_test
