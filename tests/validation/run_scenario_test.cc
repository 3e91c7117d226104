// Rows of tables of runs become scenarios: cluster, model, mesh, sharding and pipeline as the columns say.
#include "validation/run_scenario.h"

#include <gtest/gtest.h>

#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "scheduler/question/spec.h"
#include "tests/validation/example_run.h"
#include "validation/mesh_text.h"
#include "validation/validate_runs.h"

namespace podsim::run_scenario_test {
namespace {

bool has(const RunScenario& run, const std::string& text) { return run.text.find(text) != std::string::npos; }

TEST(RunScenario, degrees_become_a_mesh_with_tensor_innermost) {
  const RunScenario run = scenario({});
  const Spec spec = spec_of(run);
  EXPECT_EQ(mesh_of(spec), (Axes{{"pipeline", 8}, {"data", 2}, {"tensor", 4}}));
  EXPECT_EQ(spec.job.schedule, PipelineSchedule::kInterleaved);
  EXPECT_EQ(spec.job.chunks_per_stage, 5);
  EXPECT_EQ(spec.job.global_batch, 128);
  EXPECT_EQ(spec.job.microbatch, 1);
  EXPECT_EQ(spec.job.sequence, 8192);
  EXPECT_TRUE(has(run, "sharding: \"megatron_sp\"") && has(run, "sharding: \"zero1\""));
  EXPECT_EQ(run.parallelism, "TP+PP");
  EXPECT_TRUE(run.ready);
  EXPECT_TRUE(run.assumptions.empty());
}

TEST(RunScenario, runs_of_one_chip_and_model_or_shape_are_a_group_where_the_table_has_none) {
  EXPECT_EQ(scenario({}).group, "h100 llama");
  EXPECT_EQ(scenario({{"model", ""}}).group, "h100 80x8192x64");
  EXPECT_EQ(scenario({{"group", "mine"}}).group, "mine");
}

TEST(RunScenario, a_shape_of_the_catalogue_is_found_and_another_is_written_out) {
  EXPECT_EQ(scenario({}).model, "llama3_70b");
  const RunScenario other = scenario({{"layers", "72"}});
  EXPECT_EQ(other.model, "llama");
  EXPECT_EQ(spec_of(other).job.model.layers, 72);
  EXPECT_TRUE(spec_of(other).job.model.gated_ffn);
}

TEST(RunScenario, matrices_and_ties_that_the_table_leaves_open_come_from_the_number_of_weights) {
  const Cells gpt = {{"layers", "24"},    {"hidden", "2048"},         {"heads", "16"},
                     {"kv_heads", "16"},  {"ffn_hidden", "8192"},     {"ffn_matrices", ""},
                     {"vocab", "131072"}, {"params_total_b", "1.48"}, {"vp", "1"}};
  const Model tied = spec_of(scenario(gpt)).job.model;
  EXPECT_FALSE(tied.gated_ffn);
  EXPECT_TRUE(tied.tied_embedding);  // 1.21 + 0.27
  Cells more = gpt;
  more["params_total_b"] = "1.75";
  EXPECT_FALSE(spec_of(scenario(more)).job.model.tied_embedding);  // 1.21 + 2 x 0.27
  more["params_total_b"] = "2.15";
  EXPECT_TRUE(spec_of(scenario(more)).job.model.gated_ffn);  // 1.61 + 2 x 0.27
}

TEST(RunScenario, a_vocabulary_that_tensor_does_not_divide_is_padded) {
  const RunScenario run = scenario({{"vocab", "50257"}});
  EXPECT_EQ(spec_of(run).job.model.vocabulary, 50688);  // 99 x 128 x 4
  EXPECT_EQ(run.assumptions.back(), "vocabulary padded to a multiple of 128 x tensor");
}

TEST(RunScenario, how_state_is_shared_chooses_axis_and_preset) {
  const Cells flat = {{"tp", "1"}, {"sp", "0"}, {"pp", "1"}, {"vp", "1"}, {"dp", "64"}, {"micro_batch", "2"}};
  const auto with = [&](const std::string& words) {
    Cells cells = flat;
    cells["dp_sharding"] = words;
    return scenario(cells);
  };
  EXPECT_EQ(mesh_of(spec_of(with("zero3"))), (Axes{{"fsdp", 64}}));
  EXPECT_EQ(mesh_of(spec_of(with("hsdp"))), (Axes{{"data", 8}, {"fsdp", 8}}));
  EXPECT_EQ(mesh_of(spec_of(with("ddp"))), (Axes{{"data", 64}}));
  EXPECT_TRUE(has(with("zero2"), "sharding: \"zero2\""));
  EXPECT_FALSE(has(with("ddp"), "zero"));
  EXPECT_EQ(with("mics").skipped, "data parallelism \"mics\" is not simulated");
}

TEST(RunScenario, context_ranks_share_the_state_of_the_optimizer_with_the_data_ranks) {
  const RunScenario run = scenario({{"cp", "2"}, {"dp", "1"}});
  EXPECT_EQ(mesh_of(spec_of(run)), (Axes{{"pipeline", 8}, {"context", 2}, {"tensor", 4}}));
  EXPECT_TRUE(has(run, "rule { dimension: \"state_param_embed\" axis: \"context\" }"));
}

TEST(RunScenario, experts_take_their_axis_from_the_data_ranks) {
  const RunScenario run = scenario({{"layers", "32"},
                                    {"hidden", "4096"},
                                    {"heads", "32"},
                                    {"ffn_hidden", "14336"},
                                    {"vocab", "32000"},
                                    {"n_experts", "8"},
                                    {"topk", "2"},
                                    {"ep", "4"},
                                    {"tp", "1"},
                                    {"sp", "0"},
                                    {"pp", "1"},
                                    {"vp", "1"},
                                    {"dp", "64"}});
  EXPECT_EQ(run.model, "mixtral_8x7b");
  EXPECT_EQ(mesh_of(spec_of(run)), (Axes{{"data", 16}, {"expert", 4}}));
  EXPECT_EQ(scenario({{"ep", "3"}}).skipped, "ep 3 does not divide dp 2");
}

TEST(RunScenario, degrees_are_at_least_one) {
  for (const char* column : {"tp", "cp", "pp", "dp", "ep", "etp", "gpus_per_node"})
    EXPECT_EQ(scenario({{column, "0"}}).skipped, std::string(column) + " is below 1");
}

std::vector<std::string> contradictions_of(const Cells& changes) {
  std::vector<std::string> told;
  for (const Problem& each : predict_run(scenario(changes), catalog()).contradictions())
    told.push_back(each.message);
  return told;
}

TEST(RunScenario, columns_that_contradict_what_is_simulated_are_told) {
  using Told = std::vector<std::string>;
  EXPECT_EQ(contradictions_of({{"gpus_per_node", "8"}, {"params_total_b", "70"}}), Told{});
  EXPECT_EQ(contradictions_of({{"gpus_per_node", "4"}}),
            Told{"r: gpus_per_node is 4, and a server of dgx_h100 has 8 GPUs"});
  EXPECT_EQ(contradictions_of({{"params_total_b", "7"}}),
            Told{"r: params_total_b is 7.00 billion, and llama3_70b as it is simulated has 70.6"});
  EXPECT_EQ(contradictions_of({{"catalog_model", "llama3_70b"}, {"layers", "60"}}),
            Told{"r: layers is 60, and llama3_70b has 80"});
}

TEST(RunScenario, contradictions_stand_at_their_cells) {
  const RunTable table =
      read_run_table("mine.csv",
                     "id,chip,chips,layers,hidden,heads,vocab,seq_len,global_batch_seqs,"
                     "tp,sp,pp,vp,dp,dp_sharding,recompute,precision,stack,gpus_per_node\n"
                     "a,H100-SXM,8,4,1024,8,32000,1024,8,1,0,1,1,8,ddp,none,bf16,nemo_2024,2\n");
  const RunScenario run = run_scenario(table.rows.at(0), builtin_run_rules(), catalog());
  ASSERT_EQ(run.contradictions.size(), 1u) << run.skipped;
  EXPECT_EQ(run.contradictions[0].file, "mine.csv");
  EXPECT_EQ(run.contradictions[0].line, 2);
  EXPECT_EQ(run.contradictions[0].column, 70);
}

// What a ranking of layouts needs to be equal.
TEST(RunScenario, fields_of_a_row_tell_what_it_changes_beside_the_layout) {
  const std::string plain = scenario({}).fields;
  EXPECT_EQ(scenario({{"nic_gbps_per_gpu", ""}}).fields, plain) << "the NIC of the fabric";
  EXPECT_EQ(scenario({{"tp", "8"}, {"dp", "1"}, {"micro_batch", "2"}, {"recompute", "full"}}).fields, plain);
  for (const Cells& change :
       {Cells{{"nic_gbps_per_gpu", "200"}}, Cells{{"stack_fields", "gemm_factor: 1.1"}},
        Cells{{"chip_fields", "peak_hbm_gb_per_s: 3000"}}, Cells{{"attention_kernel", "flash1"}}})
    EXPECT_NE(scenario(change).fields, plain) << change.begin()->first;
}

TEST(RunScenario, ranks_of_experts_need_experts) {
  EXPECT_EQ(scenario({{"ep", "2"}}).skipped, "ep is 2, and the row has no experts (n_experts)");
  EXPECT_EQ(scenario({{"ep", "1"}}).skipped, "");
}

TEST(RunScenario, experts_per_token_that_are_not_stated_are_an_assumption) {
  const Cells mixture = {{"pp", "1"},         {"vp", "1"}, {"dp", "16"},          {"arch", "moe"},
                         {"n_experts", "16"}, {"ep", "8"}, {"ffn_hidden", "1024"}};
  const RunScenario run = scenario(mixture);
  EXPECT_EQ(run.assumptions, std::vector<std::string>{"experts per token are not stated, 1 assumed"});
}

TEST(RunScenario, degrees_must_make_the_gpus) {
  EXPECT_EQ(scenario({{"dp", "4"}}).skipped, "the degrees make 128 GPUs, not 64");
}

// Products of columns that no cluster has are refused by what they are held against.
TEST(RunScenario, degrees_whose_product_no_integer_holds_make_no_layout) {
  const RunScenario run =
      scenario({{"tp", "65536"}, {"cp", "65536"}, {"pp", "1"}, {"vp", "1"}, {"dp", ""}, {"vocab", "131072"}});
  EXPECT_EQ(run.skipped, "the degrees make 2147483647 GPUs, not 64");
  EXPECT_EQ(axis_sizes("fsdp=900000000; batch/weight=900000000"), (Axes{{"fsdp", 2147483647}}));
}

// 80 layers on 8 stages: 10 each, in chunks of 2 where the rule says 2 and the microbatches fill the stages.
TEST(RunScenario, an_unstated_interleave_follows_the_layers_per_chunk_of_the_family) {
  EXPECT_EQ(spec_of(scenario({{"vp", ""}, {"chunk_layers", "2"}})).job.chunks_per_stage, 5);
  EXPECT_EQ(spec_of(scenario({{"vp", ""}, {"chunk_layers", "3"}})).job.chunks_per_stage, 10);
  const RunScenario few = scenario({{"vp", ""}, {"chunk_layers", "2"}, {"global_batch_seqs", "24"}});
  EXPECT_EQ(spec_of(few).job.schedule, PipelineSchedule::k1F1B);
  EXPECT_EQ(few.assumptions.back(), "interleaving is not stated, none assumed");
}

TEST(RunScenario, a_slower_nic_and_a_part_of_a_rack_override_the_fabric) {
  const RunScenario slow = scenario({{"nic_gbps_per_gpu", "100"}});
  EXPECT_DOUBLE_EQ(spec_of(slow).cluster.fabric.gpu->nic.bandwidth.value, 12.5e9);
  const RunScenario rack = scenario({{"chip", "GB200"},
                                     {"nvlink_domain_gpus", "72"},
                                     {"gpus_per_node", "4"},
                                     {"chips", "128"},
                                     {"dp", "4"}});
  EXPECT_EQ(spec_of(rack).cluster.fabric.gpu->gpus_per_domain, 64);
  EXPECT_EQ(rack.assumptions.at(0), "64 of the 72 GPUs of an NVLink domain are used");
}

TEST(RunScenario, a_model_that_no_shape_tells_is_named) {
  const RunScenario run = scenario({{"arch", "hybrid"}, {"catalog_model", "nemotron_h_56b"}});
  EXPECT_EQ(run.model, "nemotron_h_56b");
  EXPECT_EQ(run.architecture, "hybrid");
  EXPECT_TRUE(spec_of(run).job.program.has_value());
  EXPECT_EQ(scenario({{"arch", "hybrid"}}).skipped, "layers of several kinds, which the table does not tell");
}

TEST(RunScenario, a_model_of_the_catalogue_stands_for_its_shape) {
  Cells cells = {
      {"model", ""}, {"layers", ""}, {"hidden", ""}, {"heads", ""}, {"catalog_model", "mixtral_8x7b"},
      {"pp", "1"},   {"vp", ""},     {"tp", "8"},    {"dp", "8"}};
  const RunScenario run = scenario(cells);
  EXPECT_TRUE(run.ready);
  EXPECT_EQ(run.skipped, "");
  EXPECT_EQ(run.group, "h100 mixtral_8x7b");
  EXPECT_EQ(run.architecture, "moe");
  cells["catalog_model"] = "";
  EXPECT_FALSE(scenario(cells).ready);
}

TEST(RunScenario, aliases_of_the_catalogue_are_written_as_their_entries) {
  const RunScenario run = scenario({{"catalog_chip", "NVIDIA H100 80GB HBM3"},
                                    {"fabric", "DGX H100"},
                                    {"stack", "NeMo"},
                                    {"catalog_model", "meta-llama/Meta-Llama-3-70B"}});
  EXPECT_EQ(run.chip, "h100");
  EXPECT_EQ(run.fabric, "dgx_h100");
  EXPECT_EQ(run.stack, "nemo_2024");
  EXPECT_EQ(run.model, "llama3_70b");
  EXPECT_EQ(run.text, scenario({{"catalog_model", "llama3_70b"}}).text);
}

TEST(RunScenario, what_no_rule_knows_is_told) {
  EXPECT_EQ(scenario({{"recompute", "sometimes"}}).skipped, "recompute \"sometimes\" is not known");
  EXPECT_EQ(scenario({{"precision", "fp12"}}).skipped, "precision \"fp12\" is not known");
  EXPECT_EQ(scenario({{"vocab", ""}}).skipped, "no vocab");
  EXPECT_EQ(scenario({{"seq_len", ""}}).skipped, "no sequence length");
  EXPECT_EQ(scenario({{"not_simulated", "half of it is missing"}}).skipped, "half of it is missing");
  EXPECT_EQ(scenario({{"quantity_kind", "ratio"}}).skipped,
            "states a ratio of two networks or machines, no step");
}

TEST(RunScenario, an_evaluation_within_the_measured_time_is_simulated) {
  EXPECT_FALSE(has(scenario({}), "evaluation"));
  const Spec spec = spec_of(scenario({{"evaluation", "sequences: 1024 every_steps: 8"}}));
  EXPECT_EQ(spec.job.evaluation_passes(), 1) << "8 batches of 128 sequences";
}

TEST(RunScenario, a_measured_time_may_be_a_rate) {
  EXPECT_EQ(scenario({}).measured_s, 10);
  // 128 x 8192 tokens on 64 GPUs of 1,024 tokens/s each.
  EXPECT_EQ(scenario({{"step_time_s", ""}, {"tok_s_gpu", "1024"}}).measured_s, 16);
  EXPECT_FALSE(scenario({{"step_time_s", ""}}).ready);
}

RunScenario torus(const Cells& changes) {
  Cells cells = {{"chip", "v5p"},
                 {"chips", "512"},
                 {"slices", "1"},
                 {"slice_topology", "v5p-1024 = 8x8x8"},
                 {"sharding_ici", "data=1; fsdp=64; tensor=8"},
                 {"recompute", "full"},
                 {"nic_gbps_per_gpu", ""},
                 {"tp", ""},
                 {"pp", ""},
                 {"dp", ""},
                 {"vp", ""},
                 {"sp", ""},
                 {"dp_sharding", ""},
                 {"micro_batch", ""},
                 {"global_batch_seqs", "1024"},
                 {"stack", ""}};
  for (const auto& [column, text] : changes) cells[column] = text;
  return scenario(cells);
}

TEST(RunScenario, mesh_axes_of_a_torus_have_whole_dimensions) {
  const Spec spec = spec_of(torus({}));
  EXPECT_EQ(mesh_of(spec), (Axes{{"fsdp", 64}, {"tensor", 8}}));
  ASSERT_EQ(spec.placement.size(), 2u);
  EXPECT_EQ(spec.placement[0].dimensions, (std::vector<int>{0, 1}));
  EXPECT_EQ(spec.placement[1].dimensions, std::vector<int>{2});
}

TEST(RunScenario, slices_are_the_outermost_axis) {
  const Spec spec = spec_of(torus({{"chips", "1024"}, {"slices", "2"}, {"sharding_dcn", "data=2"}}));
  EXPECT_EQ(mesh_of(spec), (Axes{{"data", 2}, {"fsdp", 64}, {"tensor", 8}}));
  EXPECT_EQ(spec.cluster.fabric.slices, 2);
}

TEST(RunScenario, devices_that_share_a_chip_halve_the_fsdp_axis) {
  const RunScenario run = torus({{"chip", "v7"}, {"sharding_ici", "fsdp=1024"}, {"slice_topology", "8x8x8"}});
  EXPECT_EQ(mesh_of(spec_of(run)), (Axes{{"fsdp", 512}}));
  EXPECT_EQ(torus({{"sharding_ici", "fsdp=96"}}).skipped, "the mesh has 96 devices, the run 512 chips");
}

TEST(MeshText, axis_sizes_are_read_off_several_spellings) {
  EXPECT_EQ(axis_sizes("data=1; fsdp=64; tensor=8 (batch 1 per chip)"),
            (Axes{{"data", 1}, {"fsdp", 64}, {"tensor", 8}}));
  EXPECT_EQ(axis_sizes("fsdp=16; fsdp_transpose=8"), (Axes{{"fsdp", 128}}));
  EXPECT_EQ(axis_sizes("model=12; fsdp(data)=256"), (Axes{{"tensor", 12}, {"fsdp", 256}}));
  EXPECT_EQ(axis_sizes("mesh [1,16,16] (data,fsdp,tensor) as configured"),
            (Axes{{"data", 1}, {"fsdp", 16}, {"tensor", 16}}));
  EXPECT_EQ(axis_sizes("2D mesh [256,8] (batch/weight x hidden/heads)"),
            (Axes{{"fsdp", 256}, {"tensor", 8}}));
  EXPECT_EQ(axis_sizes("not printed"), Axes{});
}

TEST(MeshText, torus_shapes_are_found_in_text) {
  EXPECT_EQ(torus_shape("v4-384 = 192 chips (4x4x12 from memory)"), (std::vector<int>{4, 4, 12}));
  EXPECT_EQ(torus_shape("16x16"), (std::vector<int>{16, 16}));
  EXPECT_EQ(torus_shape("2 pods x 3072 chips"), std::vector<int>{});
}

TEST(PredictRun, a_scenario_that_does_not_load_is_told_and_not_thrown) {
  RunScenario run = scenario({{"global_batch_seqs", "127"}});
  const PredictedRun row = predict_run(run, catalog());
  EXPECT_NE(row.failure, "");
  EXPECT_FALSE(row.error());
}

TEST(RunSummary, errors_are_grouped_in_the_order_of_the_rows) {
  std::vector<PredictedRun> runs(3);
  const char* families[] = {"b", "a", "b"};
  const double predicted[] = {1.1, 0.8, 1.3};
  for (int i = 0; i < 3; ++i) {
    runs[i].run.family = families[i];
    runs[i].run.chips = 100;
    runs[i].run.measured_s = 1;
    runs[i].report.step_time = Time::seconds(predicted[i]);
  }
  const RunSummary summary = summarize(runs);
  EXPECT_EQ(summary.all.rows, 3);
  EXPECT_NEAR(summary.all.mean, 0.2, 1e-12);
  EXPECT_NEAR(summary.family_mean, 0.2, 1e-12);
  const auto& families_found = summary.grouped.at(0).groups;
  ASSERT_EQ(families_found.size(), 2u);
  EXPECT_EQ(families_found[0].first, "b");
  EXPECT_NEAR(families_found[0].second.max, 0.3, 1e-12);
  EXPECT_EQ(summary.grouped.at(3).groups.at(0).first, "65 to 256");
}

TEST(RunSummary, scales_are_told_from_few_chips_to_many) {
  std::vector<PredictedRun> runs(4);
  const int chips[] = {2048, 8, 1024, 9};
  for (int i = 0; i < 4; ++i) runs[i].run.chips = chips[i], runs[i].run.measured_s = 1;
  const RunSummary summary = summarize(runs);
  std::vector<std::string> names;
  for (const auto& [name, errors] : summary.grouped.at(3).groups) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"up to 8", "9 to 64", "257 to 1,024", "above 1,024"}));
}

TEST(RunSummary, coverage_is_the_share_of_measured_times_inside_of_the_runs_with_a_band) {
  std::vector<PredictedRun> runs(4);
  for (PredictedRun& run : runs) {
    run.run.measured_s = 1;
    run.report.band = StepTimeBand{Time::seconds(0.9), Time::seconds(1.1), "same chip", 20};
  }
  runs[1].run.measured_s = 1.2;
  runs[2].report.band.reset();
  runs[3].run.measured_s.reset();
  EXPECT_EQ(runs[0].inside_band(), true);
  EXPECT_EQ(runs[1].inside_band(), false);
  EXPECT_EQ(runs[2].inside_band(), std::nullopt);
  EXPECT_EQ(runs[3].inside_band(), std::nullopt);
  const RunSummary summary = summarize(runs);
  EXPECT_EQ(summary.all.banded, 2);
  EXPECT_EQ(summary.all.inside, 1);
  EXPECT_EQ(summary.all.coverage(), 0.5);
}

TEST(PredictRuns, are_in_the_order_of_the_runs_whatever_the_threads) {
  const std::vector<RunScenario> runs = {scenario({{"id", "a"}}),
                                         scenario({{"id", "b"}, {"seq_len", "4096"}})};
  const auto one = predict_runs(runs, catalog(), 1), three = predict_runs(runs, catalog(), 3);
  ASSERT_EQ(three.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(three[i].run.id, runs[i].id);
    EXPECT_EQ(three[i].report.step_time, one[i].report.step_time);
  }
}

}  // namespace
}  // namespace podsim::run_scenario_test
