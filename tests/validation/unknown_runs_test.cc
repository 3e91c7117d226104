// Rows of software, chips and models that the catalogue knows little of.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/validation/example_run.h"
#include "validation/validate_runs.h"

namespace podsim::unknown_runs_test {
namespace {

TEST(UnknownRuns, a_table_changes_the_fields_of_a_model_that_is_named) {
  const RunScenario named = scenario({{"catalog_model", "llama3_70b"}, {"model_fields", "layers: 40"}});
  EXPECT_EQ(spec_of(named).job.model.layers, 40);
  const RunScenario found = scenario({{"model_fields", "layers: 40"}});
  EXPECT_EQ(found.model, "llama3_70b");
  EXPECT_EQ(spec_of(found).job.model.layers, 40);
}

TEST(UnknownRuns, rules_see_a_chip_by_any_of_its_names) {
  EXPECT_EQ(scenario({{"chip", "NVIDIA H200"}}).fabric, "dgx_h200");
  EXPECT_EQ(scenario({{"chip", "AMD Instinct MI300X"}}).fabric, "mi300x_mesh");
  EXPECT_EQ(scenario({{"chip", "H100-PCIe"}}).fabric, "pcie_h100");
  EXPECT_EQ(scenario({{"chip", "v3"}}).fabric, "v3_pod");
}

TEST(UnknownRuns, software_that_is_not_told_is_a_generic_one) {
  EXPECT_EQ(scenario({{"stack", ""}}).stack, "generic_eager");
  EXPECT_EQ(scenario({{"stack", ""}, {"dp_sharding", "fsdp"}, {"sp", "0"}}).stack, "generic_fsdp");
  EXPECT_EQ(scenario({{"stack", ""}, {"framework", "Megatron-LM"}}).stack, "generic_megatron");
  EXPECT_EQ(scenario({{"stack", ""}, {"chip", "v3"}}).stack, "generic_xla");
}

TEST(UnknownRuns, overlap_that_a_source_states_is_that_of_a_generic_stack_alone) {
  const auto stack = [](const char* name, const char* fields = "") {
    return spec_of(scenario({{"stack", name}, {"comm_overlap", "dp+tp+pp"}, {"stack_fields", fields}}))
        .job.stack;
  };
  EXPECT_EQ(stack("generic_megatron").tensor_hidden, 0.75);
  EXPECT_EQ(stack("generic_megatron").tensor_chunks, 4);
  EXPECT_EQ(stack("generic_megatron").send_exposed, 0);
  EXPECT_EQ(stack("generic_megatron", "interference: 0.2").tensor_hidden, 0.3) << "the table has said it all";
  EXPECT_EQ(stack("megatron_2023").tensor_hidden,
            spec_of(scenario({{"stack", "megatron_2023"}})).job.stack.tensor_hidden);
}

TEST(UnknownRuns, a_table_may_name_the_kernel_of_attention) {
  EXPECT_EQ(spec_of(scenario({{"attention_kernel", "flash1"}})).job.stack.attention_kernel, "flash1");
  const auto kernel = [](const char* stack) {
    return spec_of(scenario({{"family", "mosaic-h100"}, {"stack", stack}})).job.stack.attention_kernel;
  };
  EXPECT_EQ(kernel("generic_fsdp"), "flash1") << "as the family's source says";
  EXPECT_EQ(kernel("fms_fsdp"), "flash2");
}

TEST(UnknownRuns, a_chip_without_a_price_is_simulated) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "podsim_no_price";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mine.textproto")
      << "chip { name: \"mine\" matmul { dtype: bf16 peak_tflops: 900 sustained: 0.7 } hbm_capacity_gib: 80 "
         "hbm_bandwidth_gb_per_s: 3000 power_idle_w: 90 power_busy_w: 600 "
         "attention { kernel: \"cudnn\" forward: 0.5 backward: 0.4 } }\n";
  Catalog own;
  ASSERT_TRUE(own.add_directory(folder.string()).empty());
  const RunScenario run = run_scenario(row_of({{"chip", "mine"},
                                               {"fabric", "dgx_h100"},
                                               {"stack", "nemo_2024"},
                                               {"chips", "8"},
                                               {"dp", "8"},
                                               {"catalog_model", "llama3_8b"},
                                               {"seq_len", "4096"},
                                               {"global_batch_seqs", "8"}}),
                                       builtin_run_rules(), own);
  const LoadResult loaded = load_scenario("r", run.text, own, {});
  EXPECT_TRUE(loaded.spec.has_value()) << run.text << format_problem(loaded.problems.at(0));
}

TEST(UnknownRuns, experts_on_all_data_ranks_cut_the_state_of_the_dense_weights) {
  const auto run = [](const char* dp_sharding) {
    return scenario({{"catalog_model", "mixtral_8x7b"},
                     {"n_experts", "8"},
                     {"chips", "8"},
                     {"ep", "8"},
                     {"dp", "8"},
                     {"tp", "1"},
                     {"sp", "0"},
                     {"pp", "1"},
                     {"vp", "1"},
                     {"dp_sharding", dp_sharding}});
  };
  EXPECT_EQ(mesh_of(spec_of(run("zero1"))), (Axes{{"expert", 8}}));
  const auto state = [&](const char* sharding) {
    return predict_run(run(sharding), catalog()).report.memory.optimizer;
  };
  EXPECT_LT(state("zero1"), state("ddp"));
}

}  // namespace
}  // namespace podsim::unknown_runs_test
