// Scripts of MaxText: what they change of a model, of a pipeline and of the memory of weights.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/launchers/launchers.h"
#include "proto/catalog/catalog.h"
#include "proto/scenario/load.h"
#include "tests/ingest/launcher_answer.h"

namespace podsim::maxtext_test {
namespace {

using nlohmann::json;
using testing::LauncherAnswer;

Stated machine(const char* chip, const char* fabric) {
  Stated stated = testing::chips(64);
  stated.chip = chip;
  stated.fabric = fabric;
  return stated;
}

const Stated kTpus = machine("tpu_v5p", "v5p_pod");

LauncherAnswer answer_of(const std::string& arguments, const Stated& stated = kTpus) {
  return testing::answer_of(import_maxtext,
                            "python3 -m MaxText.train MaxText/configs/base.yml per_device_batch_size=1 "
                            "max_target_length=4096 " +
                                arguments + "\n",
                            stated);
}

LauncherAnswer read_as_it_is(const std::string& script) {
  return testing::answer_of(import_maxtext, script, testing::chips(64));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Job job_of(const LauncherAnswer& answer) {
  const LoadResult loaded = load_scenario("job.textproto", answer.imported.scenario, Catalog(), {});
  EXPECT_TRUE(loaded.spec) << answer.imported.scenario
                           << (loaded.problems.empty() ? "" : format_problem(loaded.problems.front()));
  return loaded.spec ? loaded.spec->job : Job();
}

Model of_catalogue(const char* name) { return *Catalog().model(name); }

TEST(MaxText, scales_a_model_by_powers_of_two) {
  const json figures = json::parse(
      read_as_it_is("python3 train.py base.yml global_parameter_scale=128 per_device_batch_size=0.5")
          .figures);
  EXPECT_EQ(figures["model"]["layers"], 64);
  EXPECT_EQ(figures["model"]["heads"], 128);
  EXPECT_EQ(figures["model"]["ffn"], 57344);
  EXPECT_EQ(figures["model"]["d_model"], 8192);
  EXPECT_EQ(figures["batch"]["global_batch_sequences"], 32);
}

TEST(MaxText, limits_experts_also_of_a_model_that_the_catalogue_has) {
  const auto answer = [&](const std::string& setting) {
    return answer_of("model_name=mixtral-8x7b " + setting);
  };
  const auto capacity = [&](const std::string& setting) {
    return json::parse(answer(setting).figures)["model"]["experts"]["capacity_factor"];
  };
  EXPECT_EQ(capacity("capacity_factor=1.25"), 1.25);
  EXPECT_EQ(capacity("capacity_factor=-1"), nullptr);
  EXPECT_EQ(job_of(answer("capacity_factor=1.25")).model.experts->capacity_factor, 1.25);
}

TEST(MaxText, refuses_a_script_that_starts_nothing) {
  const auto problems = read_as_it_is("#!/bin/bash\n# per_device_batch_size, of MaxText\nset -e\n").problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(has(problems[0], "there is no command"));
}

TEST(MaxText, refuses_two_axes_that_are_the_rest) {
  EXPECT_TRUE(has(answer_of("ici_fsdp_parallelism=-1 ici_tensor_parallelism=-1").problems.at(0),
                  "two axes of ici are -1"));
}

TEST(MaxText, changes_a_model_of_the_catalogue_by_the_sizes_that_a_script_states) {
  const LauncherAnswer answer =
      answer_of("model_name=llama3-8b override_model_config=True base_num_decoder_layers=8");
  EXPECT_EQ(json::parse(answer.figures)["model"]["layers"], 8);
  EXPECT_TRUE(has(answer.imported.text, "llama3-8b: 8 layers")) << answer.imported.text;
  EXPECT_TRUE(has(answer.imported.scenario, "layers: 8  # base_num_decoder_layers, file:1"));
  Model expected = of_catalogue("llama3_8b");
  expected.layers = 8;
  EXPECT_EQ(job_of(answer).model, expected);
  expected = of_catalogue("mixtral_8x7b");
  expected.experts->experts_per_token = 4;
  EXPECT_EQ(job_of(answer_of("model_name=mixtral-8x7b num_experts_per_tok=4")).model, expected);
  expected = of_catalogue("llama3_8b");
  EXPECT_EQ(job_of(answer_of("model_name=llama3-8b")).model, expected);
  expected.d_model = 2048;
  expected.gated_ffn = false;
  EXPECT_EQ(job_of(answer_of("model_name=llama3-8b base_emb_dim=2048 mlp_activations=gelu")).model, expected)
      << "whose heads are as wide as before";
  const Model dense = job_of(answer_of("model_name=mixtral-8x7b num_experts=1")).model;
  EXPECT_FALSE(dense.experts);
  EXPECT_EQ(dense.ffn, of_catalogue("mixtral_8x7b").ffn);
}

TEST(MaxText, keeps_no_weights_of_32_bits_where_they_have_16) {
  const auto bytes = [](const std::string& types) {
    return job_of(answer_of("model_name=llama3-8b " + types)).stack.optimizer_state_bytes;
  };
  EXPECT_EQ(bytes(""), 12) << "a weight and two moments of four bytes";
  EXPECT_EQ(bytes("weight_dtype=float32 mu_dtype=bfloat16"), 10);
  EXPECT_EQ(bytes("weight_dtype=bfloat16"), 4) << "moments as the weights";
  EXPECT_EQ(bytes("weight_dtype=bfloat16 mu_dtype=float32"), 6);
  EXPECT_EQ(bytes("weight_dtype=bfloat16 opt_type=sgd"), 12) << "whose state is not known";
  const auto problems = answer_of("model_name=llama3-8b weight_dtype=float8").problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(has(problems[0], "expected float32, bfloat16 or float16")) << problems[0];
}

constexpr char kStages[] = "model_name=llama3-8b ici_pipeline_parallelism=4 ici_fsdp_parallelism=16 ";

TEST(MaxText, passes_microbatches_through_stages_as_it_is_told) {
  const Job job = job_of(answer_of(std::string(kStages) + "num_layers_per_pipeline_stage=4 "
                                                          "num_pipeline_microbatches=4 "));
  EXPECT_EQ(job.schedule, PipelineSchedule::kShifting);
  EXPECT_EQ(job.chunks_per_stage, 2) << "32 layers over 4 stages of 4";
  EXPECT_EQ(job.microbatch, 1) << "64 sequences in 4 microbatches on 16 batch shards";
  const Job usual = job_of(answer_of(kStages));
  EXPECT_EQ(usual.chunks_per_stage, 8) << "one layer at a time";
  EXPECT_EQ(usual.microbatch, 1) << "as many microbatches as stages";
}

TEST(MaxText, refuses_stages_that_layers_or_sequences_do_not_divide_into) {
  const auto problem = [](const std::string& arguments) {
    const auto problems = answer_of(kStages + arguments).problems;
    return problems.size() == 1 ? problems.front() : "";
  };
  EXPECT_TRUE(has(problem("num_pipeline_microbatches=6"), "expected a multiple of the 4 stages"));
  EXPECT_TRUE(has(problem("num_pipeline_microbatches=8"), "64 sequences do not divide into 8 microbatches"));
  EXPECT_TRUE(has(problem("num_layers_per_pipeline_stage=5"), "32 layers are no multiple of 4 stages"));
  EXPECT_TRUE(has(problem("num_pipeline_repeats=2"), "expected 8"));
}

std::vector<std::string> axes_of(const std::string& arguments) {
  std::vector<std::string> names;
  for (const MeshAxis& axis : job_of(answer_of("model_name=llama3-8b " + arguments)).mesh.axes)
    names.push_back(axis.name + " " + std::to_string(axis.size));
  return names;
}

TEST(MaxText, lays_what_is_between_slices_outside_of_all_else) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(axes_of("dcn_data_parallelism=2 ici_pipeline_parallelism=2 ici_fsdp_parallelism=16"),
            (Names{"data 2", "pipeline 2", "fsdp 16"}));
  EXPECT_EQ(axes_of("dcn_fsdp_parallelism=2 dcn_data_parallelism=1 ici_data_parallelism=2 "
                    "ici_fsdp_parallelism=16"),
            (Names{"fsdp 32", "data 2"}));
  EXPECT_EQ(axes_of("dcn_pipeline_parallelism=2 dcn_data_parallelism=1 ici_data_parallelism=2 "
                    "ici_fsdp_parallelism=16"),
            (Names{"pipeline 2", "data 2", "fsdp 16"}));
  EXPECT_TRUE(has(answer_of("model_name=llama3-8b dcn_data_parallelism=2 dcn_fsdp_parallelism=2 "
                            "ici_data_parallelism=2 ici_fsdp_parallelism=8")
                      .imported.scenario,
                  "# Not simulated: parts of data both between and within slices"));
}

TEST(MaxText, moves_the_optimizer_to_the_host_and_makes_no_scenario_of_weights_there) {
  EXPECT_TRUE(job_of(answer_of("model_name=llama3-8b optimizer_memory_host_offload=true")).offload_optimizer);
  const Imported weights = answer_of("model_name=llama3-8b parameter_memory_host_offload=true").imported;
  EXPECT_EQ(weights.scenario, "");
  EXPECT_EQ(weights.needs_to_run.at(0).option, "--set parameter_memory_host_offload=false");
}

TEST(MaxText, names_the_format_of_products_or_asks_for_one_that_podsim_has) {
  const auto precision = [](const std::string& name, const char* stack = "") {
    Stated stated = kTpus;
    stated.stack = stack;
    const Imported imported = answer_of("model_name=llama3-8b quantization=" + name, stated).imported;
    const std::size_t at = imported.scenario.find("precision: ") + 11;
    return imported.scenario.empty() ? imported.needs_to_run.at(0).what
                                     : imported.scenario.substr(at, imported.scenario.find(' ', at) - at);
  };
  EXPECT_EQ(precision("te_nvfp4", "generic_megatron"), "nvfp4");
  EXPECT_EQ(precision("te_mxfp8", "generic_megatron"), "mxfp8");
  EXPECT_EQ(precision("fp8_full", "generic_megatron"), "fp8_tensorwise");
  EXPECT_EQ(precision("te_nvfp4"), "fp4") << "of the stack of MaxText, which has no such recipe";
  EXPECT_EQ(precision("te_mxfp8"), "fp8");
  EXPECT_EQ(precision("fp8_full"), "fp8");
  EXPECT_EQ(precision("int8"), "int8");
  for (const char* name : {"int4", "intmp", "int8w", "w4a8"})
    EXPECT_EQ(precision(name), "products in a format that podsim has, instead of " + std::string(name));
}

TEST(MaxText, makes_a_scenario_that_runs_of_every_format_that_the_chip_has) {
  const auto format = [](const std::string& name) {
    return job_of(answer_of("model_name=llama3-8b quantization=" + name, machine("b200", "dgx_b200")))
        .precision.dtype;
  };
  for (const char* name : {"fp8", "fp8_full", "te_fp8_delayedscaling", "te_fp8_currentscaling", "te_mxfp8"})
    EXPECT_EQ(format(name), Dtype::kFp8) << name;
  EXPECT_EQ(format("te_nvfp4"), Dtype::kFp4);
}

TEST(MaxText, attends_with_a_kernel_that_the_chip_has) {
  const auto kernel = [](const char* attention, const Stated& stated) {
    return job_of(answer_of("model_name=llama3-8b attention=" + std::string(attention), stated))
        .stack.attention_kernel;
  };
  const Stated gpus = machine("h100", "dgx_h100");
  EXPECT_EQ(kernel("cudnn_flash_te", gpus), "cudnn");
  EXPECT_EQ(kernel("dot_product", gpus), "unfused");
  EXPECT_EQ(kernel("flash", gpus), "cudnn") << "which stands in for that of TPUs";
  for (const char* attention : {"flash", "cudnn_flash_te", "dot_product"})
    EXPECT_EQ(kernel(attention, kTpus), "splash") << attention;
  Stated named = gpus;
  named.stack = "torchtitan";
  EXPECT_EQ(kernel("cudnn_flash_te", named), "flash2") << "of a stack that was chosen";
  EXPECT_TRUE(has(answer_of("model_name=llama3-8b attention=flash", gpus).imported.scenario,
                  "stack_override { attention_kernel: \"cudnn\" }  # assumed: h100 has no attention kernel "
                  "splash"));
  EXPECT_TRUE(has(answer_of("model_name=llama3-8b attention=dot_product").imported.scenario,
                  "# Not simulated: attention=dot_product"));
}

TEST(MaxText, writes_one_override_of_all_that_it_changes_of_its_stack) {
  const Stack stack = job_of(answer_of("model_name=llama3-8b attention=cudnn_flash_te mu_dtype=bfloat16",
                                       machine("h100", "dgx_h100")))
                          .stack;
  EXPECT_EQ(stack.attention_kernel, "cudnn");
  EXPECT_EQ(stack.optimizer_state_bytes, 4 + 2 + 4);
}

TEST(MaxText, takes_keys_from_variables_over_base_yml) {
  const std::string command = "python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3-8b";
  const std::string set = "export M_PER_DEVICE_BATCH_SIZE=4\nexport M_MAX_TARGET_LENGTH=8192\n";
  const json figures = json::parse(read_as_it_is(set + command + "\n").figures);
  EXPECT_EQ(figures["batch"]["global_batch_sequences"], 64 * 4);
  EXPECT_EQ(figures["sequence_tokens"], 8192);
  EXPECT_EQ(json::parse(read_as_it_is("M_MAX_TARGET_LENGTH=1024 " + command).figures)["sequence_tokens"],
            1024);
  const LauncherAnswer twice = read_as_it_is(set + command + " max_target_length=4096\n");
  ASSERT_EQ(twice.problems.size(), 1u);
  EXPECT_NE(twice.problems[0].find("max_target_length is an argument, and M_MAX_TARGET_LENGTH is set"),
            std::string::npos)
      << twice.problems[0];
}

TEST(MaxText, makes_no_scenario_of_experts_that_compute_every_token) {
  const auto imported = [](const std::string& setting) {
    return answer_of("model_name=mixtral-8x7b " + setting).imported;
  };
  EXPECT_NE(imported("sparse_matmul=False capacity_factor=1").scenario, "");
  EXPECT_NE(imported("sparse_matmul=True capacity_factor=-1").scenario, "");
  const Imported dense = imported("sparse_matmul=False capacity_factor=-1");
  EXPECT_EQ(dense.scenario, "");
  EXPECT_EQ(dense.needs_to_run.at(0).option, "--set sparse_matmul=true");
  EXPECT_NE(answer_of("model_name=llama3-8b sparse_matmul=False").imported.scenario, "") << "no experts";
}

TEST(MaxText, knows_the_older_name_of_a_policy_and_refuses_one_that_there_is_not) {
  const auto policy = [](const std::string& name) {
    return answer_of("model_name=llama3-8b remat_policy=" + name).imported.scenario;
  };
  EXPECT_NE(policy("minimal_flash"), "");
  EXPECT_EQ(policy("minimal_flash"), policy("minimal_with_context"));
  const LauncherAnswer none = answer_of("model_name=llama3-8b remat_policy=nonsense");
  ASSERT_EQ(none.problems.size(), 1u);
  EXPECT_NE(none.problems[0].find("file:1:"), std::string::npos) << none.problems[0];
  EXPECT_NE(none.problems[0].find("remat_policy is \"nonsense\""), std::string::npos) << none.problems[0];
}

TEST(MaxText, keeps_and_offloads_what_a_custom_policy_says) {
  const auto custom = [](const std::string& settings) {
    return answer_of("model_name=llama3-8b remat_policy=custom " + settings);
  };
  const Job job = job_of(custom("decoder_layer_input=offload qkv_proj=device mlpwi_0=device mlpwo=remat"));
  EXPECT_EQ(job.recompute_names, (std::vector<std::string>{"mlpwi_0", "qkv_proj"}));
  EXPECT_EQ(job.offloaded, (std::vector<std::string>{"decoder_layer_input"}));
  EXPECT_EQ(job_of(custom("")).recompute,
            job_of(answer_of("model_name=llama3-8b remat_policy=full")).recompute);
  EXPECT_EQ(custom("kv_proj=device").imported.needs_to_run.at(0).option, "--set kv_proj=remat");
  EXPECT_NE(custom("qkv_proj=save").problems.at(0).find("expected remat, device or offload"),
            std::string::npos);
}

TEST(MaxText, tells_of_a_model_its_experts) {
  EXPECT_TRUE(has(answer_of("model_name=mixtral-8x7b").imported.text, "8 experts of 14,336, 2 per token"));
}

}  // namespace
}  // namespace podsim::maxtext_test
