// podsim catalog: sections, entries, aliases, added folders.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

namespace podsim {
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

TEST(CatalogVerb, lists_aliases_and_finds_entries_by_them) {
  EXPECT_NE(podsim_command("catalog chips").out.find("a100_80 = A100-80GB, "), std::string::npos);
  const json listed = json::parse(podsim_command("catalog chips --format json").out);
  EXPECT_EQ(listed["aliases"]["chips"]["tpu_v5p"][0], "v5p");
  EXPECT_EQ(podsim_command("catalog chips 'TPU v5p'").out, podsim_command("catalog chips tpu_v5p").out);
  EXPECT_EQ(podsim_command("collective --fabric 'DGX H100' --chips 64 --bytes 1MiB").out,
            podsim_command("collective --fabric dgx_h100 --chips 64 --bytes 1MiB").out);
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
}  // namespace podsim
