// Suggestions for mistyped names.
#include "engine/spelling.h"

#include <gtest/gtest.h>

namespace podsim::spelling_test {
namespace {

using Names = std::vector<std::string>;

const Names kChips = {"a100_40",   "a100_80", "b200",    "gb200",  "h100",
                      "h100_500w", "h200",    "tpu_v5e", "tpu_v5p"};
const Names kModels = {"gpt3_175b",  "llama2_13b", "llama2_70b", "llama31_405b",
                       "llama3_70b", "llama3_8b",  "mpt_7b"};

TEST(Nearest, a_misspelling_is_suggested) {
  EXPECT_EQ(closest_name("lama3_70b", kModels), "llama3_70b");
  EXPECT_EQ(closest_name("LLaMA3-70B", kModels), "llama3_70b");
  EXPECT_EQ(closest_name("tensr", {"data", "tensor"}), "tensor");
  EXPECT_EQ(closest_name("chpis", {"chip", "chips"}), "chips");
  EXPECT_EQ(closest_name("tpu_vp5", kChips), "tpu_v5p");
  EXPECT_EQ(closest_name("H100", kChips), "h100");
}

TEST(Nearest, a_suggestion_has_the_numbers_of_the_name) {
  EXPECT_EQ(closest_name("llama-2-7b", kModels), "");
  EXPECT_EQ(closest_name("llama3_7b", kModels), "");
  EXPECT_EQ(closest_name("h10", kChips), "");
  EXPECT_EQ(closest_name("b2000", kChips), "");
  EXPECT_EQ(closest_name("h300", kChips), "");
  EXPECT_EQ(closest_name("fp9", {"fp4", "fp8"}), "");
  EXPECT_EQ(closest_name("A2", {"A1", "A3"}), "");
}

TEST(Nearest, another_letter_beside_a_number_is_another_name) {
  EXPECT_EQ(closest_name("A100", {"h100", "v100"}), "");
  EXPECT_EQ(closest_name("gh200", {"gb200", "h100"}), "");
}

TEST(Nearest, a_part_is_suggested_where_its_numbers_are_whole) {
  EXPECT_EQ(closest_name("v5p", kChips), "tpu_v5p");
  EXPECT_EQ(closest_name("A100", kChips), "a100_40");
  EXPECT_EQ(closest_name("llama3", kModels), "llama3_70b");
  EXPECT_EQ(closest_name("h100_sxm", kChips), "h100");
  EXPECT_EQ(closest_name("gb20", kChips), "");
  EXPECT_EQ(closest_name("gh200", kChips), "");
  EXPECT_EQ(closest_name("megatronsp", {"megatron", "megatron_sp"}), "megatron_sp");
}

TEST(Nearest, has_nothing_to_say_when_no_name_is_close) {
  EXPECT_EQ(closest_name("gaudi3", {"h100", "tpu_v5p"}), "");
  EXPECT_EQ(closest_name("h100", {}), "");
  EXPECT_EQ(closest_name(std::string(10'000, 'h'), {"h100"}), "");
}

TEST(Nearest, names_beyond_64_characters_are_no_misspellings) {
  EXPECT_EQ(closest_name("", kChips), "");
  EXPECT_EQ(closest_name(std::string(65, 'a'), {std::string(64, 'a')}), "");
}

TEST(Family, has_the_first_word_and_the_first_number_if_any_has) {
  EXPECT_EQ(family("llama-2-7b", kModels), (Names{"llama2_13b", "llama2_70b"}));
  EXPECT_EQ(family("Llama-4-Scout", kModels),
            (Names{"llama2_13b", "llama2_70b", "llama31_405b", "llama3_70b", "llama3_8b"}));
  EXPECT_EQ(family("h20", kChips), (Names{"h100", "h100_500w", "h200"}));
  EXPECT_EQ(family("mi300x", kChips), Names{});
  EXPECT_EQ(family("300", kChips), Names{});
}

}  // namespace
}  // namespace podsim::spelling_test
