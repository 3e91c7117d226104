// Configurations of Megatron-LM and NeMo: how ranks, layers and number formats follow from arguments.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/layer_pattern.h"
#include "ingest/launchers/megatron_stages.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::megatron_test {
namespace {

using nlohmann::json;
using testing::chips;
using testing::LauncherAnswer;

Stated on_h100(std::int64_t count) {
  Stated stated = chips(count);
  stated.chip = "h100", stated.fabric = "dgx_h100";
  return stated;
}

// A mixture of 16 experts on 64 H100.
LauncherAnswer mixture(const std::string& arguments) {
  return testing::answer_of(
      import_megatron,
      "pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --swiglu "
      "--ffn-hidden-size 14336 --vocab-size 128256 --seq-length 4096 --micro-batch-size 1 "
      "--global-batch-size 128 --bf16 --num-experts 16 --moe-ffn-hidden-size 128 --sequence-parallel " +
          arguments + "\n",
      on_h100(64));
}

// A dense model on 64 H100.
LauncherAnswer dense(const std::string& arguments) {
  return testing::answer_of(import_megatron,
                            "pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
                            "--vocab-size 128256 --seq-length 4096 --micro-batch-size 1 "
                            "--global-batch-size 128 " +
                                arguments + "\n",
                            on_h100(64));
}

bool has(const LauncherAnswer& answer, const std::string& words) {
  return answer.imported.scenario.find(words) != std::string::npos;
}

Spec loaded(const LauncherAnswer& answer) {
  LoadResult result = load_scenario("s", answer.imported.scenario, Catalog(), {});
  EXPECT_TRUE(result.spec) << answer.imported.scenario
                           << (result.problems.empty() ? "" : format_problem(result.problems.front()));
  return result.spec ? *std::move(result.spec) : Spec{};
}

std::vector<std::pair<std::string, int>> mesh_of(const Spec& spec) {
  std::vector<std::pair<std::string, int>> axes;
  for (const MeshAxis& axis : spec.job.mesh.axes) axes.emplace_back(axis.name, axis.size);
  return axes;
}

using Axes = std::vector<std::pair<std::string, int>>;

TEST(MegatronRanks, that_hold_dense_weights_share_their_optimizer_state_whatever_the_experts) {
  const std::string zero1 = "--tensor-model-parallel-size 4 --use-distributed-optimizer ";
  const auto rule = [&](const std::string& axes) {
    return "rule { dimension: \"state_param_embed\"" + axes + " }";
  };
  EXPECT_TRUE(has(mixture(zero1), rule(" axis: \"data\"")));
  for (const char* expert : {"2", "4", "8"}) {
    const LauncherAnswer answer = mixture(zero1 + "--expert-model-parallel-size " + expert);
    EXPECT_TRUE(has(answer, rule(" axis: \"data\" axis: \"expert\""))) << answer.imported.scenario;
    loaded(answer);
  }
  EXPECT_TRUE(has(mixture(zero1 + "--expert-model-parallel-size 16"), rule(" axis: \"expert\"")));
}

TEST(MegatronRanks, cut_dense_weights_also_where_experts_lie_on_all_of_them) {
  const std::string fsdp = "--tensor-model-parallel-size 4 --use-megatron-fsdp ";
  EXPECT_TRUE(has(mixture(fsdp + "--expert-model-parallel-size 8"),
                  "rule { dimension: \"param_embed\" axis: \"fsdp\" axis: \"expert\" }"));
  const LauncherAnswer all = mixture(fsdp + "--expert-model-parallel-size 16");
  EXPECT_TRUE(has(all, "rule { dimension: \"param_embed\" axis: \"expert\" }")) << all.imported.scenario;
  EXPECT_EQ(mesh_of(loaded(all)), (Axes{{"expert", 16}, {"tensor", 4}}));
}

TEST(MegatronRanks, cut_an_expert_by_as_many_as_it_says) {
  const std::string eight = "--tensor-model-parallel-size 8 --use-distributed-optimizer ";
  const LauncherAnswer two =
      mixture(eight + "--expert-model-parallel-size 8 --expert-tensor-parallel-size 2");
  EXPECT_EQ(mesh_of(loaded(two)), (Axes{{"data", 4}, {"expert", 2}, {"tensor", 4}, {"expert_tensor", 2}}));
  EXPECT_TRUE(has(two, "sharding: \"megatron_experts\""));
  const LauncherAnswer whole = mixture(eight + "--expert-tensor-parallel-size 1");
  EXPECT_EQ(mesh_of(loaded(whole)), (Axes{{"data", 8}, {"tensor", 8}}));
  EXPECT_TRUE(has(whole, "rule { dimension: \"expert_groups\" axis: \"data\" axis: \"tensor\" }"));
  EXPECT_TRUE(has(whole, "rule { dimension: \"state_param_embed\" axis: \"data\" axis: \"tensor\" }"));
  EXPECT_NE(mixture(eight + "--expert-model-parallel-size 4 --expert-tensor-parallel-size 1")
                .problems.at(0)
                .find("experts over 4 ranks are no multiple of the 8 tensor-parallel ranks"),
            std::string::npos);
}

TEST(MegatronRanks, have_stages_innermost_of_data_where_the_mapping_is_swapped) {
  const std::string stages = "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --bf16 ";
  EXPECT_EQ(mesh_of(loaded(dense(stages))), (Axes{{"pipeline", 4}, {"data", 8}, {"tensor", 2}}));
  EXPECT_EQ(mesh_of(loaded(dense(stages + "--use-tp-pp-dp-mapping"))),
            (Axes{{"data", 8}, {"pipeline", 4}, {"tensor", 2}}));
}

std::vector<int> pieces(const std::string& arguments) {
  return loaded(dense("--bf16 " + arguments)).job.layers_per_chunk;
}

TEST(MegatronStages, have_the_layers_that_arguments_give_them) {
  const std::string two = "--pipeline-model-parallel-size 2 ", four = "--pipeline-model-parallel-size 4 ";
  EXPECT_EQ(pieces(two + "--decoder-first-pipeline-num-layers 10"), (std::vector<int>{10, 22}));
  EXPECT_EQ(pieces(four + "--decoder-first-pipeline-num-layers 7 --decoder-last-pipeline-num-layers 5"),
            (std::vector<int>{7, 10, 10, 5}));
  EXPECT_EQ(pieces(four + "--decoder-first-pipeline-num-layers 8 --decoder-last-pipeline-num-layers 4 "
                          "--num-virtual-stages-per-pipeline-rank 2"),
            (std::vector<int>{4, 5, 5, 2, 4, 5, 5, 2}));
  EXPECT_EQ(pieces(two + "--pipeline-model-parallel-layout 'Et*10|t*22L'"), (std::vector<int>{10, 22}));
  EXPECT_EQ(pieces(two + "--pipeline-model-parallel-layout 'E(tt)*4|(tttt|)*2,t*16L'"),
            (std::vector<int>{8, 4, 4, 16}));
  EXPECT_TRUE(pieces(two).empty());
  const std::string ends = "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split ";
  EXPECT_EQ(pieces(four + ends + "--num-layers 30"), (std::vector<int>{7, 8, 8, 7}));
}

TEST(MegatronStages, are_refused_at_the_argument_that_gives_them_others_than_there_are) {
  const std::string four = "--bf16 --pipeline-model-parallel-size 4 ";
  for (const auto& [arguments, words] :
       {std::pair(std::string("--decoder-first-pipeline-num-layers 10"),
                  "of 32 layers 22 are left for 3 stages"),
        {std::string("--account-for-loss-in-pipeline-split"), "33 layers with those that count as one"},
        {std::string("--pipeline-model-parallel-layout 'Et*8|t*8|t*8|tL'"), "a layout of 25 layers (t)"},
        {std::string("--pipeline-model-parallel-layout 'Ex|t|t|t'"), "the layout of the pipeline is"},
        {std::string("--num-virtual-stages-per-pipeline-rank 3"),
         "8 layers of a stage do not divide into 3"}}) {
    const LauncherAnswer answer = dense(four + arguments);
    ASSERT_EQ(answer.problems.size(), 1u) << arguments;
    EXPECT_NE(answer.problems[0].find("file:1:"), std::string::npos) << answer.problems[0];
    EXPECT_NE(answer.problems[0].find(words), std::string::npos) << answer.problems[0];
  }
}

TEST(MegatronStages, of_a_layout_are_counted_through_stars_and_brackets) {
  EXPECT_EQ(layout_layers("Et*3|(tt|)*2,m|L"), (std::vector<std::int64_t>{3, 2, 2, 0, 0}));
  for (const char* none : {"(t", "t)", "((t))", "Ex", "(t|)*9999999"})
    EXPECT_FALSE(layout_layers(none)) << none;
}

// Of 32 layers those with experts, where podsim lays them; nothing where it has no such layers.
std::string layers_with_experts(const std::string& frequency) {
  const LauncherAnswer answer = mixture("--moe-layer-freq '" + frequency + "'");
  if (!answer.problems.empty()) return answer.problems.front();
  if (answer.imported.scenario.empty()) return answer.imported.needs_to_run.at(0).what;
  const MixtureOfExperts experts = *loaded(answer).job.model.experts;
  return std::to_string(experts.dense_layers) + " dense, every " + std::to_string(experts.every);
}

TEST(MegatronExperts, lie_on_the_layers_that_a_pattern_says) {
  EXPECT_EQ(layers_with_experts("1"), "0 dense, every 1");
  EXPECT_EQ(layers_with_experts("([0]*3+[1]*29)"), "3 dense, every 1");
  EXPECT_EQ(layers_with_experts("([0]*1+[1]*1)*16"), "0 dense, every 2");
  EXPECT_EQ(layers_with_experts("[0,1]*16"), "0 dense, every 2");
  for (const char* other : {"[0,0,0,1,1,1,1,1]*4", "([1]*3+[0]*1)*8", "3"})
    EXPECT_EQ(layers_with_experts(other).find("experts on every n-th layer"), 0u) << other;
  EXPECT_NE(layers_with_experts("[0]*3").find("expected a number, or a list of 32"), std::string::npos);
}

TEST(MegatronExperts, of_every_third_layer_begin_with_the_first) {
  const auto every = layer_pattern("3", 32);
  ASSERT_TRUE(every);
  EXPECT_EQ(std::count(every->begin(), every->end(), true), 11);
  EXPECT_TRUE(every->front());
  for (const char* none : {"0", "[2]*32", "[1]*31", "[1,]*32", "([1]*32", "[1]*32)", "x", ""})
    EXPECT_FALSE(layer_pattern(none, 32)) << none;
}

std::pair<std::string, std::string> formats(const LauncherAnswer& answer) {
  const json figures = json::parse(answer.figures);
  return {figures["precision"], figures["gradient_reduce"]};
}

TEST(MegatronPrecision, of_8_bits_is_not_what_says_that_there_is_none) {
  const std::string sizes = "model:\n  num_layers: 8\n  tensor_model_parallel_size: 1\n  bf16: true\n";
  const auto read = [&](const std::string& more) {
    return formats(testing::answer_of(import_megatron, sizes + more, chips(8))).first;
  };
  for (const char* none : {"fp8: false", "fp8: null", "fp8: none", "fp8_format: ''", "fp4_format: false"})
    EXPECT_EQ(read("  " + std::string(none) + "\n"), "bf16") << none;
  EXPECT_EQ(read("  fp8: hybrid\n  fp8_recipe: mxfp8\n"), "mxfp8");
  EXPECT_EQ(read("  fp8: hybrid\n"), "fp8_tensorwise");
  EXPECT_EQ(read("mixed_precision: bf16_with_fp8_current_scaling_mixed\n"), "fp8_tensorwise");
  EXPECT_EQ(read("mixed_precision: bf16_with_fp8_subchannel_scaling_mixed\n"), "fp8_blockwise");
  EXPECT_EQ(read("mixed_precision: bf16_with_mxfp8_mixed\n"), "mxfp8");
  EXPECT_EQ(read("mixed_precision: bf16_with_nvfp4_mixed\n"), "nvfp4");
  EXPECT_EQ(read("mixed_precision: bf16_mixed\n"), "bf16");
}

TEST(MegatronPrecision, of_16_bits_reduces_gradients_in_it_unless_they_are_kept_in_32) {
  using Both = std::pair<std::string, std::string>;
  EXPECT_EQ(formats(dense("--fp16")), (Both{"fp16", "fp16"}));
  EXPECT_EQ(formats(dense("--fp16 --accumulate-allreduce-grads-in-fp32")), (Both{"fp16", "fp32"}));
  EXPECT_EQ(formats(dense("--bf16")), (Both{"bf16", "fp32"}));
  EXPECT_TRUE(has(dense("--fp16"), "gradient_bytes: 2 gradient_memory_bytes: 2"));
  EXPECT_FALSE(has(dense("--bf16"), "gradient_bytes"));
}

// Of NeMo 1, and of Megatron-Bridge.
TEST(MegatronRecipes, say_in_words_what_are_flags_elsewhere) {
  const std::string nemo =
      "trainer:\n  precision: bf16-mixed\nmodel:\n  num_layers: 8\n  hidden_size: 1024\n"
      "  num_attention_heads: 8\n  tensor_model_parallel_size: 1\n  normalization: rmsnorm\n  bias: false\n"
      "  activation: fast-swiglu\n  activations_checkpoint_granularity: full\n"
      "  optim:\n    name: distributed_fused_adam\n";
  const json read = json::parse(testing::answer_of(import_megatron, nemo, chips(8)).figures);
  EXPECT_EQ(read["precision"], "bf16");
  EXPECT_EQ(read["model"]["gated_ffn"], true);
  EXPECT_EQ(read["model"]["ffn"], 2688) << "8/3 of 1,024, in multiples of 64";
  EXPECT_EQ(read["model"]["biases"], false);
  EXPECT_EQ(read["model"]["rms_norm"], true);
  EXPECT_EQ(read["state_sharding"], "zero1");
  EXPECT_EQ(read["recompute"]["mode"], "full");
  EXPECT_EQ(read["account"]["unknown"], json::object());
  const std::string bridge =
      "model:\n  num_layers: 8\n  tensor_model_parallel_size: 1\n  bf16: true\nddp:\n  grad_reduce_in_fp32: ";
  EXPECT_EQ(formats(testing::answer_of(import_megatron, bridge + "false\n", chips(8))).second, "bf16");
  EXPECT_EQ(formats(testing::answer_of(import_megatron, bridge + "true\n", chips(8))).second, "fp32");
}

TEST(MegatronRecompute, of_2022_is_written_as_checkpoints) {
  const auto recompute = [](const std::string& arguments) {
    return json::parse(dense("--bf16 " + arguments).figures)["recompute"];
  };
  EXPECT_EQ(recompute("--checkpoint-activations"), recompute("--recompute-granularity full"));
  EXPECT_EQ(recompute("--checkpoint-activations")["mode"], "full");
  EXPECT_EQ(recompute("--checkpoint-activations --checkpoint-method block --checkpoint-num-layers 4"),
            recompute("--recompute-granularity full --recompute-method block --recompute-num-layers 4"));
  EXPECT_EQ(recompute("--deepspeed-activation-checkpointing")["mode"], "none");
}

TEST(MegatronOptimizer, keeps_as_many_bytes_as_its_formats_have) {
  const auto state = [](const std::string& arguments) {
    return loaded(dense("--bf16 " + arguments)).job.stack.optimizer_state_bytes;
  };
  const std::string precise = "--use-precision-aware-optimizer ";
  EXPECT_EQ(state(""), 4 + 4 + 4);
  EXPECT_EQ(state(precise), 4 + 4 + 4);
  EXPECT_EQ(state(precise + "--exp-avg-dtype bf16 --exp-avg-sq-dtype fp8"), 4 + 2 + 1);
  EXPECT_EQ(state(precise + "--main-params-dtype fp16 --exp-avg-dtype fp16 --exp-avg-sq-dtype bf16"),
            2 + 2 + 2);
  EXPECT_EQ(state("--optimizer sgd"), 4 + 4);
  EXPECT_EQ(state("--optimizer sgd --sgd-momentum 0"), 4);
  EXPECT_EQ(state("--optimizer adam"), 4 + 4 + 4);
}

TEST(MegatronOptimizer, tells_what_podsim_does_not_simulate_of_it) {
  for (const char* arguments :
       {"--optimizer muon", "--num-distributed-optimizer-instances 2",
        "--fp8-format hybrid --fp8-param-gather", "--use-precision-aware-optimizer --main-grads-dtype bf16"})
    EXPECT_TRUE(has(dense("--bf16 " + std::string(arguments)), "# Not simulated: ")) << arguments;
  for (const char* arguments : {"", "--num-distributed-optimizer-instances 1", "--optimizer adam"})
    EXPECT_FALSE(has(dense("--bf16 " + std::string(arguments)), "# Not simulated: ")) << arguments;
}

// The strategy is that of Megatron's own FSDP; that of PyTorch shards all. A saved recipe has the key always.
TEST(MegatronRanks, share_state_as_their_fsdp_says) {
  const auto state = [](const std::string& arguments) {
    return json::parse(dense("--bf16 " + arguments).figures)["state_sharding"];
  };
  const std::string strategy = " --data-parallel-sharding-strategy ";
  for (const auto& [name, expected] :
       {std::pair("optim", json("zero1")), std::pair("optim_grads", json("zero2")),
        std::pair("optim_grads_params", json("zero3")), std::pair("no_shard", json(nullptr))}) {
    EXPECT_EQ(state("--use-megatron-fsdp" + strategy + name), expected) << name;
    EXPECT_EQ(state("--use-torch-fsdp2" + strategy + name), "zero3") << name;
  }
  const std::string told = "Not simulated: all state on every rank, the default of";
  EXPECT_TRUE(has(dense("--bf16 --use-megatron-fsdp"), told));
  EXPECT_FALSE(has(dense("--bf16 --use-megatron-fsdp" + strategy + "optim"), told));
  EXPECT_FALSE(has(dense("--bf16 --use-torch-fsdp2"), told));
}

TEST(MegatronSoftware, overlaps_what_arguments_say) {
  const auto stack = [](const std::string& arguments) {
    return loaded(dense("--bf16 " + arguments)).job.stack;
  };
  EXPECT_FALSE(stack("").gradients_overlapped);
  EXPECT_TRUE(stack("--overlap-grad-reduce --overlap-param-gather").gradients_overlapped);
  const std::string tensor = "--overlap-grad-reduce --tensor-model-parallel-size 4 --sequence-parallel ";
  EXPECT_LT(stack(tensor).tensor_hidden, stack(tensor + "--tp-comm-overlap").tensor_hidden);
}

TEST(MegatronSoftware, that_podsim_does_not_simulate_is_told) {
  const LauncherAnswer eight =
      dense("--bf16 --recompute-granularity full --recompute-method uniform --recompute-num-layers 8");
  EXPECT_TRUE(has(eight, "# Not simulated: one input kept for 8 layers"));
  EXPECT_NE(eight.imported.text.find("not simulated: one input kept for 8 layers"), std::string::npos);
  EXPECT_TRUE(loaded(dense("--bf16 --optimizer-cpu-offload")).job.offload_optimizer);
  const LauncherAnswer part = dense("--bf16 --optimizer-cpu-offload --optimizer-offload-fraction 0.5");
  EXPECT_EQ(part.imported.scenario, "");
  EXPECT_EQ(part.imported.needs_to_run.at(0).option, "--set optimizer-offload-fraction=1");
}

TEST(MegatronScripts, with_two_trainings_are_read_up_to_the_second_and_say_so) {
  const std::string first =
      "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 32 --hidden-size 4096 "
      "--num-attention-heads 32 --bf16 --num-experts 8\n";
  const std::string second =
      "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --num-layers 40 --hidden-size 5120 "
      "--num-attention-heads 40 --fp16\n";
  const LauncherAnswer both = testing::answer_of(import_megatron, first + second);
  const json read = json::parse(both.figures);
  EXPECT_EQ(read["chips"], 32);
  EXPECT_EQ(read["model"]["layers"], 32);
  EXPECT_EQ(read["precision"], "bf16");
  ASSERT_EQ(both.imported.notes.size(), 1u);
  EXPECT_EQ(both.imported.notes[0].find("file:2: another command trains something else"), 0u);
  EXPECT_TRUE(testing::answer_of(import_megatron, first + first).imported.notes.empty());
}

}  // namespace
}  // namespace podsim::megatron_test
