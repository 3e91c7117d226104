// Entries of the catalogue by their aliases, and what is said of names that it does not have.
#include "proto/catalog/entry_name.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "proto/scenario/chosen_fabric.h"
#include "tests/proto/scenario.h"

namespace podsim::entry_name_test {
namespace {

using Section = Catalog::Section;

constexpr Section kSections[] = {Section::kChips,    Section::kFabrics,  Section::kModels,
                                 Section::kStacks,   Section::kPrices,   Section::kTransports,
                                 Section::kFailures, Section::kJitters,  Section::kLengths,
                                 Section::kKernels,  Section::kLibraries};

TEST(EntryName, case_separators_and_organisation_make_no_difference) {
  EXPECT_EQ(entry_key("Llama-2-7b"), entry_key("llama2_7b"));
  EXPECT_EQ(without_organisation("meta-llama/Llama-2-7b"), "Llama-2-7b");
  EXPECT_EQ(built_in().canonical(Section::kModels, "meta-llama/Llama-2-7b"), "llama2_7b");
  EXPECT_EQ(built_in().canonical(Section::kModels, "DiT-XL/2"), "dit_xl_2");
  EXPECT_EQ(entry_key("TPU v5p"), entry_key("tpu_v5p"));
  EXPECT_EQ(entry_key("Llama-3.1-70B"), entry_key("llama_3_1_70b"));
}

TEST(EntryName, a_separator_between_two_digits_counts) {
  EXPECT_NE(entry_key("Qwen2.5-7B"), entry_key("qwen2_57b"));
  EXPECT_NE(entry_key("Qwen2.5-7B"), entry_key("qwen25_7b"));
  EXPECT_EQ(entry_key("a100--80"), entry_key("A100.80"));
}

TEST(EntryName, no_name_or_alias_means_two_entries) {
  for (const Section section : kSections) {
    std::map<std::string, std::string> owners;
    for (const std::string& name : built_in().names(section)) {
      Lines known = built_in().aliases(section, name);
      known.push_back(name);
      for (const std::string& each : known) {
        const auto [owner, is_new] = owners.try_emplace(entry_key(each), name);
        EXPECT_TRUE(is_new) << each << " is a name of " << name << " and of " << owner->second;
        EXPECT_EQ(built_in().canonical(section, each), name);
      }
    }
  }
}

TEST(EntryName, a_scenario_takes_aliases_and_speaks_of_the_entries) {
  std::string text = valid_but("\"h100\"", "\"NVIDIA H100 80GB HBM3\"");
  text = replaced(text, "dgx_h100", "DGX H100");
  text = replaced(text, "llama3_70b", "meta-llama/Meta-Llama-3-70B");
  text = replaced(text, "megatron_bridge_2025", "Megatron-Bridge-2025");
  const auto result = load(text);
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_TRUE(result.warnings.empty()) << format_problem(result.warnings.front());
  EXPECT_EQ(result.spec->cluster.chip.name, "h100");
  EXPECT_EQ(result.spec->cluster.fabric.name, "dgx_h100");
  EXPECT_EQ(result.spec->job.model.name, "llama3_70b");
  EXPECT_EQ(result.spec->job.stack.name, "megatron_bridge_2025");
}

TEST(EntryName, an_override_of_the_command_line_takes_aliases) {
  const auto result = load(valid_scenario(), {{"job.model", "Llama-2-70b-hf"}});
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->job.model.name, "llama2_70b");
}

TEST(EntryName, a_name_that_fits_several_entries_is_taken_with_a_warning) {
  const auto result = load(replaced(valid_but("\"h100\"", "\"A100\""), "dgx_h100", "dgx_a100"));
  ASSERT_EQ(problems_of(result), Lines{});
  EXPECT_EQ(result.spec->cluster.chip.name, "a100_80");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message, "\"A100\" is taken as a100_80");
  EXPECT_EQ(result.warnings[0].hint, "it could be: a100_40, a100_pcie");
}

TEST(EntryName, the_others_that_a_name_fits_are_found_by_their_aliases_too) {
  std::string text = replaced(valid_but("\"h100\"", "\"v5\""), "dgx_h100", "v5p_pod");
  const auto result = load(replaced(text, "megatron_bridge_2025", "maxtext_2025"));
  ASSERT_EQ(problems_of(result), Lines{});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message, "\"v5\" is taken as tpu_v5p");
  EXPECT_EQ(result.warnings[0].hint, "it could be: tpu_v5e");
}

TEST(EntryName, a_network_is_found_by_alias) {
  const auto [spec, problems] = chosen_fabric(built_in(), {"p5.48xlarge", 64, {}, 1, false});
  ASSERT_TRUE(problems.empty()) << format_problem(problems.front());
  EXPECT_EQ(spec->name, "dgx_h100_efa");
}

TEST(EntryName, an_override_has_no_alias) {
  EXPECT_EQ(problems_of(valid_but("  chips: 512", "  chips: 512 chip_override { alias: \"mine\" }")),
            Lines{"4:30 cluster.chip_override.alias has no effect: entries of the catalogue have aliases | "
                  "leave it out"});
}

TEST(EntryName, an_added_entry_goes_before_an_alias_of_the_binary_and_behind_its_names) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "podsim_alias";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "mine.textproto")
      << "stack { name: \"mine\" alias: \"NeMo\" alias: \"torchtitan\" attention_kernel: \"flash2\" }\n";
  Catalog catalog;
  ASSERT_TRUE(catalog.add_directory(folder.string()).empty());
  EXPECT_EQ(catalog.canonical(Section::kStacks, "nemo"), "mine");
  EXPECT_EQ(catalog.canonical(Section::kStacks, "nemo_2024"), "nemo_2024");
  EXPECT_EQ(catalog.canonical(Section::kStacks, "torchtitan"), "torchtitan");
}

TEST(EntryName, an_unknown_name_is_told_with_the_entry_that_is_meant_its_family_or_all) {
  EXPECT_EQ(built_in().hint(Section::kModels, "meta-lama/Meta-Lama-3-70B"), "did you mean \"llama3_70b\"?");
  EXPECT_EQ(built_in().hint(Section::kChips, "h10"),
            "of this family it has: h100, h100_500w, h100_pcie, h20, h200, h800");
  EXPECT_EQ(built_in().hint(Section::kChips, "gh200").substr(0, 24), "it has: a100_40, a100_80");
  EXPECT_EQ(built_in().hint(Section::kFailures, "rsc3"), "of this family it has: rsc1, rsc2");
}

}  // namespace
}  // namespace podsim::entry_name_test
