// podsim catalog: sections, entries, aliases, added folders.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim::catalog_test {
namespace {

using nlohmann::json;

TEST(CatalogVerb, lists_sections_names_and_entries) {
  EXPECT_NE(podsim_command("catalog").out.find("fabrics"), std::string::npos);
  const CommandResult chips = podsim_command("catalog chips");
  EXPECT_EQ(chips.exit_code, 0) << chips.err;
  EXPECT_NE(chips.out.find("h100"), std::string::npos);
  const CommandResult entry = podsim_command("catalog chips h100");
  EXPECT_EQ(entry.exit_code, 0) << entry.err;
  EXPECT_NE(entry.out.find("hbm_bandwidth_gb_per_s"), std::string::npos);
}

TEST(CatalogVerb, refuses_json_of_what_is_text_format) {
  for (const char* asked : {"chips h100", "prices list_2026", "new-chip my_card"}) {
    const CommandResult refused = podsim_command("catalog " + std::string(asked) + " --format json");
    EXPECT_EQ(refused.exit_code, 2) << asked;
    EXPECT_EQ(refused.out, "") << asked;
    EXPECT_NE(refused.err.find("--format json"), std::string::npos) << refused.err;
  }
}

TEST(CatalogVerb, lists_aliases_and_finds_entries_by_them) {
  EXPECT_NE(podsim_command("catalog chips").out.find("a100_80 = A100-80GB, "), std::string::npos);
  const json listed = json::parse(podsim_command("catalog chips --format json").out);
  EXPECT_EQ(listed["aliases"]["chips"]["tpu_v5p"][0], "v5p");
  EXPECT_EQ(podsim_command("catalog chips 'TPU v5p'").out, podsim_command("catalog chips tpu_v5p").out);
  EXPECT_EQ(podsim_command("collective --fabric 'DGX H100' --chips 64 --bytes 1MiB").out,
            podsim_command("collective --fabric dgx_h100 --chips 64 --bytes 1MiB").out);
}

TEST(CatalogVerb, prices_of_a_slice_are_those_of_its_chips) {
  const json slice = json::parse(podsim_command("catalog prices v5p-8 --format json").out);
  EXPECT_EQ(slice["chips"], 4);
  const json& on_demand = slice["prices"][0];
  EXPECT_EQ(on_demand["chip"], "tpu_v5p");
  EXPECT_EQ(on_demand["term"], "on_demand");
  EXPECT_NEAR(on_demand["usd_per_hour"].get<double>(), 4 * 4.20, 1e-9);
  const CommandResult table = podsim_command("catalog prices v5p-8");
  EXPECT_NE(table.out.find("v5p-8 is a slice of 4 chips"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("16.80"), std::string::npos) << table.out;
  EXPECT_NE(podsim_command("catalog prices list_2026").out.find("slice_name"), std::string::npos);
  EXPECT_NE(podsim_command("catalog prices").out.find("coreweave"), std::string::npos);
  EXPECT_EQ(podsim_command("catalog prices v9-8").exit_code, 2);
}

TEST(CatalogVerb, a_new_chip_has_the_figures_of_its_data_sheet_and_loads) {
  const CommandResult made = podsim_command(
      "catalog new-chip my_card --like a100_80 --peak-tflops 624 --hbm-gb 100 --hbm-gb-per-s 3000 --power-w "
      "500");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.out.find("dtype: bf16 peak_tflops: 624 "), std::string::npos) << made.out;
  EXPECT_NE(made.out.find("hbm_capacity_gib: 99 "), std::string::npos);
  EXPECT_NE(made.out.find("hbm_bandwidth_gb_per_s: 3000 "), std::string::npos);
  EXPECT_NE(made.out.find("power_busy_w: 465 "), std::string::npos);
  EXPECT_NE(made.out.find("compute_units: 108  # assumed as a100_80"), std::string::npos);
  EXPECT_EQ(made.out.find("alias"), std::string::npos);

  const std::string file = temporary_file("my_card.textproto", made.out);
  const std::string own = std::filesystem::path(file).parent_path().string() + "/own_chip";
  std::filesystem::create_directories(own);
  std::filesystem::rename(file, own + "/my_card.textproto");
  const CommandResult read = podsim_command("catalog chips my_card --catalog " + own);
  EXPECT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(podsim_command("catalog new-chip --like h10").exit_code, 2);
}

TEST(CatalogVerb, a_new_chip_has_every_figure_that_was_given_or_is_refused) {
  const CommandResult fp8 =
      podsim_command("catalog new-chip x --like a100_80 --peak-tflops 400 --peak-fp8-tflops 800");
  EXPECT_NE(fp8.out.find("matmul { dtype: fp8 peak_tflops: 800 sustained: 0.773 }"), std::string::npos)
      << fp8.out;
  EXPECT_EQ(fp8.out.find("dtype: fp8"), fp8.out.rfind("dtype: fp8"));
  for (const char* given : {"--like trainium2 --compute-units 8", "--power-w 2e5", "--hbm-gb 1e9",
                            "--peak-tflops 1e8", "--like b200 --peak-tflops 1e6"}) {
    const CommandResult made = podsim_command(std::string("catalog new-chip x ") + given);
    EXPECT_NE(made.exit_code, 0) << given << "\n" << made.out;
    EXPECT_EQ(made.out, "") << given;
  }
  EXPECT_EQ(podsim_command("catalog new-chip 'my \"chip'").exit_code, 2);
}

// h100 rests at 100 W, more than this one's limit.
TEST(CatalogVerb, a_new_chip_at_rest_takes_its_share_of_the_limit) {
  const CommandResult made = podsim_command("catalog new-chip x --like h100 --power-w 90");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto watts = [&](const std::string& field) {
    const std::string line = "\n  " + field + ": ";
    return std::stod(made.out.substr(made.out.find(line) + line.size()));
  };
  EXPECT_NEAR(watts("power_busy_w"), 0.93 * 90, 0.05);
  EXPECT_GT(watts("power_idle_w"), 0);
  EXPECT_LT(watts("power_idle_w"), watts("power_busy_w"));
}

TEST(CatalogVerb, every_chip_is_one_that_a_new_one_may_be_like) {
  for (const char* like : {"mi300x", "gaudi3", "tpu_v5p", "rtx_4090"}) {
    const CommandResult made =
        podsim_command(std::string("catalog new-chip x --peak-tflops 100 --like ") + like);
    EXPECT_NE(made.out.find("peak_tflops: 100 "), std::string::npos) << like << "\n" << made.out;
  }
}

TEST(CatalogVerb, a_folder_adds_entries) {
  const std::string file = temporary_file(
      "extra_models.textproto",
      "model { name: \"tiny_test_model\" layers: 2 d_model: 64 heads: 4 ffn: 256 vocabulary: 100 }");
  const std::string own = std::filesystem::path(file).parent_path().string() + "/own_catalog";
  std::filesystem::create_directories(own);
  std::filesystem::rename(file, own + "/extra_models.textproto");
  const CommandResult result = podsim_command("catalog models --catalog " + own);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("tiny_test_model"), std::string::npos);
}

}  // namespace
}  // namespace podsim::catalog_test
