// Numbers of the catalogue by path: read, set, listed, and rewritten in their files.
#include <gtest/gtest.h>

#include <algorithm>

#include "proto/catalog/catalog.h"
#include "proto/catalog/rewrite_numbers.h"

namespace podsim::catalog_numbers_test {
namespace {

using Section = Catalog::Section;

constexpr const char* kFile = R"(# Chips of a test.
chip {
  name: "one"
  matmul { dtype: bf16 peak_tflops: 100 sustained: 0.5 }  # measured: 0.5
  matmul { dtype: fp8 peak_tflops: 200 sustained:   0.25, }
  hbm_capacity_gib: 80 hbm_bandwidth_gb_per_s: 1000
  hbm_efficiency:
      0.8  # of a copy
  power_idle_w: 90 power_busy_w: 650
}

# The other.
chip {
  name: "two"
  matmul { dtype: bf16 peak_tflops: 100 sustained: 0.5 }
  hbm_capacity_gib: 80 hbm_bandwidth_gb_per_s: 1000
  power_idle_w: 90 power_busy_w: 650
}
)";

NumberChange change(const std::string& entry, const std::string& path, double value) {
  return {Section::kChips, entry, path, value};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(CatalogNumbers, elements_of_lists_go_by_their_first_field) {
  const Catalog catalog;
  EXPECT_EQ(catalog.number(Section::kChips, "h100", "matmul.bf16.peak_tflops"), 989);
  EXPECT_TRUE(catalog.number(Section::kChips, "h100", "attention.flash2.forward").has_value());
  EXPECT_TRUE(catalog.number(Section::kFabrics, "dgx_h100", "gpu_cluster.nic.efficiency").has_value());
}

TEST(CatalogNumbers, what_is_not_there_is_nothing) {
  const Catalog catalog;
  for (const char* path : {"", "matmul", "matmul.bf16", "matmul.fp4.sustained", "compute_units", "name",
                           "none", "hbm_efficiency.x", "matmul.bf16.sustained.x"})
    EXPECT_FALSE(catalog.number(Section::kChips, "h100", path).has_value()) << path;
  EXPECT_FALSE(catalog.number(Section::kChips, "h10", "hbm_efficiency").has_value());
  EXPECT_FALSE(catalog.number(Section::kStacks, "h100", "hbm_efficiency").has_value());
  EXPECT_FALSE(catalog.number(Section::kFabrics, "dgx_h100", "torus.ici.efficiency").has_value());
}

TEST(CatalogNumbers, what_is_set_is_read_and_reaches_only_its_entry) {
  Catalog catalog;
  const auto other = catalog.number(Section::kChips, "h200", "matmul.bf16.sustained");
  EXPECT_TRUE(catalog.set_number(Section::kChips, "h100", "matmul.bf16.sustained", 0.123));
  EXPECT_EQ(catalog.number(Section::kChips, "h100", "matmul.bf16.sustained"), 0.123);
  EXPECT_EQ(catalog.number(Section::kChips, "h200", "matmul.bf16.sustained"), other);
  EXPECT_FALSE(catalog.set_number(Section::kChips, "h100", "matmul.bf16.sustaind", 0.2));
  EXPECT_FALSE(catalog.set_number(Section::kChips, "none", "hbm_efficiency", 0.2));
}

TEST(CatalogNumbers, every_listed_path_leads_to_a_number) {
  const Catalog catalog;
  const auto paths = catalog.numbers(Section::kStacks, "torchtitan");
  EXPECT_EQ(std::ranges::count(paths, "gemm_factor"), 1);
  for (const std::string& path : paths)
    EXPECT_TRUE(catalog.number(Section::kStacks, "torchtitan", path).has_value()) << path;
  EXPECT_TRUE(catalog.numbers(Section::kStacks, "none").empty());
}

TEST(RewriteNumbers, only_the_number_changes) {
  const auto rewritten = rewrite_numbers("f", kFile, {change("one", "matmul.bf16.sustained", 0.61)});
  EXPECT_TRUE(rewritten.problems.empty());
  EXPECT_EQ(rewritten.text, replaced(kFile, "sustained: 0.5 }  #", "sustained: 0.61 }  #"));
}

TEST(RewriteNumbers, blanks_commas_and_line_ends_around_a_number_stay) {
  const auto rewritten = rewrite_numbers(
      "f", kFile, {change("one", "hbm_efficiency", 0.75), change("one", "matmul.fp8.sustained", 0.3)});
  EXPECT_EQ(rewritten.text, replaced(replaced(kFile, "      0.8  #", "      0.75  #"), "sustained:   0.25,",
                                     "sustained:   0.3,"));
}

TEST(RewriteNumbers, the_entry_is_found_by_its_name) {
  const auto rewritten = rewrite_numbers("f", kFile, {change("two", "matmul.bf16.sustained", 0.61)});
  const std::string text = kFile;
  EXPECT_EQ(rewritten.text, text.substr(0, text.rfind("0.5")) + "0.61" + text.substr(text.rfind("0.5") + 3));
}

TEST(RewriteNumbers, a_number_that_has_its_value_keeps_its_text) {
  const std::string text = replaced(kFile, "sustained: 0.5 }  #", "sustained: 5.0e-1 }  #");
  const auto rewritten = rewrite_numbers("f", text, {change("one", "matmul.bf16.sustained", 0.5)});
  EXPECT_EQ(rewritten.text, text);
  EXPECT_EQ(rewritten.done, std::vector<std::size_t>{0});
}

TEST(RewriteNumbers, what_the_file_does_not_state_is_left_to_other_files) {
  const auto rewritten =
      rewrite_numbers("f", kFile,
                      {change("three", "hbm_efficiency", 0.5), change("two", "hbm_efficiency", 0.5),
                       change("one", "hbm_efficiency", 0.5)});
  EXPECT_EQ(rewritten.done, std::vector<std::size_t>{2});
}

TEST(RewriteNumbers, a_value_beyond_its_range_is_told_and_nothing_is_changed) {
  const auto rewritten = rewrite_numbers("f", kFile, {change("one", "hbm_efficiency", 1.5)});
  ASSERT_EQ(rewritten.problems.size(), 1u);
  EXPECT_EQ(rewritten.problems[0].line, 7);
  EXPECT_EQ(rewritten.text, kFile);
}

TEST(RewriteNumbers, a_file_that_cannot_be_read_is_told) {
  EXPECT_FALSE(rewrite_numbers("f", "chip { name: ", {}).problems.empty());
}

}  // namespace
}  // namespace podsim::catalog_numbers_test
