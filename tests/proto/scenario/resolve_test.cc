// What hangs together in a scenario: names, cluster, job, adversities, price.
#include <gtest/gtest.h>

#include <set>

#include "proto/scenario.pb.h"
#include "tests/proto/scenario.h"
#include "workload/pipeline/schedules.h"

namespace podsim::resolve_test {
namespace {

// The valid scenario on TPUs.
std::string on_tpu(const std::string& size) {
  std::string text = replaced(valid_but("\"h100\"", "\"tpu_v5p\""), "chips: 512", size);
  return replaced(replaced(text, "dgx_h100", "v5p_pod"), "megatron_bridge_2025", "maxtext_2025");
}

Spec spec_of(const std::string& text, const std::vector<Override>& overrides = {}) {
  const auto result = load(text, overrides);
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec.value_or(Spec{});
}

TEST(ResolveNames, an_unknown_name_is_shown_with_the_nearest_one) {
  EXPECT_EQ(problems_of(valid_but("\"h100\"", "\"h10\"")),
            Lines{"3:3 the catalogue has no chip \"h10\" | of this family it has: h100, h100_500w, "
                  "h100_pcie, h20, h200, h800"});
  EXPECT_EQ(problems_of(valid_but("dgx_h100", "dxg_h100")),
            Lines{"5:3 the catalogue has no fabric \"dxg_h100\" | did you mean \"dgx_h100\"?"});
  EXPECT_EQ(problems_of(valid_but("llama3_70b", "lama3_70b")),
            Lines{"8:3 the catalogue has no model \"lama3_70b\" | did you mean \"llama3_70b\"?"});
  EXPECT_EQ(problems_of(valid_but("megatron_bridge_2025", "torchtitn")),
            Lines{"9:3 the catalogue has no stack \"torchtitn\" | did you mean \"torchtitan\"?"});
  EXPECT_EQ(problems_of(valid_but("\"megatron_sp\"", "\"megatronsp\"")),
            Lines{"13:3 there is no sharding preset \"megatronsp\" | did you mean \"megatron_sp\"?"});
}

TEST(ResolveNames, a_missing_field_is_shown_with_an_example) {
  EXPECT_EQ(problems_of(valid_but("  chips: 512\n", "")),
            Lines{"2:1 cluster.chips is missing | write, for example, chips: 512"});
  EXPECT_EQ(problems_of(valid_but("  sequence_tokens: 8192\n", "")),
            Lines{"7:1 job.sequence_tokens is missing | write, for example, sequence_tokens: 8192"});
  EXPECT_EQ(problems_of(valid_but(" size: 4", "")),
            Lines{"11:3 job.mesh[1].size is missing | write, for example, size: 8"});
  EXPECT_EQ(problems_of(on_tpu("")),
            Lines{"2:1 cluster.chips is missing | write, for example, chips: 512 or slice_shape: [8, 8, 8]"});
}

TEST(ResolveCluster, an_inline_definition_changes_single_fields) {
  const Spec spec = spec_of(
      valid_but("  chips: 512",
                "  chips: 512 chip_override { matmul { dtype: bf16 peak_tflops: 1000 sustained: 0.5 } }"));
  EXPECT_EQ(spec.cluster.chip.matmul.size(), 1u);  // a list replaces the list
  EXPECT_EQ(spec.cluster.chip.matmul.at(Dtype::kBf16).peak.value, 1e15);
  EXPECT_EQ(spec.cluster.chip.compute_units, 132);
}

TEST(ResolveCluster, an_element_given_in_part_changes_the_one_of_its_name_alone) {
  const Spec plain = spec_of(valid_scenario());
  const Spec spec = spec_of(
      valid_but("  chips: 512", "  chips: 512 chip_override { matmul { dtype: bf16 sustained: 0.5 } }"));
  EXPECT_EQ(spec.cluster.chip.matmul.size(), plain.cluster.chip.matmul.size());
  EXPECT_EQ(spec.cluster.chip.matmul.at(Dtype::kBf16).sustained, 0.5);
  EXPECT_EQ(spec.cluster.chip.matmul.at(Dtype::kBf16).peak.value,
            plain.cluster.chip.matmul.at(Dtype::kBf16).peak.value);
  EXPECT_EQ(spec.cluster.chip.matmul.at(Dtype::kFp8).sustained,
            plain.cluster.chip.matmul.at(Dtype::kFp8).sustained);
}

TEST(ResolveCluster, an_element_in_part_of_a_name_that_is_not_there_must_be_complete) {
  const Lines problems = problems_of(
      valid_but("  chips: 512", "  chips: 512 chip_override { matmul { dtype: fp4 sustained: 0.5 } }"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("peak_tflops is missing"), std::string::npos) << problems[0];
}

TEST(ResolveCluster, an_inline_chip_of_its_own_must_be_complete) {
  const Lines problems = problems_of(valid_but("chip: \"h100\"", "chip_override { name: \"mine\" }"));
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0],
            "3:3 cluster.chip_override.matmul is missing | write, for example, matmul { dtype: bf16 "
            "peak_tflops: 989 sustained: 0.7 }");
}

TEST(ResolveCluster, a_slice_shape_gives_the_chips) {
  const Spec spec = spec_of(on_tpu("slice_shape: [8, 16, 4]"));
  EXPECT_EQ(spec.cluster.fabric.chips, 512);
  EXPECT_EQ(spec.cluster.fabric.torus->shape, (std::array<int, 3>{8, 16, 4}));
}

TEST(ResolveCluster, chips_alone_give_the_most_cubic_slice) {
  EXPECT_EQ(spec_of(on_tpu("chips: 512")).cluster.fabric.torus->shape, (std::array<int, 3>{8, 8, 8}));
}

TEST(ResolveCluster, chips_of_all_slices_are_divided) {
  const Spec spec = spec_of(on_tpu("chips: 512 slices: 2"));
  EXPECT_EQ(spec.cluster.fabric.slices, 2);
  EXPECT_EQ(spec.cluster.fabric.torus->shape, (std::array<int, 3>{4, 8, 8}));
  EXPECT_EQ(spec.cluster.fabric.dcn.bandwidth.value, 25e9);
  EXPECT_EQ(problems_of(on_tpu("chips: 512 slices: 3")),
            Lines{"4:14 512 chips cannot be divided into 3 equal slices"});
}

TEST(ResolveCluster, a_shape_the_pod_cannot_make_is_shown_at_the_shape) {
  EXPECT_EQ(problems_of(on_tpu("slice_shape: [4, 5, 8]")),
            Lines{"4:3 the pod cannot make a 4x5x8 slice: lengths must be multiples of 4 (nearest: 4x4x8), "
                  "or all of them 1, "
                  "2 or 4 inside one cube"});
  EXPECT_EQ(problems_of(on_tpu("chips: 500")),
            Lines{"4:3 v5p_pod cannot make a slice of 500 chips | a slice of 448 or 512 chips is possible"});
  EXPECT_EQ(problems_of(on_tpu("chips: 12288")), Lines{"4:3 v5p_pod cannot make a slice of 12288 chips | a "
                                                       "slice has at most 6144 chips: use more slices"});
  EXPECT_EQ(
      problems_of(on_tpu("chips: 256 slice_shape: [8, 8, 8]")),
      Lines{
          "4:3 cluster.chips is 256, but the slice shape has 512 chips in 1 slice | leave one of them out"});
  EXPECT_EQ(problems_of(on_tpu("slice_shape: [8, 8, 4, 2]")),
            Lines{"4:3 cluster.slice_shape has 4 lengths, but v5p_pod has 3 dimensions"});
}

TEST(ResolveCluster, gpus_fill_their_domains) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 500")),
            Lines{"4:3 500 GPUs do not fill NVLink domains of 8: 496 or 504 would"});
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 512 slice_shape: [8, 8, 8] slices: 2")),
            (Lines{"4:14 cluster.slice_shape is for tori, and dgx_h100 is a GPU cluster | leave it out",
                   "4:37 cluster.slices is for tori, and dgx_h100 is a GPU cluster | leave it out"}));
}

TEST(ResolveCluster, oversubscription_is_that_of_the_leaves_or_of_the_dcn) {
  EXPECT_EQ(spec_of(valid_but("chips: 512", "chips: 512 oversubscription: 2"))
                .cluster.fabric.gpu->tiers[0]
                .oversubscription,
            2);
  EXPECT_EQ(spec_of(on_tpu("chips: 512 slices: 2 oversubscription: 4")).cluster.fabric.dcn_oversubscription,
            4);
  EXPECT_EQ(problems_of(on_tpu("chips: 512 oversubscription: 4")),
            Lines{"4:14 cluster.oversubscription is of switches between servers or slices, and this cluster "
                  "has none | leave it out"});
}

TEST(ResolveCluster, a_fat_tree_that_is_too_small_grows_and_says_so) {
  const auto sized = [](int chips) {
    return replaced(valid_but("chips: 512", "chips: " + std::to_string(chips)), "size: 128",
                    "size: " + std::to_string(chips / 4));
  };
  const auto within = load(replaced(sized(32768), "sequences: 512", "sequences: 8192"));
  EXPECT_EQ(problems_of(within), Lines{});
  EXPECT_TRUE(within.warnings.empty());
  EXPECT_EQ(within.spec->cluster.fabric.gpu->tiers.size(), 3u);

  const auto grown = load(replaced(sized(65536), "sequences: 512", "sequences: 16384"));
  EXPECT_EQ(problems_of(grown), Lines{});
  EXPECT_EQ(grown.spec->cluster.fabric.gpu->tiers.size(), 4u);
  EXPECT_EQ(grown.spec->cluster.fabric.gpu->tiers[3].down, 32);
  ASSERT_EQ(grown.warnings.size(), 1u);
  EXPECT_EQ(grown.warnings[0].line, 4);
  EXPECT_EQ(
      grown.warnings[0].message,
      "the fat-tree of dgx_h100 joins at most 32768 GPUs with its 3 tiers: 1 tier like the last was added "
      "above them");
}

TEST(ResolveCluster, a_chip_on_a_foreign_fabric_is_a_warning) {
  const auto result = load(valid_but("\"h100\"", "\"b200\""));
  EXPECT_EQ(problems_of(result), Lines{});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message, "dgx_h100 is built of h100, not of b200");
  EXPECT_EQ(result.warnings[0].line, 5);
}

TEST(ResolvePrice, comes_from_the_list_or_from_the_scenario) {
  const Price listed = spec_of(valid_but("chips: 512", "chips: 512 price_term: \"spot\"")).cluster.price;
  EXPECT_EQ(listed.name, "list_2026");
  EXPECT_EQ(listed.term, "spot");
  EXPECT_GT(listed.usd_per_chip_hour, 0);
  const Price own =
      spec_of(valid_but("chips: 512", "chips: 512 usd_per_chip_hour: 2.5 usd_per_kwh: 0.1")).cluster.price;
  EXPECT_EQ(own.usd_per_chip_hour, 2.5);
  EXPECT_EQ(own.usd_per_kwh, 0.1);
  EXPECT_EQ(own.pue, listed.pue);
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 512 price_term: \"spt\"")),
            Lines{"4:14 list_2026 has no price of h100 for \"spt\" | did you mean \"spot\"?"});
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: 512 prices: \"list_1999\"")).size(), 1u);
}

TEST(ResolveJob, the_mesh_fills_the_cluster) {
  EXPECT_EQ(problems_of(valid_but("size: 4 }", "size: 7 }")),
            Lines{"10:3 the mesh fsdp 128 x tensor 7 has 896 devices, but the cluster has 512 chips | tensor "
                  "4 would make it 512"});
  EXPECT_EQ(problems_of(valid_but("\"tensor\"", "\"fsdp\"")),
            Lines{"11:10 mesh axis \"fsdp\" is there twice"});
}

TEST(ResolveJob, heads_are_divided_by_the_tensor_axis) {
  std::string text = replaced(valid_but("size: 128 }", "size: 4 }\n"), "\n\n", "\n");
  text = replaced(text, "mesh { name: \"tensor\" size: 4 }", "mesh { name: \"tensor\" size: 128 }");
  const Lines problems = problems_of(text);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].substr(0, 44), "7:1 heads 64 are not divisible by 128, the s");
}

TEST(ResolveJob, later_presets_extend_and_rules_replace) {
  const std::string text = valid_but("mesh { name: \"fsdp\" size: 128 }",
                                     "mesh { name: \"data\" size: 16 } mesh { name: \"fsdp\" size: 8 }");
  const auto batch = [](const Spec& spec) {
    for (const ShardingRule& rule : spec.job.rules) {
      if (rule.dimension == "batch") return rule.axes;
    }
    return std::vector<std::string>{"no rule"};
  };
  const std::string both = replaced(text, "sharding: \"fsdp\"", "sharding: \"data\" sharding: \"fsdp\"");
  EXPECT_EQ(batch(spec_of(both)), (std::vector<std::string>{"data", "fsdp"}));
  EXPECT_EQ(batch(spec_of(replaced(both, "sequence_tokens",
                                   "rule { dimension: \"batch\" axis: \"fsdp\" } sequence_tokens"))),
            std::vector<std::string>{"fsdp"});
  EXPECT_EQ(problems_of(replaced(both, "sequence_tokens",
                                 "rule { dimension: \"batch\" axis: \"fsd\" } sequence_tokens")),
            Lines{"15:29 the mesh has no axis \"fsd\" | did you mean \"fsdp\"?"});
}

TEST(ResolveJob, an_axis_that_nothing_uses_is_a_warning) {
  const auto result = load(valid_but("  sharding: \"megatron_sp\"\n", ""));
  EXPECT_EQ(problems_of(result), Lines{});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message, "nothing is sharded over mesh axis \"tensor\"");
}

TEST(ResolveJob, the_microbatch_defaults_to_all_sequences_of_a_shard) {
  EXPECT_EQ(spec_of(valid_scenario()).job.microbatch, 4);
}

TEST(ResolveJob, a_pipeline_needs_a_microbatch) {
  const std::string text = valid_but("mesh { name: \"fsdp\" size: 128 }",
                                     "mesh { name: \"pipeline\" size: 4 } mesh { name: \"fsdp\" size: 32 }");
  EXPECT_EQ(problems_of(text),
            Lines{"7:1 job.microbatch_sequences is missing, and a pipeline needs it | each batch shard has "
                  "16 sequences per step; possible: 1, 2, 4, 8, 16"});
  const Spec spec = spec_of(text, {{"job.microbatch_sequences", "2"}});
  EXPECT_EQ(spec.job.pipeline_axis, "pipeline");
  EXPECT_EQ(spec.job.schedule, PipelineSchedule::k1F1B);
  EXPECT_EQ(
      spec_of(text, {{"job.microbatch_sequences", "2"}, {"job.pipeline.chunks_per_stage", "2"}}).job.schedule,
      PipelineSchedule::kInterleaved);
  EXPECT_EQ(problems_of(text, {{"job.microbatch_sequences", "2"}, {"job.pipeline.axis", "pipelin"}}),
            Lines{"--set the mesh has no axis \"pipelin\" for the pipeline | did you mean \"pipeline\"?"});
}

TEST(ResolveJob, every_schedule_that_scenarios_name_is_one_of_the_table) {
  std::set<std::string> named, of_table;
  for (int schedule = schema::Pipeline::SCHEDULE_UNSPECIFIED + 1;
       schema::Pipeline::Schedule_IsValid(schedule); ++schedule)
    named.insert(schema::Pipeline::Schedule_Name(schedule));
  for (const ScheduleTraits& traits : all_schedules()) of_table.insert(std::string(traits.name));
  EXPECT_EQ(named, of_table);
  EXPECT_EQ(all_schedules().size(), of_table.size());
}

TEST(ResolveJob, a_schedule_brings_its_chunks_and_says_what_it_needs) {
  const auto with = [](const std::string& pipeline) {
    return valid_but("mesh { name: \"fsdp\" size: 128 }",
                     "mesh { name: \"pipeline\" size: 4 } mesh { name: \"fsdp\" size: 32 } pipeline { " +
                         pipeline + " } microbatch_sequences: 1");
  };
  EXPECT_EQ(spec_of(with("schedule: zero_bubble_v")).job.chunks_per_stage, 2);
  EXPECT_EQ(spec_of(with("schedule: dualpipe")).job.schedule, PipelineSchedule::kDualPipe);
  EXPECT_EQ(spec_of(with("schedule: zero_bubble_h1")).job.schedule, PipelineSchedule::kZeroBubbleH1);
  const auto expect_problem = [&](const std::string& pipeline, const std::string& words) {
    const Lines problems = problems_of(with(pipeline));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find(words), std::string::npos) << problems[0];
  };
  expect_problem("schedule: dualpipe chunks_per_stage: 3", "3 chunks per stage, where this schedule has 2");
  expect_problem("layers_per_chunk: [20, 20, 20, 19]", "79 layers in all pieces, where the model has 80");
  expect_problem("layers_per_chunk: [40, 40]", "2 numbers of layers for 4 pieces of the model");
  expect_problem("layers_per_chunk: [40, 0, 20, 20]", "0 layers in piece 1, which has nothing else");
  expect_problem("layers_per_chunk: -1", "must be from 0 to 10,000, not -1");
  EXPECT_EQ(spec_of(with("layers_per_chunk: [19, 21, 21, 19]")).job.layers_per_chunk,
            (std::vector<int>{19, 21, 21, 19}));
}

TEST(ResolveJob, precision_and_attention_are_those_of_the_chip) {
  EXPECT_EQ(problems_of(valid_but("sequence_tokens", "precision: fp4 sequence_tokens")),
            Lines{"15:3 h100 has no matrix unit for fp4 | it has: bf16, fp16, fp8"});
  const Lines problems = problems_of(valid_scenario(), {{"job.stack_override.attention_kernel", "splash"}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].substr(0, 92),
            "9:3 megatron_bridge_2025 uses the attention kernel \"splash\", which h100 does not have | it h");
}

TEST(ResolveJob, recompute_is_said_in_one_way) {
  const auto with = [](const std::string& fields) {
    return valid_but("sequence_tokens", fields + " sequence_tokens");
  };
  EXPECT_EQ(spec_of(with("recompute: full recompute_every: 2")).job.recompute_every, 2);
  const Job policy = spec_of(with("recompute_policy: \"save_qkv_proj\"")).job;
  EXPECT_EQ(policy.recompute, Recompute::kKeepNamed);
  EXPECT_EQ(policy.recompute_names, std::vector<std::string>{"qkv_proj"});
  EXPECT_EQ(spec_of(with("keep: [\"ffn up\", \"mlpwi_0\"]")).job.recompute_names.size(), 2u);
  EXPECT_EQ(spec_of(with("recompute_modules: \"mlp\"")).job.recompute, Recompute::kRemakeNamed);
  EXPECT_EQ(problems_of(with("recompute: full keep: \"ffn up\"")),
            Lines{"15:3 the job says in several ways what its layers recompute | leave one of recompute, "
                  "recompute_policy, keep and recompute_modules"});
  EXPECT_EQ(problems_of(with("recompute_policy: \"minimum\"")),
            Lines{"15:3 there is no recompute policy \"minimum\" | did you mean \"minimal\"?"});
  EXPECT_EQ(problems_of(with("keep: [\"query_prj\"]")),
            Lines{"15:3 no layer has an activation \"query_prj\" | did you mean \"query_proj\"?"});
  EXPECT_EQ(problems_of(with("recompute_layers: 0")),
            Lines{"15:3 job.recompute_layers must be from 1 to 10,000, not 0"});
}

TEST(ResolveJob, an_offload_needs_a_link_to_the_host) {
  const std::vector<Override> without = {{"cluster.chip_override.host_link_gb_per_s", "0"}};
  const auto with = [](const std::string& fields) {
    return valid_but("sequence_tokens", fields + " sequence_tokens");
  };
  const std::string end =
      " h100 has no link to its host, which an offload needs | set "
      "cluster.chip_override.host_link_gb_per_s";
  EXPECT_EQ(problems_of(with("offload_optimizer: true"), without), Lines{"15:3" + end});
  EXPECT_EQ(problems_of(with("offload: \"context\""), without), Lines{"15:3" + end});
  EXPECT_EQ(problems_of(with("recompute_policy: \"minimal_offloaded\""), without), Lines{"15:3" + end});
  EXPECT_TRUE(spec_of(with("offload_optimizer: true")).job.offload_optimizer);
  EXPECT_EQ(spec_of(with("offload: \"context\"")).job.offloaded, std::vector<std::string>{"context"});
}

TEST(ResolveJob, axes_are_placed_on_torus_dimensions) {
  const std::string text =
      replaced(on_tpu("slice_shape: [4, 16, 8]"), "size: 4 }", "size: 4 torus_dimension: 0 }");
  const Spec spec = spec_of(text);
  ASSERT_EQ(spec.placement.size(), 1u);
  EXPECT_EQ(spec.placement[0].axis, "tensor");
  EXPECT_EQ(spec.placement[0].dimensions, std::vector<int>{0});
  EXPECT_EQ(problems_of(replaced(text, "torus_dimension: 0", "torus_dimension: 1")),
            Lines{"11:33 axis tensor has 4 devices in a slice, but its torus dimensions hold 16"});
}

TEST(ResolveAdversity, faults_are_of_chips_and_links_that_exist) {
  const std::string faults = R"(adversity {
  slow_chip { chip: 512 speed_fraction: 80 }
  slow_link { chip: 3 kind: "ici" speed_fraction: 0.5 }
  slow_link { chip: 3 kind: "nci" speed_fraction: 0.5 }
})";
  EXPECT_EQ(
      problems_of(valid_scenario() + faults),
      (Lines{"18:15 adversity.slow_chip[0].chip must be below the 512 chips, not 512 | chips count from 0",
             "18:25 adversity.slow_chip[0].speed_fraction must be from 0.0001 to 1, not 80 | a share: 80 % "
             "is 0.8",
             "19:23 a chip of dgx_h100 has no link of kind \"ici\" | it has: nic, nvlink",
             "20:23 a chip of dgx_h100 has no link of kind \"nci\" | did you mean \"nic\"?"}));
}

TEST(ResolveAdversity, slow_ici_is_electrical_and_optical) {
  const Spec spec =
      spec_of(on_tpu("chips: 512") + "adversity { slow_link { chip: 3 kind: \"ici\" speed_fraction: 0.5 } }");
  ASSERT_EQ(spec.adversities.degradations.size(), 1u) << "twice would slow optical links twice";
  EXPECT_EQ(spec.adversities.degradations[0].link, LinkKind::kIci) << "which stands for the optical too";
  EXPECT_EQ(spec.adversities.degradations[0].factor.mean, 0.5);
}

TEST(ResolveChip, one_that_draws_more_without_work_than_at_work_is_refused) {
  EXPECT_EQ(
      problems_of(
          valid_but("  chip: \"h100\"\n", "  chip: \"h100\"\n  chip_override { power_busy_w: 60 }\n")),
      Lines{"4:3 h100 draws 100 W without work and 60 W at work | power_idle_w is at most power_busy_w"});
}

}  // namespace
}  // namespace podsim::resolve_test
