// What a user writes where nothing reads it is told, with its place and what it needs.
#include <gtest/gtest.h>

#include <algorithm>

#include "proto/scenario/chosen_fabric.h"
#include "scheduler/question/spec.h"
#include "tests/proto/scenario.h"
#include "tests/proto/scenario/program_scenario.h"

namespace podsim::idle_fields_test {
namespace {

// "line:column message" of each warning.
Lines warnings_of(const LoadResult& result) {
  EXPECT_TRUE(result.problems.empty()) << (result.problems.empty() ? "" : result.problems[0].message);
  Lines lines;
  for (const Problem& warning : result.warnings)
    lines.push_back((warning.line > 0 ? std::to_string(warning.line) + ":" + std::to_string(warning.column)
                                      : warning.file) +
                    " " + warning.message);
  return lines;
}

Lines warnings_of(const std::string& text, const std::vector<Override>& overrides = {}) {
  return warnings_of(load(text, overrides));
}

// The fields that are told to have no effect.
Lines idle_in(const LoadResult& result) {
  Lines fields;
  for (const Problem& warning : result.warnings)
    if (const std::size_t end = warning.message.find(" has no effect"); end != std::string::npos)
      fields.push_back(warning.message.substr(0, end));
  return fields;
}

bool is_idle(const std::string& text, const std::vector<Override>& overrides, const std::string& field) {
  const LoadResult result = load(text, overrides);
  EXPECT_TRUE(result.problems.empty()) << field << ": " << result.problems[0].message;
  const Lines idle = idle_in(result);
  return std::count(idle.begin(), idle.end(), field) > 0;
}

TEST(IdleFields, have_a_line_a_column_and_a_hint) {
  const LoadResult result =
      load(valid_but("  fabric: \"dgx_h100\"\n", "  fabric: \"dgx_h100\"\n  transport: \"rocev2\"\n"));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].line, 6);
  EXPECT_EQ(result.warnings[0].column, 3);
  EXPECT_EQ(result.warnings[0].message,
            "cluster.transport has no effect: under adaptive routing flows are spread over all paths and do "
            "not collide");
  EXPECT_EQ(result.warnings[0].hint, "routing: ecmp gives each flow one path");
}

TEST(IdleFields, what_the_catalogue_sets_is_not_told) { EXPECT_EQ(warnings_of(valid_scenario()), Lines{}); }

TEST(IdleFields, are_silent_beside_what_they_need) {
  struct Case {
    std::string field, value;
    Override needed;
  };
  const Case cases[] = {
      {"cluster.transport", "rocev2", {"cluster.routing", "ecmp"}},
      {"cluster.routing_seed", "7", {"cluster.routing", "ecmp"}},
      {"cluster.chip_override.host_link_gb_per_s", "50", {"job.offload", "ffn up"}},
      {"seed", "7", {"adversity.jitter", "typical"}},
      {"steps", "7", {"adversity.jitter", "typical"}},
      {"job.recompute_layers", "2", {"job.recompute", "full"}},
      {"job.recompute_every", "2", {"job.recompute", "full"}},
      {"job.input_bytes_per_token", "8", {"job.input_rate_mb_per_s", "100"}},
      {"job.input_batches_ahead", "2", {"job.storage_rate_gb_per_s", "1"}},
      {"job.stack_override.graph_launch_share", "0.1", {"job.stack_override.graphs_captured", "true"}},
      {"job.stack_override.retry_stall", "0.1", {"job.stack_override.retry_free_share", "0.1"}},
      {"job.stack_override.host_copies", "2", {"job.offload", "ffn up"}},
      {"job.stack_override.recompute_stops_early", "false", {"job.recompute", "full"}},
      {"job.stack_override.cast_bytes", "2", {"job.precision", "fp8"}},
      {"job.model_override.rms_norm", "true", {"job.model_override.biases", "true"}},
      {"job.model_override.full_every", "2", {"job.model_override.attention_window", "1024"}},
  };
  std::string text = valid_scenario();
  const std::vector<Override> bare = {{"job.stack_override.retry_free_share", "0"},
                                      {"job.stack_override.graphs_captured", "false"}};
  for (const Case& each : cases) {
    std::vector<Override> overrides = bare;
    overrides.push_back({each.field, each.value});
    EXPECT_TRUE(is_idle(text, overrides, each.field)) << each.field;
    overrides.push_back(each.needed);
    EXPECT_FALSE(is_idle(text, overrides, each.field)) << each.field << " beside " << each.needed.path;
  }
}

// Backward reads ffn up and the context, and of projections only what is computed again.
TEST(IdleFields, names_of_an_offload_that_no_layer_keeps_are_told) {
  const auto idle = [](const std::string& name, const std::string& policy = "") {
    return is_idle(replaced(valid_scenario(), "sequence_tokens", policy + " sequence_tokens"),
                   {{"job.offload", name}}, "job.offload[0]");
  };
  for (const char* kept : {"ffn up", "mlpwi", "context", "decoder_layer_input", "layer input", "mlp"})
    EXPECT_FALSE(idle(kept)) << kept;
  for (const char* read : {"attention out", "ffn down"}) EXPECT_FALSE(idle(read, "recompute: full")) << read;
  for (const char* unread : {"attention out", "ffn down", "scores"}) EXPECT_TRUE(idle(unread)) << unread;
  EXPECT_FALSE(idle("ffn up", "recompute: full recompute_layers: 1"));
  EXPECT_TRUE(idle("ffn up", "recompute: full recompute_every: 1000"));
}

TEST(IdleFields, of_a_network_need_one) {
  const std::string server = replaced(replaced(valid_scenario(), "chips: 512", "chips: 8"),
                                      "\"fsdp\" size: 128", "\"fsdp\" size: 2");
  for (const std::string field :
       {"cluster.routing", "cluster.fabric_override.gpu_cluster.nic", "job.stack_override.network_share",
        "job.stack_override.skew_per_doubling"}) {
    const bool block = field.ends_with("nic");
    const Override set{block ? field + ".latency_us" : field, field == "cluster.routing" ? "static" : "0.5"};
    EXPECT_TRUE(is_idle(server, {set}, field)) << field;
    EXPECT_FALSE(is_idle(valid_scenario(), {set}, field)) << field;
  }
}

// Of 512 GPUs in domains of 8: a leaf for each rail and 32 domains, and the spine above them.
TEST(IdleFields, oversubscription_of_switches_without_uplinks_is_told) {
  const auto told = [](const std::string& cluster) {
    return warnings_of(replaced(valid_scenario(), "chips: 512", "chips: 512 " + cluster));
  };
  EXPECT_EQ(told("oversubscription: 8"), Lines{});
  EXPECT_EQ(
      told(
          "oversubscription: 8 fabric_override { gpu_cluster { rail_optimised: false tier { down: 512 } } }"),
      Lines{
          "4:14 cluster.oversubscription has no effect: it is of uplinks, and the one switch of this cluster "
          "of 512 GPUs has none"});
  const std::string tiers = "tier { down: 32 oversubscription: 2 } tier { down: 32 oversubscription: 8 } ";
  EXPECT_EQ(told("fabric_override { gpu_cluster { " + tiers + "tier { down: 32 } } }").size(), 1u);
  const Lines lines =
      told("fabric_override { gpu_cluster { " + tiers + "tier { down: 32 oversubscription: 4 } } }");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find(
                "tier[1].oversubscription has no effect: switches of the last tier of this cluster of 512 "
                "GPUs have no uplinks"),
            std::string::npos)
      << lines[0];
  EXPECT_NE(lines[1].find(
                "tier[2].oversubscription has no effect: switches of this tier are not needed to join the "
                "512 GPUs"),
            std::string::npos)
      << lines[1];
}

TEST(IdleFields, that_the_cluster_overrides_are_told) {
  const std::vector<Override> both = {{"cluster.usd_per_chip_hour", "2"},
                                      {"cluster.price_term", "spot"},
                                      {"cluster.routing", "ecmp"},
                                      {"cluster.fabric_override.routing", "static"}};
  EXPECT_EQ(idle_in(load(valid_scenario(), both)),
            (Lines{"cluster.price_term", "cluster.fabric_override.routing"}));
}

TEST(IdleFields, of_experts_count_by_where_the_experts_lie) {
  const auto idle = [](const std::string& field, const std::string& value,
                       const std::vector<Override>& beside = {}) {
    std::vector<Override> overrides = {{field, value}};
    overrides.insert(overrides.end(), beside.begin(), beside.end());
    const Lines fields = idle_in(load_scenario_file(
        PODSIM_SOURCE_DIR "/scenarios/mixtral_8x7b_64_h100.textproto", built_in(), overrides));
    return std::count(fields.begin(), fields.end(), field) > 0;
  };
  const std::string gemm_factor = "job.stack_override.experts.gemm_factor";
  EXPECT_TRUE(idle(gemm_factor, "0.5")) << "each GPU has one expert";
  EXPECT_FALSE(idle(gemm_factor, "0.5", {{"job.model_override.experts.experts", "16"}}));
  EXPECT_FALSE(idle(gemm_factor, "0.5", {{"job.stack_override.experts.tile_rows", "128"}}));
  EXPECT_FALSE(idle("job.stack_override.experts.tile_rows", "128")) << "one expert's matmul is a grouped one";
  EXPECT_TRUE(idle("job.stack_override.experts.tile_rows", "128", {{gemm_factor, "1"}}));
}

// A model of one's own has to state it.
TEST(IdleFields, width_of_dense_blocks_is_told_beside_a_model_that_has_none) {
  const std::string ffn = "job.model_override.ffn";
  const auto idle = [](const std::string& model) {
    return idle_in(load(valid_but("  model: \"llama3_70b\"\n", model)));
  };
  EXPECT_EQ(idle("  model: \"mixtral_8x7b\"\n  model_override { ffn: 4096 }\n"), Lines{ffn});
  EXPECT_EQ(idle("  model_override { name: \"own\" layers: 8 d_model: 4096 heads: 32 kv_heads: 8 ffn: 4096 "
                 "vocabulary: 32000 experts { experts: 8 experts_per_token: 2 expert_ffn: 4096 } }\n"),
            Lines{});
}

TEST(IdleFields, of_sends_in_shares_need_copies_of_an_activation) {
  const auto idle = [](const std::string& sharding) {
    const Lines fields = idle_in(load_scenario_file(
        PODSIM_SOURCE_DIR "/scenarios/llama3_70b_512_h100.textproto", built_in(),
        {{"job.stack_override.scatter_gather_sends", "true"}, {"job.sharding", sharding}}));
    return std::count(fields.begin(), fields.end(), "job.stack_override.scatter_gather_sends");
  };
  EXPECT_EQ(idle("data,megatron_sp"), 1);
  EXPECT_EQ(idle("data,megatron"), 0);
}

TEST(IdleFields, tokens_of_samples_that_have_none_are_told) {
  const std::string text = replaced(mlp_scenario(), "sequence_tokens: 1", "sequence_tokens: 1000");
  EXPECT_EQ(idle_in(load(text)), Lines{"job.sequence_tokens"});
  EXPECT_EQ(idle_in(load(replaced(text, "data { name: \"x\" dims: \"batch embed\"",
                                  "data { name: \"x\" dims: \"batch sequence embed\""))),
            Lines{});
}

TEST(IdleRules, of_dimensions_that_the_model_lacks_are_told) {
  const auto with = [](const std::string& rule) {
    return idle_in(
        load(valid_but("  sharding: \"fsdp\"\n", "  sharding: \"fsdp\"\n  rule { " + rule + " }\n")));
  };
  EXPECT_EQ(with("dimension: \"experts\" axis: \"fsdp\""), Lines{"job.rule[0]"});
  EXPECT_EQ(with("dimension: \"state_param_expert_ffn\" axis: \"fsdp\""), Lines{"job.rule[0]"});
  for (const char* dimension :
       {"embed", "key_sequence", "attention_sequence", "attention_heads", "state_param_ffn"})
    EXPECT_EQ(with("dimension: \"" + std::string(dimension) + "\""), Lines{}) << dimension;
}

TEST(IdleRules, that_a_preset_adds_to_another_are_told_where_the_program_has_no_such_dimensions) {
  const auto with = [](const std::string& presets) {
    const LoadResult result =
        load_scenario_file(PODSIM_SOURCE_DIR "/scenarios/custom_layer_64_h100.textproto", built_in(),
                           {{"job.mesh.fsdp.size", "4"},
                            {"job.mesh[1].name", "context"},
                            {"job.mesh[2].name", "tensor"},
                            {"job.mesh[2].size", "4"},
                            {"job.sharding", presets}});
    Lines idle;
    for (const Problem& warning : result.warnings) idle.push_back(warning.message);
    return idle;
  };
  EXPECT_EQ(with("fsdp,megatron_sp,context"), Lines{});
  EXPECT_EQ(
      with("fsdp,megatron_sp,ring_context"),
      Lines{"ring_context has no effect beyond that of context: no tensor of the program has a dimension "
            "\"key_sequence\""});
  EXPECT_EQ(with("fsdp,megatron_sp,ulysses"),
            Lines{"ulysses has no effect beyond that of context: no tensor of the program has a dimension "
                  "\"attention_sequence\""});
}

TEST(IdleRules, of_presets_are_told_where_the_program_has_none_of_their_dimensions) {
  std::string text = replaced(mlp_scenario(), "axis: \"data\"", "axis: \"tensor\"");
  text = replaced(text, "mesh { name: \"data\" size: 8 }",
                  "mesh { name: \"tensor\" size: 8 } sharding: \"vocabulary\"");
  EXPECT_EQ(
      warnings_of(text),
      Lines{"4:35 vocabulary has no effect: no tensor of the program has a dimension \"param_vocabulary\""});
  text = replaced(replaced(text, "vocabulary", "megatron_sp"), " axis: \"tensor\"", "");
  EXPECT_EQ(warnings_of(text), Lines{}) << "matmuls are cut, though there are no tokens between blocks";
}

TEST(IdleRules, of_presets_that_cut_the_batch_alone_are_told) {
  const auto with = [](const std::string& model, const std::string& preset) {
    const std::string axis = preset == "hsdp" ? "fsdp" : preset;
    Lines messages;
    for (const Problem& warning :
         load("cluster { chip: \"h100\" fabric: \"dgx_h100\" chips: 8 }\njob { model: \"" + model +
              "\" stack: \"torchtitan\" mesh { name: \"" + axis + "\" size: 8 } sharding: \"" + preset +
              "\" global_batch_sequences: 64 sequence_tokens: " + (model == "resnet50" ? "1" : "1024") + " }")
             .warnings)
      messages.push_back(warning.message);
    return messages;
  };
  for (const std::string preset : {"fsdp", "hsdp"})
    EXPECT_EQ(
        with("resnet50", preset),
        Lines{preset + " cuts the batch alone: no tensor of the program has a dimension \"param_embed\""});
  EXPECT_EQ(with("llama3_8b", "expert"),
            Lines{"expert cuts the batch alone: no tensor of llama3_8b has a dimension \"experts\""});
  EXPECT_EQ(with("llama3_8b", "fsdp"), Lines{});
  EXPECT_EQ(with("qwen3_30b_a3b", "expert"), Lines{});
  EXPECT_EQ(with("resnet50", "data"), Lines{});
}

TEST(IdleFields, recipes_that_no_matmul_uses_are_told) {
  const std::string text =
      valid_but("  sharding: \"fsdp\"\n",
                "  sharding: \"fsdp\"\n  stack_override { precision { name: mxfp8 dtype: fp8 } }\n");
  EXPECT_EQ(idle_in(load(text)), (Lines{"job.stack_override.precision[0]"}));
}

TEST(IdleFields, of_operations_are_told_beside_measured_layers) {
  const std::string text = R"(cluster { chip: "h100" chips: 16 fabric: "dgx_h100" }
job {
  measured_layers { layer { name: "a" forward_us: 100 output_bytes: 1000 } }
  stack_override { gemm_factor: 0.5 interference: 0.1 precision { name: mxfp8 dtype: fp8 } }
  mesh { name: "data" size: 16 }
  sharding: "data"
  global_batch_sequences: 16
  sequence_tokens: 1024
}
)";
  EXPECT_EQ(idle_in(load(text)), (Lines{"job.stack_override.gemm_factor", "job.stack_override.precision",
                                        "job.measured_layers.layer[0].output_bytes"}));
}

TEST(IdleFields, of_other_kinds_of_operations_are_told) {
  const std::string text = replaced(mlp_scenario(), "kind: elementwise input: \"h\"",
                                    "kind: elementwise causal: false input: \"h\"");
  EXPECT_EQ(idle_in(load(text)), (Lines{"job.program.part[0].operation[1].causal"}));
}

TEST(IdleFields, of_several_jobs_are_told_job_by_job) {
  const std::string job =
      R"(model: "llama3_8b" stack: "torchtitan" mesh { name: "data" size: 8 } sharding: "zero3"
         global_batch_sequences: 8 sequence_tokens: 1024)";
  const std::string text =
      "cluster { chip: \"h100\" chips: 32 fabric: \"dgx_h100\" }\n"
      "jobs { name: \"a\" first_chip: 0 chips: 8 job { " +
      job +
      " } }\n"
      "jobs { name: \"b\" first_chip: 8 chips: 8 job { " +
      job +
      " input_batches_ahead: 2 } }\n"
      "adversity { slow_chip { chip: 20 speed_fraction: 0.5 } slow_chip { chip: 9 speed_fraction: 0.5 }\n"
      "  slow_link { chip: 9 kind: \"nic\" speed_fraction: 0.5 }\n"
      "  slow_link { chip: 20 kind: \"nic\" speed_fraction: 0.5 }\n"
      "  slow { which { kind: \"host\" index: 2 index: 3 } speed_fraction: 0.5 }\n"
      "  slow { which { kind: \"host\" index: 1 index: 3 } speed_fraction: 0.5 compose: multiply }\n"
      "  background { which { kind: \"nic\" indices { first: 16 last: 31 } } taken_fraction: 0.5 }\n"
      "  nic_flap { which { kind: \"nic\" index: 9 } at_s: 1 down_s: 1 library_timeout_s: 9 } }\n";
  EXPECT_EQ(idle_in(load(text)),
            (Lines{"jobs[1].job.input_batches_ahead", "adversity.slow_chip[0]", "adversity.slow_link[1]",
                   "adversity.slow[0]", "adversity.background[0]"}));
}

TEST(IdleAdversities, that_hit_nothing_are_told) {
  const auto idle = [](const std::string& adversity) {
    return idle_in(load(valid_scenario() + "adversity { " + adversity + " }\n"));
  };
  EXPECT_EQ(idle("slow { which { kind: \"chip\" index: 3 data_rank: 100 } speed_fraction: 0.5 }"),
            Lines{"adversity.slow[0]"});
  EXPECT_EQ(idle("slow { which { kind: \"host\" random_fraction: 0 } speed_fraction: 0.5 }"),
            Lines{"adversity.slow[0]"});
  EXPECT_EQ(idle("slow { which { kind: \"host\" index: 3 } speed_fraction: 0.5 }"), Lines{});
  EXPECT_EQ(idle("slow_chip { chip: 3 speed_fraction: 1 }"), Lines{"adversity.slow_chip[0].speed_fraction"});
  EXPECT_EQ(idle("slow_link { chip: 3 kind: \"nic\" speed_fraction: 1 }"),
            Lines{"adversity.slow_link[0].speed_fraction"});
  EXPECT_EQ(idle("background { which { kind: \"nic\" index: 3 } taken_fraction: 0 }"),
            Lines{"adversity.background[0].taken_fraction"});
  EXPECT_EQ(idle("input_stall { probability: 0 mean_ms: 10 }"), Lines{"adversity.input_stall.probability"});
}

TEST(IdleAdversities, late_launches_need_gradients_that_are_reduced_and_further_steps) {
  const auto idle = [](const std::string& collective, const std::string& late,
                       const std::string& steps = "") {
    return idle_in(
        load("cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" } job { measured_layers { layer { name: "
             "\"l\" forward_us: 9 " +
             collective +
             " } } mesh { name: \"data\" size: 4 } mesh { name: \"one\" size: 1 } mesh { name: \"tensor\" "
             "size: 2 } sharding: \"data\" global_batch_sequences: 4 sequence_tokens: 1 } adversity { "
             "late_launch { chip: 1 " +
             late + " } } " + steps));
  };
  const std::string reduced = "weight_gradient_collective { kind: all_reduce bytes: 1e6 }";
  EXPECT_EQ(idle("", "late_ms: 5"), Lines{"adversity.late_launch[0]"});
  EXPECT_EQ(idle("forward_collective { kind: all_reduce bytes: 1e6 }", "late_ms: 5"),
            Lines{"adversity.late_launch[0]"});
  EXPECT_EQ(idle("weight_gradient_collective { kind: all_reduce axis: \"one\" bytes: 1e6 }", "late_ms: 5"),
            Lines{"adversity.late_launch[0]"});
  EXPECT_EQ(idle(reduced, "late_ms: 5"), Lines{});
  for (const char* late : {"more_each_step_ms: 5", "late_ms: 5 more_each_step_ms: 5"}) {
    EXPECT_EQ(idle(reduced, late), Lines{"adversity.late_launch[0].more_each_step_ms"});
    EXPECT_EQ(idle(reduced, late, "steps: 2"), Lines{});
  }
}

TEST(IdleAdversities, domains_and_draws_need_something_drawn) {
  const std::string begin = "adversity { slow { which { kind: \"host\" index: 3 together: \"all\" ",
                    end = "} speed_fraction: 0.5 draw: 2 } }\n";
  EXPECT_EQ(idle_in(load(valid_scenario() + begin + end)),
            (Lines{"adversity.slow[0].which.together", "adversity.slow[0].draw"}));
  EXPECT_EQ(idle_in(load(valid_scenario() + begin + "random_fraction: 0.999 " + end)), Lines{});
}

TEST(RoceFabrics, have_a_path_per_flow_and_collide) {
  for (const char* name : {"dgx_h100_roce", "nvl72_gb200_roce"}) {
    const auto [spec, problems] = chosen_fabric(built_in(), {name, 144, {}, 1, false});
    ASSERT_TRUE(spec) << name;
    EXPECT_EQ(spec->routing, Routing::kEcmp) << name;
    EXPECT_EQ(spec->transport, built_in().transport("rocev2")) << name;
  }
}

TEST(RoceFabrics, of_many_gpus_tell_that_routes_take_long_to_plan) {
  const std::string text = replaced(valid_scenario(), "dgx_h100", "dgx_h100_roce");
  EXPECT_EQ(warnings_of(text), Lines{});
  const Lines many = warnings_of(text, {{"cluster.chips", "2048"}, {"job.mesh.fsdp.size", "512"}});
  ASSERT_EQ(many.size(), 1u);
  EXPECT_EQ(many[0], "5:3 the routes of 2,048 GPUs are planned one by one, which takes minutes");
  EXPECT_EQ(
      warnings_of(
          text, {{"cluster.chips", "2048"}, {"job.mesh.fsdp.size", "512"}, {"cluster.routing", "adaptive"}}),
      Lines{});
}

}  // namespace
}  // namespace podsim::idle_fields_test
