// Configurations of launchers: what follows from a few lines, and what contradicts itself.
#include "ingest/launchers/launchers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingest/file_kind.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::launchers_test {
namespace {

using nlohmann::json;
using Read = decltype(&import_megatron);

using testing::chips;

struct Answer {
  json figures;
  std::vector<std::string> problems;
  Imported imported;
};

Answer answer_of(Read read, const std::string& text, const Stated& stated = {}) {
  testing::LauncherAnswer answer = testing::answer_of(read, text, stated);
  return {json::parse(answer.figures), answer.problems, std::move(answer.imported)};
}

const char* const kCommand =
    "torchrun --nproc_per_node $GPUS --nnodes ${NODES} pretrain_gpt.py $ARGS --num-layers 8 --hidden-size "
    "1024 "
    "--num-attention-heads 8 --seq-length 2048 --micro-batch-size 2 --global-batch-size 64 ";

TEST(Megatron, expands_what_a_script_sets_and_asks_for_what_it_does_not) {
  const std::string script =
      "ARGS=\"--bf16 --tensor-model-parallel-size ${TP:-2}\"\nGPUS=8\nNODES=$((1 + 1))\n";
  const Answer answer = answer_of(import_megatron, script + kCommand);
  EXPECT_EQ(answer.figures["chips"], 16);
  EXPECT_EQ(answer.figures["precision"], "bf16");
  EXPECT_EQ(answer.figures["batch"]["microbatches"], 4);
  EXPECT_EQ(answer.figures["needs"], json({"vocabulary: from the tokenizer"}));
  const Answer open =
      answer_of(import_megatron, std::string(kCommand) + "--pipeline-model-parallel-size $PP");
  EXPECT_EQ(open.figures["chips"], nullptr);
  EXPECT_EQ(open.figures["needs"].back(), "pipeline-model-parallel-size: $PP");
}

TEST(Megatron, knows_older_names_and_what_is_default_beside_a_flag) {
  const std::string model =
      "pretrain_gpt.py --encoder-num-layers 8 --hidden-size 1024 --num-attention-heads 8 "
      "--encoder-seq-length 512 --micro-batch-size 2 --tensor-model-parallel-size 1 ";
  const json encoder =
      answer_of(import_megatron, model + "--group-query-attention --max-position-embeddings 512\n").figures;
  EXPECT_EQ(encoder["model"]["layers"], 8);
  EXPECT_EQ(encoder["sequence_tokens"], 512);
  EXPECT_EQ(encoder["model"]["kv_heads"], 1);
  EXPECT_EQ(encoder["model"]["learned_positions"], 512);
  const json rotary =
      answer_of(import_megatron, model + "--use-rotary-position-embeddings --max-position-embeddings 512\n")
          .figures;
  EXPECT_EQ(rotary["model"]["learned_positions"], nullptr);
}

TEST(Megatron, takes_the_last_stage_of_a_batch_that_grows_and_tells_the_first) {
  const json ramp =
      answer_of(import_megatron, kCommand + std::string("--rampup-batch-size \"[16 16 1000]\"\n"), chips(8))
          .figures;
  EXPECT_EQ(ramp["batch_ramp"], "16");
  EXPECT_EQ(ramp["batch"]["global_batch_sequences"], 64);
  const std::string command =
      "pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 8 --seq-length 2048 "
      "--micro-batch-size 2 --step-batch-size-schedule \"0:16 1000:48\"\n";
  EXPECT_EQ(answer_of(import_megatron, command).figures["batch"]["global_batch_sequences"], 48);
}

// 8 layers and the loss are 9 of 3 stages; a layout of 6 stages on 3 is 2 chunks each.
TEST(Megatron, has_one_microbatch_on_every_rank_where_no_global_batch_is_stated) {
  const std::string command =
      "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
      "--num-attention-heads 8 --seq-length 2048 --micro-batch-size 2 --tensor-model-parallel-size 2 ";
  const json batch = answer_of(import_megatron, command + "--bf16\n").figures["batch"];
  EXPECT_EQ(batch["global_batch_sequences"], 16);
  EXPECT_EQ(batch["microbatches"], 1);
  const json open = answer_of(import_megatron, command + "--global-batch-size $GBS\n").figures["batch"];
  EXPECT_EQ(open["global_batch_sequences"], nullptr);
}

TEST(Megatron, counts_chunks_with_what_counts_as_a_layer_and_by_layout) {
  const std::string pipeline = kCommand + std::string("--pipeline-model-parallel-size 3 ");
  const auto chunks = [&](const std::string& arguments) {
    return answer_of(import_megatron, pipeline + arguments + "\n", chips(24))
        .figures["pipeline"]["chunks_per_stage"];
  };
  EXPECT_EQ(chunks("--account-for-loss-in-pipeline-split --num-layers-per-virtual-pipeline-stage 1"), 3);
  EXPECT_EQ(chunks("--pipeline-model-parallel-layout \"Ett|(t|)*4,ttL\""), 2);
}

TEST(Megatron, reads_saved_recipes_with_their_machines_and_aliases) {
  const std::string recipe =
      "sizes: &sizes\n  num_layers: 8\n  hidden_size: 1024\nmodel:\n  <<: *sizes\n  hidden_size: 2048\n"
      "  num_attention_heads: 16\n  num_query_groups: 4\n  gated_linear_unit: true\n  seq_length: &length "
      "4096\n"
      "  tensor_model_parallel_size: 2\n  share_embeddings_and_output_weights: false\n"
      "data:\n  seq_length: *length\n  micro_batch_size: 1\n  global_batch_size: 64\n"
      "trainer:\n  num_nodes: 4\n  devices: 8\n";
  const json read = answer_of(import_megatron, recipe).figures;
  EXPECT_EQ(read["chips"], 32);
  EXPECT_EQ(read["model"]["layers"], 8);
  EXPECT_EQ(read["model"]["d_model"], 2048);
  EXPECT_EQ(read["model"]["kv_heads"], 4);
  EXPECT_EQ(read["model"]["tied_embedding"], false);
  EXPECT_EQ(read["sequence_tokens"], 4096);
  const Answer unknown = answer_of(import_megatron, "model:\n  tensor_model_parallel_size: *none\n");
  ASSERT_EQ(unknown.problems.size(), 1u);
}

TEST(Megatron, refuses_sizes_that_contradict_each_other) {
  EXPECT_NE(answer_of(import_megatron, std::string(kCommand) + "--tensor-model-parallel-size 8", chips(12))
                .problems.at(0)
                .find("12 chips are not a multiple of tensor x pipeline x context = 8"),
            std::string::npos);
  EXPECT_NE(answer_of(import_megatron, kCommand, chips(24))
                .problems.at(0)
                .find("is not a multiple of microbatch x data = 2 x 24"),
            std::string::npos);
  EXPECT_NE(answer_of(import_megatron,
                      std::string(kCommand) + "--num-experts 6 --expert-model-parallel-size 4", chips(16))
                .problems.at(0)
                .find("6 experts are not a multiple of expert parallel = 4"),
            std::string::npos);
  EXPECT_NE(answer_of(import_megatron, "torchrun x.py --num-layers many")
                .problems.at(0)
                .find("file:1:15: num-layers is \"many\""),
            std::string::npos);
}

// Llama 3 8B of the catalogue, so that a scenario can be made of a few arguments.
TEST(Megatron, writes_gradients_of_16_bits_where_they_are_reduced_so) {
  Stated stated = chips(16);
  stated.model = "llama3_8b", stated.chip = "h100", stated.fabric = "dgx_h100";
  const std::string command = std::string(kCommand) + "--vocab-size 128256 --use-distributed-optimizer ";
  const auto stack = [&](const std::string& arguments) {
    const std::string scenario = answer_of(import_megatron, command + arguments, stated).imported.scenario;
    const LoadResult loaded = load_scenario("s", scenario, Catalog(), {});
    EXPECT_TRUE(loaded.spec) << scenario;
    return loaded.spec ? loaded.spec->job.stack : Stack{};
  };
  const Stack plain = stack("--bf16\n"), reduced = stack("--bf16 --grad-reduce-in-bf16\n");
  EXPECT_EQ(plain.gradient_bytes, 4);
  EXPECT_EQ(reduced.gradient_bytes, 2);
  EXPECT_EQ(reduced.gradient_memory_bytes, 2);
  const Answer whole = answer_of(import_megatron, command + "--grad-reduce-in-bf16\n", stated);
  EXPECT_EQ(whole.figures["gradient_reduce"], "fp32") << "the format of the weights";
  EXPECT_EQ(whole.imported.scenario.find("gradient_bytes"), std::string::npos);
}

TEST(Megatron, cuts_experts_as_finely_as_attention_unless_told_otherwise) {
  const std::string experts = std::string(kCommand) + "--num-experts 8 --tensor-model-parallel-size 2 ";
  EXPECT_EQ(answer_of(import_megatron, experts, chips(16)).figures["expert"]["expert_tensor"], 2);
  EXPECT_EQ(answer_of(import_megatron, experts + "--expert-tensor-parallel-size 1", chips(16))
                .figures["expert"]["expert_data"],
            16);
}

TEST(Megatron, counts_what_it_does_not_know_by_name) {
  const Answer answer = answer_of(import_megatron, std::string(kCommand) + "--lr 3e-4 --not-an-option 3");
  EXPECT_EQ(answer.figures["account"]["unknown"], json({{"not-an-option", 1}}));
  EXPECT_EQ(answer.figures["account"]["passed_over"]["training schedule and optimizer"], 1);
}

TEST(Megatron, reads_the_command_that_a_shell_within_a_batch_script_is_given) {
  const std::string script =
      "#SBATCH -N 4 --ntasks-per-node=8  # of a cluster\noptions=\" --num-layers 8 --hidden-size 1024 \\\n "
      "--num-attention-heads 8 --seq-length 2048 --micro-batch-size 2 --global-batch-size 64 --bf16\"\n"
      "run=\"python -u pretrain_gpt.py ${options}\"\nsrun -l --container-image=x bash -c \"${run}\"\n";
  const json read = answer_of(import_megatron, script).figures;
  EXPECT_EQ(read["chips"], 32);
  EXPECT_EQ(read["model"]["layers"], 8);
  EXPECT_EQ(read["precision"], "bf16");
  EXPECT_EQ(
      answer_of(import_megatron, "#SBATCH --nodes=2\nGPUS=8\nNODES=$SLURM_NNODES\n" + std::string(kCommand))
          .figures["chips"],
      16);
}

TEST(Megatron, refuses_a_layout_whose_stages_the_pipeline_does_not_divide) {
  EXPECT_NE(
      answer_of(import_megatron, std::string(kCommand) + "--pipeline-model-parallel-size 4 "
                                                         "--pipeline-model-parallel-layout 'Et|(tt|)*3,mL'")
          .problems.at(0)
          .find("a layout of 5 stages is not a multiple of pipeline = 4"),
      std::string::npos);
}

TEST(Megatron, refuses_quotes_and_arrays_that_are_not_closed) {
  EXPECT_NE(answer_of(import_megatron, "A=(--num-layers 2\ntorchrun x.py \"${A[@]}\" --num-layers 3")
                .problems.at(0)
                .find("not closed"),
            std::string::npos);
  EXPECT_NE(answer_of(import_megatron, "torchrun x.py --num-layers \"2")
                .problems.at(0)
                .find("file:1:28: this quote is not closed"),
            std::string::npos);
}

TEST(Launchers, doubt_a_script_whose_last_line_goes_on) {
  std::vector<Problem> problems;
  const std::string command = "ARGS=\n" + std::string(kCommand) + "\\\n  --bf16";
  const auto notes = [&](const std::string& text) {
    std::vector<InputText> files = {{"f", text}};
    return import_files(*file_kind_named("megatron"), files, {}, problems)->notes.size();
  };
  EXPECT_EQ(notes(command + "\n"), 0u);
  EXPECT_EQ(notes(command + " \\\n"), 1u);
}

TEST(DeepSpeed, takes_the_third_batch_size_from_two) {
  const std::string text = "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2}";
  EXPECT_EQ(answer_of(import_deepspeed, text, chips(8)).figures["batch"]["gradient_accumulation"], 4);
  EXPECT_EQ(answer_of(import_deepspeed, text).figures["needs"], json({"chips"}));
}

TEST(DeepSpeed, knows_how_offloading_was_written_before) {
  const json read = answer_of(import_deepspeed, R"({"train_batch_size": 8, "zero_optimization": {"stage": 3,
      "cpu_offload": true, "cpu_offload_params": true}})")
                        .figures;
  EXPECT_EQ(read["offload_optimizer"], "cpu");
  EXPECT_EQ(read["offload_parameters"], "cpu");
}

TEST(DeepSpeed, refuses_three_batch_sizes_that_disagree) {
  const Answer answer = answer_of(import_deepspeed,
                                  "{\"train_batch_size\": 64, \"train_micro_batch_size_per_gpu\": 2,\n"
                                  " \"gradient_accumulation_steps\": 2}",
                                  chips(8));
  EXPECT_NE(answer.problems.at(0).find("2 x 2 x 8 = 32"), std::string::npos);
}

// What DeepSpeed is told beside `more` for 64 H100.
Imported zero3(const std::string& more) {
  Stated stated = chips(64);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  stated.model = "llama3_8b";
  stated.settings = {{"sequence_tokens", "4096"}};
  return answer_of(import_deepspeed,
                   R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},)"
                   R"( "zero_optimization": {"stage": 3, )" +
                       more + "}}",
                   stated)
      .imported;
}

TEST(DeepSpeed, shards_within_groups_of_mics) {
  const std::string scenario = zero3(R"("mics_shard_size": 8)").scenario;
  EXPECT_NE(scenario.find("mesh { name: \"data\" size: 8 }"), std::string::npos) << scenario;
  EXPECT_NE(scenario.find("mesh { name: \"fsdp\" size: 8 }"), std::string::npos) << scenario;
}

TEST(DeepSpeed, makes_no_scenario_of_weights_on_the_host_and_says_what_is_not_simulated) {
  EXPECT_EQ(zero3(R"("offload_param": {"device": "cpu"})").scenario, "");
  EXPECT_NE(zero3(R"("zero_hpz_partition_size": 8)").scenario.find("Not simulated of ZeRO++"),
            std::string::npos);
}

TEST(DeepSpeed, makes_no_scenario_of_state_on_nvme_or_of_a_part_of_it_on_the_host) {
  Stated stated = chips(8);
  stated.model = "llama3_8b", stated.chip = "h100", stated.fabric = "dgx_h100";
  stated.settings = {{"sequence_tokens", "4096"}};
  const auto imported = [&](const std::string& offload) {
    return answer_of(import_deepspeed,
                     "{\"train_micro_batch_size_per_gpu\": 1, \"bf16\": {\"enabled\": true}, "
                     "\"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": " +
                         offload + "}}",
                     stated)
        .imported;
  };
  EXPECT_NE(imported("{\"device\": \"cpu\"}").scenario.find("offload_optimizer: true"), std::string::npos);
  const Imported nvme = imported("{\"device\": \"nvme\"}");
  EXPECT_EQ(nvme.scenario, "");
  EXPECT_EQ(nvme.needs_to_run.at(0).option, "--set zero_optimization.offload_optimizer.device=cpu");
  const Imported part = imported("{\"device\": \"cpu\", \"ratio\": 0.4}");
  EXPECT_EQ(part.scenario, "");
  EXPECT_EQ(part.needs_to_run.at(0).option, "--set zero_optimization.offload_optimizer.ratio=1");
}

TEST(DeepSpeed, refuses_two_formats_of_16_bits) {
  const Answer both =
      answer_of(import_deepspeed,
                "{\"train_batch_size\": 8,\n\"fp16\": {\"enabled\": true},\n\"bf16\": {\"enabled\": true}}");
  ASSERT_EQ(both.problems.size(), 1u);
  EXPECT_NE(both.problems[0].find("file:3:"), std::string::npos) << both.problems[0];
  EXPECT_NE(both.problems[0].find("bf16.enabled beside fp16.enabled"), std::string::npos);
}

TEST(HuggingFace, assumes_a_step_only_where_a_layout_is_to_be_found) {
  Stated stated = chips(64);
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  stated.stack = "torchtitan";
  const std::string config =
      R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,)"
      R"( "intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 2048})";
  EXPECT_EQ(answer_of(import_hugging_face, config, stated).imported.scenario, "");
  stated.plan = true;
  const std::string scenario = answer_of(import_hugging_face, config, stated).imported.scenario;
  EXPECT_NE(scenario.find("sequence_tokens: 2048  # assumed"), std::string::npos) << scenario;
  EXPECT_NE(scenario.find("global_batch_sequences: 256  # assumed"), std::string::npos) << scenario;
}

TEST(Launchers, refuse_stated_settings_that_they_do_not_read) {
  const auto problems = [](Read read, const std::string& text, const std::string& name) {
    Stated stated = chips(8);
    stated.settings = {{name, "4"}};
    std::vector<Problem> told;
    read({{"file", text}}, stated, told);
    return told.empty() ? "" : told.front().file + ": " + told.front().message + "; " + told.front().hint;
  };
  const std::string script = "torchrun --nnodes $NODES --nproc_per_node $((PER * 2)) pretrain_gpt.py " +
                             std::string(kCommand).substr(std::string(kCommand).find("--num-layers"));
  EXPECT_EQ(problems(import_megatron, script, "micro-batch-siz"),
            "--set: no setting micro-batch-siz is read here; did you mean micro-batch-size?");
  EXPECT_TRUE(problems(import_megatron, script, "NODE").starts_with("--set: no setting NODE is read here"))
      << "and $NODES is another variable";
  for (const char* name : {"NODES", "PER", "micro_batch_size"})
    EXPECT_EQ(problems(import_megatron, script, name), "") << name;
  const std::string toml = "[parallelism]\ntensor_parallel_degree = 1\n[training]\nlocal_batch_size = 2\n";
  EXPECT_EQ(problems(import_torchtitan, toml, "training.sequence_len"),
            "--set: no setting training.sequence_len is read here; did you mean training.seq_len?");
  EXPECT_EQ(
      problems(import_torchtitan, toml, "training.steps"),
      "--set: no setting training.steps is read here; of a file it is passed over: training schedule and "
      "optimizer");
  const std::string deepspeed = R"({"train_batch_size": 64, "bf16": {"enabled": true}})";
  EXPECT_NE(problems(import_deepspeed, deepspeed, "foo"), "");
  const std::string hub = R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,)"
                          R"( "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000})";
  EXPECT_NE(problems(import_hugging_face, hub, "sequence_token"), "");
  EXPECT_EQ(problems(import_hugging_face, hub, "sequence_tokens"), "");
}

TEST(Launchers, make_scenarios_that_load_with_the_origin_of_each_line) {
  Stated stated;
  stated.chips = 64;
  stated.chip = "h100";
  stated.fabric = "dgx_h100";
  stated.model = "llama3_8b";
  const Catalog catalog;
  int made = 0;
  for (const char* name : {"train_1b.sh", "experts.model_config.yaml", "llama3_8b.toml",
                           "maxtext_llama2_7b.sh", "ds_zero3.json", "config.json"}) {
    SCOPED_TRACE(name);
    std::vector<Problem> problems;
    const auto text =
        read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/imports/" + std::string(name), problems);
    ASSERT_TRUE(text);
    const FileKind* kind = file_kind(*text);
    ASSERT_TRUE(kind != nullptr && kind->read != nullptr);
    const bool tpu = kind->name == std::string("maxtext");
    stated.chip = tpu ? "tpu_v5p" : "h100";
    stated.fabric = tpu ? "v5p_pod" : "dgx_h100";
    stated.stack = kind->name == std::string("hf") ? "torchtitan" : "";
    stated.settings.clear();
    if (kind->name == std::string("megatron")) stated.settings = {{"vocab-size", "32000"}};
    if (kind->name == std::string("deepspeed")) stated.settings = {{"sequence_tokens", "4096"}};
    if (kind->name == std::string("hf"))
      stated.settings = {{"sequence_tokens", "4096"}, {"global_batch_sequences", "128"}};
    std::vector<InputText> files = {{name, *text}};
    const auto imported = kind->read(files, stated, problems);
    ASSERT_TRUE(imported);
    const LoadResult loaded = load_scenario("job.textproto", imported->scenario, catalog, {});
    EXPECT_TRUE(loaded.spec) << imported->scenario
                             << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
    EXPECT_NE(imported->scenario.find("  # "), std::string::npos);
    ++made;
  }
  EXPECT_EQ(made, 6);
}

}  // namespace
}  // namespace podsim::launchers_test
