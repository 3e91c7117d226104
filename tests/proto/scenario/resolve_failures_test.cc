// Routing rules and failures in scenarios: what they become, and what is refused with its place.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::resolve_failures_test {
namespace {

std::string on_pod(const std::string& size, const std::string& fabric = "v5p_pod") {
  std::string text = replaced(valid_but("\"h100\"", "\"tpu_v5p\""), "chips: 512", size);
  return replaced(replaced(text, "dgx_h100", fabric), "megatron_bridge_2025", "maxtext_2025");
}

Spec spec_of(const std::string& text) {
  const auto result = load(text);
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec.value_or(Spec{});
}

TEST(ResolveRouting, is_of_the_fabric_unless_the_cluster_says_otherwise) {
  EXPECT_EQ(spec_of(valid_scenario()).cluster.fabric.routing, Routing::kAdaptive);
  const Spec hashed = spec_of(valid_but("  chips: 512", "  chips: 512 routing: ecmp routing_seed: 7"));
  EXPECT_EQ(hashed.cluster.fabric.routing, Routing::kEcmp);
  EXPECT_EQ(hashed.cluster.fabric.routing_seed, 7u);
  EXPECT_EQ(spec_of(valid_but("  chips: 512", "  chips: 512 fabric_override { routing: static }"))
                .cluster.fabric.routing,
            Routing::kStatic);
  EXPECT_EQ(spec_of(on_pod("chips: 512 routing: dimension_order")).cluster.fabric.routing,
            Routing::kDimensionOrder);
}

TEST(ResolveRouting, that_the_fabric_cannot_do_is_refused) {
  EXPECT_EQ(
      problems_of(valid_but("  chips: 512", "  chips: 512 routing: dimension_order")),
      Lines{"4:14 a GPU cluster has no dimensions to route in order of: its routing is adaptive, ecmp or "
            "static"});
  EXPECT_EQ(
      problems_of(valid_but("  chips: 512", "  chips: 512 routing: ecmpp")),
      Lines{
          "4:23 cluster.routing must be one of adaptive, dimension_order, ecmp, static, not ecmpp | did you "
          "mean ecmp?"});
}

TEST(ResolveTransport, is_ideal_unless_the_cluster_names_another) {
  EXPECT_TRUE(spec_of(valid_scenario()).cluster.fabric.transport.is_ideal());
  const Transport roce =
      spec_of(valid_but("  chips: 512", "  chips: 512 transport: \"rocev2\"")).cluster.fabric.transport;
  EXPECT_EQ(roce.name, "rocev2");
  EXPECT_FALSE(roce.is_ideal());
  EXPECT_LT(roce.collided_share(3, 3), roce.collided_share(2, 2));
  EXPECT_EQ(roce.collided_share(1, 9), 1) << "flows of one source do not collide";
  EXPECT_EQ(problems_of(valid_but("  chips: 512", "  chips: 512 transport: \"roce\"")),
            Lines{"4:14 the catalogue has no transport \"roce\" | did you mean \"rocev2\"?"});
}

TEST(ResolveLibrary, a_network_from_a_data_sheet_is_carried_by_the_parts_nearest_to_its_links) {
  const auto library_with = [](const std::string& fields) {
    return spec_of(valid_but("  fabric: \"dgx_h100\"\n",
                             "  fabric_override { name: \"mine\" gpu_cluster { gpus_per_domain: 8 " + fields +
                                 " tier { down: 32 } tier { down: 32 } } }\n"))
        .cluster.fabric;
  };
  const auto nvlink4 = library_with("nvlink { bandwidth_gb_per_s: 440 } nic { bandwidth_gb_per_s: 25 }");
  ASSERT_TRUE(nvlink4.library.has_value());
  EXPECT_EQ(nvlink4.library, spec_of(valid_scenario()).cluster.fabric.library);
  EXPECT_GT(nvlink4.collective_launch, Time{}) << "what starting one costs comes with the part";
  const auto nvlink5 = library_with("nvlink { bandwidth_gb_per_s: 900 } nic { bandwidth_gb_per_s: 50 }");
  EXPECT_NE(nvlink5.library->domain, nvlink4.library->domain);
  EXPECT_EQ(nvlink5.library->network, nvlink4.library->network);
  const auto efa =
      library_with("nvlink { bandwidth_gb_per_s: 450 } nic_kind: \"EFA\" nic { bandwidth_gb_per_s: 50 }");
  EXPECT_NE(efa.library->network, nvlink4.library->network);
  const auto other =
      library_with("nvlink { bandwidth_gb_per_s: 450 } nic_kind: \"X\" nic { bandwidth_gb_per_s: 50 }");
  EXPECT_EQ(other.library, nvlink4.library) << "a kind without numbers of its own is as any";
}

TEST(ResolveLibrary, ideal_leaves_links_as_they_are_and_a_wrong_name_is_told) {
  const auto with = [](const std::string& name) {
    return valid_but("  fabric: \"dgx_h100\"\n",
                     "  fabric: \"dgx_h100\" fabric_override { library: \"" + name + "\" }\n");
  };
  EXPECT_FALSE(spec_of(with("ideal")).cluster.fabric.library.has_value());
  EXPECT_EQ(spec_of(with("nccl")).cluster.fabric.library, spec_of(valid_scenario()).cluster.fabric.library);
  const Lines problems = problems_of(with("ncl"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("the catalogue has no library \"ncl\" | did you mean \"nccl\"?"),
            std::string::npos)
      << problems[0];
}

TEST(ResolveFailures, become_failures_of_the_fabric) {
  const Spec gpus = spec_of(valid_scenario() +
                            "adversity { failed_port { chip: 3 kind: \"nic\" } "
                            "failed_switch { kind: \"spine\" index: 0 } }");
  ASSERT_EQ(gpus.adversities.failures.size(), 2u);
  EXPECT_EQ(std::get<FailedPort>(gpus.adversities.failures[0]).kind, LinkKind::kNic);
  EXPECT_EQ(std::get<FailedSwitch>(gpus.adversities.failures[1]).kind, NodeKind::kSpine);
  const Spec pod = spec_of(on_pod("chips: 512") +
                           "adversity { failed_link { chip: 0 to_chip: 7 } "
                           "failed_ocs { dimension: 2 position_i: 1 position_j: 3 } }");
  ASSERT_EQ(pod.adversities.failures.size(), 2u);
  EXPECT_EQ(std::get<FailedCable>(pod.adversities.failures[0]).b, 7);
  EXPECT_EQ(std::get<FailedOcs>(pod.adversities.failures[1]).position, (std::array{1, 3}));
}

TEST(ResolveFailures, of_what_is_not_there_are_refused_at_their_place) {
  EXPECT_EQ(
      problems_of(valid_scenario() + "adversity { failed_port { chip: 512 kind: \"nic\" } }"),
      Lines{"17:27 adversity.failed_port[0].chip must be below the 512 chips, not 512 | chips count from 0"});
  EXPECT_EQ(problems_of(valid_scenario() + "adversity { failed_port { chip: 3 kind: \"nick\" } }"),
            Lines{"17:35 chip 3 has no link of kind \"nick\" | did you mean \"nic\"?"});
  EXPECT_EQ(problems_of(valid_scenario() + "adversity { failed_switch { kind: \"leef\" index: 0 } }"),
            Lines{"17:29 dgx_h100 has no switch of kind \"leef\" | did you mean \"leaf\"?"});
  EXPECT_EQ(problems_of(valid_scenario() + "adversity { failed_switch { kind: \"leaf\" index: 99 } }"),
            Lines{"17:13 there is no leaf 99: they are from 0 to 15"});
  EXPECT_EQ(
      problems_of(valid_scenario() + "adversity { failed_ocs { dimension: 0 position_i: 0 position_j: 0 } }"),
      Lines{"17:13 this fabric has no optical circuit switches"});
  EXPECT_EQ(
      problems_of(on_pod("chips: 512") + "adversity { failed_link { chip: 0 to_chip: 2 } }")[0].substr(0, 46),
      "17:13 no cable joins chip 0 and chip 2: chip 0");
}

TEST(ResolveFailures, that_cut_a_chip_off_are_refused_at_the_last_of_them) {
  const std::string both =
      "adversity {\n  failed_port { chip: 3 kind: \"nic\" }\n  failed_port { chip: 9 kind: \"nic\" }\n"
      "  failed_switch { kind: \"nvswitch\" index: 0 }\n}";
  EXPECT_EQ(problems_of(valid_scenario() + both), Lines{"20:3 nothing leads from chip 0 to chip 3 any more"});
}

TEST(ResolveCubes, that_failed_change_nothing_while_enough_are_left) {
  const auto result = load(on_pod("slice_shape: [8, 8, 8]", "v4_pod") +
                           "adversity { failed_cube { index: 0 } failed_cube { index: 63 } }");
  EXPECT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->cluster.fabric.torus->failed_cubes, (std::vector<int>{0, 63}));
  EXPECT_TRUE(result.spec->adversities.none());
  ASSERT_EQ(result.warnings.size(), 2u);  // another chip than the pod's, and this
  EXPECT_EQ(result.warnings[1].message, "the failed cubes cost nothing: enough healthy ones are left");
}

TEST(ResolveCubes, that_are_missing_name_the_largest_slices_left) {
  std::string text = replaced(on_pod("slice_shape: [16, 16, 16]", "v4_pod"), "size: 128", "size: 1024");
  text = replaced(text, "global_batch_sequences: 512", "global_batch_sequences: 4096");
  EXPECT_EQ(problems_of(text), Lines{});
  EXPECT_EQ(
      problems_of(text + "adversity { failed_cube { index: 5 } }"),
      Lines{"17:13 the pod has 63 healthy cubes of 64, and a 16x16x16 slice takes 64: the largest slices "
            "left are 12x12x28 (4032 chips) and, in powers of two, 8x16x16 (2048 chips)"});
  EXPECT_EQ(problems_of(text + "adversity { failed_cube { index: 64 } }"),
            Lines{"17:13 there is no cube 64: the pod has cubes 0 to 63"});
}

TEST(ResolveCubes, are_what_a_pod_with_optical_circuit_switches_has) {
  EXPECT_EQ(problems_of(valid_scenario() + "adversity { failed_cube { index: 0 } }"),
            Lines{"17:13 dgx_h100 is a GPU cluster and has no cubes"});
  std::string flat = replaced(on_pod("chips: 256", "v5e_pod"), "size: 128", "size: 64");
  EXPECT_EQ(
      problems_of(flat + "adversity { failed_cube { index: 0 } }"),
      Lines{"17:13 this pod has no optical circuit switches: its links are fixed, so that no other part of "
            "it can take the place of a failed one"});
}

}  // namespace
}  // namespace podsim::resolve_failures_test
