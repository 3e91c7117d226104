// First scenarios: of every kind of model on every kind of cluster, one that loads and fits, or a reason.
#include "planner/starter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/search/search.h"
#include "prediction/memory_need.h"
#include "prediction/predict.h"
#include "proto/scenario/load_space.h"
#include "tests/prediction/scenario.h"

namespace podsim::starter_test {
namespace {

const Catalog& catalog() {
  static const Catalog built_in;
  return built_in;
}

Starter starter(const std::string& model, const std::string& chip, int chips) {
  StarterRequest request;
  request.model = model;
  request.chip = chip;
  request.chips = chips;
  return starter_scenario(request, catalog());
}

struct Asked {
  const char* model;
  const char* chip;
  int chips;
};

// A chip of one's own, as `like` is but for its name, in no list or in one of its own.
Starter of_own_chip(const std::string& prices, std::optional<double> usd_per_chip_hour) {
  Catalog with_own;
  std::string text = *with_own.text(Catalog::Section::kChips, "a100_80");
  for (std::size_t at = text.find("alias:"); at != std::string::npos; at = text.find("alias:")) {
    const std::size_t begins = text.rfind('\n', at);
    text.erase(begins, text.find('\n', at) - begins);
  }
  text.replace(text.find("a100_80"), std::string("a100_80").size(), "inv");
  for (const Problem& problem : with_own.add_text("own", text + prices))
    ADD_FAILURE() << format_problem(problem);
  StarterRequest request;
  request.model = "llama3_8b";
  request.chip = "inv";
  request.chips = 64;
  request.fabric = "dgx_a100";
  request.usd_per_chip_hour = usd_per_chip_hour;
  return starter_scenario(request, with_own);
}

TEST(Starter, a_chip_without_a_price_has_that_of_the_user_or_of_a_list_that_knows_it) {
  const auto says = [](const Starter& starter, const std::string& line) {
    EXPECT_EQ(starter.why, "");
    EXPECT_NE(starter.text.find(line), std::string::npos) << starter.text;
  };
  says(of_own_chip("", {}), "usd_per_chip_hour: 0");
  says(of_own_chip("", 2.5), "usd_per_chip_hour: 2.5\n");
  says(of_own_chip("prices { name: \"ours\" usd_per_kwh: 0.1 price { chip: \"inv\" term: \"on_demand\" date: "
                   "\"2026-01\" source: \"ours\" "
                   "usd_per_chip_hour: 2 } }",
                   {}),
       "prices: \"ours\"");
  EXPECT_EQ(starter("llama3_8b", "h100", 8).text.find("usd_per_chip_hour"), std::string::npos);
}

TEST(Starter, compilers_of_the_kind_run_on_gaudi) {
  for (const char* chip : {"gaudi2", "gaudi3"}) {
    StarterRequest request;
    request.model = "llama3_8b";
    request.chip = chip;
    request.chips = 64;
    request.stack = "generic_xla";
    EXPECT_EQ(starter_scenario(request, catalog()).why, "") << chip;
  }
}

TEST(Starter, of_every_kind_of_model_and_cluster_loads_and_fits) {
  for (const Asked& asked : std::vector<Asked>{{"llama3_8b", "h100", 8},
                                               {"llama3_70b", "h100", 64},
                                               {"llama3_70b", "a100_40", 64},
                                               {"mixtral_8x7b", "h100", 64},
                                               {"gpt3_5b", "v100", 64},
                                               {"llama3_8b", "l40s", 64},
                                               {"llama3_8b", "gb200", 72},
                                               {"llama3_8b", "tpu_v5e", 512},
                                               {"llama3_70b", "tpu_v5p", 64},
                                               {"bert_large", "tpu_v3", 8},
                                               {"t5_large", "tpu_v2", 8},
                                               {"vit_l_16", "tpu_v6e", 8},
                                               {"resnet50", "tpu_v4", 64},
                                               {"dlrm_8_tables", "h100", 8},
                                               {"nemotron_h_56b", "h100", 512}}) {
    const std::string what =
        std::string(asked.model) + " on " + std::to_string(asked.chips) + " " + asked.chip;
    const Starter first = starter(asked.model, asked.chip, asked.chips);
    ASSERT_EQ(first.why, "") << what;
    const LoadResult loaded = load_scenario("first.textproto", first.text, catalog(), {});
    ASSERT_TRUE(loaded.spec) << what << "\n" << first.text;
    EXPECT_TRUE(loaded.warnings.empty()) << what << "\n"
                                         << format_problem(loaded.warnings.front()) << first.text;
    EXPECT_TRUE(memory_needs(*loaded.spec).front().fits()) << what;
    EXPECT_GT(first.step_time_s, 0) << what;
    EXPECT_LE(first.needed_gib, first.capacity_gib) << what;
  }
}

TEST(Starter, has_the_tokens_that_a_sample_of_the_model_has) {
  for (const auto& [model, tokens] : std::vector<std::pair<std::string, int>>{{"dit_xl_2", 1},
                                                                              {"sdxl_unet", 1},
                                                                              {"flux1_dev", 1},
                                                                              {"resnet50", 1},
                                                                              {"whisper_small", 1500},
                                                                              {"whisper_large_v3", 1500},
                                                                              {"t5_large", 512},
                                                                              {"vit_l_16", 197},
                                                                              {"bert_large", 512},
                                                                              {"llama3_8b", 4096}}) {
    const Starter first = starter(model, "h100", 8);
    ASSERT_EQ(first.why, "") << model;
    const LoadResult loaded = load_scenario("first.textproto", first.text, catalog(), {});
    ASSERT_TRUE(loaded.spec) << model;
    EXPECT_EQ(loaded.spec->job.sequence, tokens) << model;
    EXPECT_TRUE(loaded.warnings.empty()) << model << ": " << format_problem(loaded.warnings.front());
  }
}

// The gap of its own search, and as much for what the usual layouts leave out.
TEST(Starter, is_at_most_six_percent_slower_than_what_a_search_of_all_layouts_finds) {
  for (const Asked& asked : std::vector<Asked>{{"gpt_oss_20b", "h100", 16},
                                               {"qwen3_30b_a3b", "h100", 32},
                                               {"mixtral_8x7b", "tpu_v5p", 64},
                                               {"llama3_8b", "h100", 16},
                                               {"llama3_70b", "h100", 64},
                                               {"llama3_8b", "tpu_v5e", 64},
                                               {"t5_11b", "h100", 16},
                                               {"bert_large", "tpu_v3", 8}}) {
    const std::string what =
        std::string(asked.model) + " on " + std::to_string(asked.chips) + " " + asked.chip;
    const Starter first = starter(asked.model, asked.chip, asked.chips);
    const LoadSearchResult loaded = load_search("first.textproto", first.text, catalog(), {});
    ASSERT_TRUE(loaded.question) << what << first.why;
    SearchOptions options;
    options.top = 1;
    const SearchAnswer best = search(Space(loaded.question->spec, loaded.question->space), options);
    ASSERT_FALSE(best.best.empty()) << what;
    EXPECT_LE(first.step_time_s, 1.06 * best.best.front().figures.step_time.in_seconds()) << what << "\n"
                                                                                          << first.text;
  }
}

TEST(Starter, leaves_free_what_a_search_leaves_free_or_says_that_no_layout_does) {
  const double headroom = LayoutSpace{}.memory_headroom_share;
  for (const Asked& asked : std::vector<Asked>{{"t5_11b", "h100", 16},
                                               {"gpt_oss_20b", "h100", 16},
                                               {"deepseek_v2_lite", "h100", 32},
                                               {"llama3_8b", "rtx_4090", 8},
                                               {"palm_8b", "h100", 64},
                                               {"gemma3_27b", "h100", 8}}) {
    const std::string what =
        std::string(asked.model) + " on " + std::to_string(asked.chips) + " " + asked.chip;
    const Starter first = starter(asked.model, asked.chip, asked.chips);
    if (first.text.empty()) continue;
    const bool has_room = first.needed_gib <= (1 - headroom) * first.capacity_gib;
    EXPECT_EQ(first.text.find("none leaves") == std::string::npos, has_room) << what << first.text;
    const LoadResult loaded = load_scenario("first.textproto", first.text, catalog(), {});
    ASSERT_TRUE(loaded.spec) << what;
    EXPECT_TRUE(!has_room || memory_warnings(*loaded.spec).empty()) << what;
  }
  const Starter roomy = starter("t5_11b", "h100", 16);
  EXPECT_LE(roomy.needed_gib, (1 - headroom) * roomy.capacity_gib) << roomy.text;
}

TEST(Starter, takes_a_batch_that_the_number_of_chips_does_not_divide) {
  for (const auto& [asked, batch] :
       std::vector<std::pair<Asked, int>>{{{"llama3_70b", "h100", 512}, 256},
                                          {{"llama3_8b", "h100", 64}, 32},
                                          {{"llama3_8b", "h100", 64}, 100},
                                          {{"llama3_70b", "tpu_v5p", 512}, 256}}) {
    const Starter first =
        starter_scenario({asked.model, asked.chip, asked.chips, "", "", {}, batch, {}}, catalog());
    ASSERT_EQ(first.why, "") << asked.model << " " << batch;
    const LoadResult loaded = load_scenario("first.textproto", first.text, catalog(), {});
    ASSERT_TRUE(loaded.spec) << first.text;
    EXPECT_EQ(loaded.spec->job.global_batch, batch);
  }
}

// At most 8 x 16 chips share a sequence, so that 4 sequences are the fewest that 512 chips take at once.
TEST(Starter, names_the_nearest_batches_where_no_layout_divides_one) {
  const Starter none = starter_scenario({"llama3_8b", "h100", 512, "", "", {}, 63, {}}, catalog());
  EXPECT_EQ(none.text, "");
  EXPECT_NE(none.why.find("63 sequences comes out even on no usual layout"), std::string::npos) << none.why;
  EXPECT_NE(none.why.find("; 60 or 64 would"), std::string::npos) << none.why;
  const Starter program = starter_scenario({"resnet50", "h100", 64, "", "", {}, 63, {}}, catalog());
  EXPECT_NE(program.why.find("63 sequences comes out even on no usual layout"), std::string::npos)
      << program.why;
}

TEST(Starter, tells_how_much_of_its_search_is_done) {
  std::vector<double> shares;
  const Starter first = starter_scenario({"mixtral_8x7b", "h100", 16, "", "", {}, {}, {}}, catalog(),
                                         [&](double share) { shares.push_back(share); });
  ASSERT_EQ(first.why, "");
  ASSERT_FALSE(shares.empty());
  EXPECT_GE(std::ranges::min(shares), 0);
  EXPECT_LE(std::ranges::max(shares), 1);
  EXPECT_GT(shares.back(), shares.front());
}

TEST(Starter, a_compiler_of_programs_is_on_gpus_the_stack_that_the_guide_names) {
  const auto of_stack = [](const char* chip, const char* stack) {
    return starter_scenario({"llama3_8b", chip, 16, "", stack, {}, {}, {}}, catalog());
  };
  EXPECT_NE(of_stack("h100", "jax").text.find("stack: \"generic_compiled\""), std::string::npos)
      << of_stack("h100", "jax").why;
  EXPECT_NE(of_stack("tpu_v5p", "jax").text.find("stack: \"generic_xla\""), std::string::npos);
  const std::string why = of_stack("h100", "generic_xla").why;
  EXPECT_NE(why.find("without --stack"), std::string::npos) << why;
  EXPECT_EQ(why.find("stack_override"), std::string::npos) << why;
}

TEST(Starter, chips_that_the_fabric_cannot_have_are_told) {
  EXPECT_NE(starter("llama3_8b", "tpu_v5p", 7).why.find("7"), std::string::npos);
  EXPECT_EQ(starter("llama3_8b", "tpu_v5p", 7).text, "");
}

TEST(Starter, too_few_chips_name_a_number_that_would_do) {
  const Starter none = starter("llama3_70b", "h100", 2);
  const std::string end = " chips would do";
  ASSERT_GT(none.why.size(), end.size());
  const std::size_t number = none.why.rfind(' ', none.why.size() - end.size() - 1);
  const int enough = std::stoi(none.why.substr(number));
  EXPECT_GT(enough, 2);
  EXPECT_EQ(starter("llama3_70b", "h100", enough).why, "");
  EXPECT_NE(starter("llama3_70b", "h100", enough / 2).why, "");
}

TEST(Starter, says_of_no_number_of_chips_that_was_not_tried_that_nothing_would_fit) {
  const auto why = [](int chips) {
    return starter_scenario({"llama3_70b", "l40s", chips, "", "", 4'000'000, {}, {}}, catalog()).why;
  };
  EXPECT_NE(why(40'000).find("more chips were not tried: twice as many are above the 65536"),
            std::string::npos)
      << why(40'000);
  EXPECT_NE(why(32'768).find("would fit on twice as many either"), std::string::npos) << why(32'768);
  EXPECT_EQ(why(32'768).find("up to"), std::string::npos) << why(32'768);
  EXPECT_NE(why(8'192).find("nor on any doubling up to 65536"), std::string::npos) << why(8'192);
}

TEST(Starter, parameters_are_spread_over_slices_where_one_cannot_hold_them) {
  const Starter over_slices = starter("maxtext_1t", "tpu_v6e", 1024);
  ASSERT_EQ(over_slices.why, "");
  EXPECT_NE(over_slices.text.find("slices: 4"), std::string::npos) << over_slices.text;
  EXPECT_EQ(over_slices.text.find("name: \"data\""), std::string::npos) << over_slices.text;
  EXPECT_LE(over_slices.needed_gib, over_slices.capacity_gib);
}

// What `check` tells of memory is what `run` finds.
TEST(MemoryNeed, is_that_of_the_report) {
  for (const char* name :
       {"llama3_70b_512_h100", "llama3_70b_512_v5p", "mixtral_8x7b_64_h100", "resnet50_256_v4"}) {
    const Spec spec = testing::load(name);
    const Report report = predict_step(spec, {}).report;
    const MemoryNeed need = memory_needs(spec).front();
    EXPECT_NEAR(need.needed.value / (1024.0 * 1024 * 1024), report.memory.total, 1e-9) << name;
    EXPECT_EQ(need.stage, report.memory.worst_stage) << name;
  }
}

}  // namespace
}  // namespace podsim::starter_test
