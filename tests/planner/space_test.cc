// The space of layouts: what is in it is what the loader accepts, and each point is one scenario.
#include "planner/space/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "planner/search/layout_fate.h"
#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "tests/planner/layout_scenario.h"
#include "tests/prediction/scenario.h"
#include "tests/rounds.h"

namespace podsim::space_test {
namespace {

using testing::LayoutQuestion;

const char* const kDense =
    "model: \"llama3_8b\" stack: \"megatron_bridge_2025\" global_batch_sequences: 96 microbatch_sequences: 1 "
    "sequence_tokens: 4096";
const char* const kExperts =
    "model: \"mixtral_8x7b\" stack: \"megatron_bridge_2025\" global_batch_sequences: 96 "
    "microbatch_sequences: 1 "
    "sequence_tokens: 4096";
const char* const kOnTorus =
    "model: \"llama3_8b\" stack: \"maxtext_2025\" global_batch_sequences: 64 microbatch_sequences: 1 "
    "sequence_tokens: 4096";

std::vector<LayoutQuestion> questions() {
  const std::string odd =
      "tensor: [1, 2, 3, 4, 6, 8, 16] context: [1, 2, 3, 4] pipeline: [1, 2, 3, 4, 6, 32, 48] microbatch: "
      "[1, 2, 3, 5] "
      "schedule: [gpipe, one_f_one_b, interleaved, zero_bubble_h1, zero_bubble_v, dualpipe] chunks: [2, 3, "
      "5, 11] "
      "sharding: [ddp, zero1, zero2, fsdp, hsdp] recompute: [none, full] recompute_layers: [0, 1]";
  return {testing::layout_question("chip: \"h100\" chips: 48 fabric: \"dgx_h100\"", kDense, odd),
          testing::layout_question("chip: \"h100\" chips: 48 fabric: \"dgx_h100\"", kExperts,
                                   odd + " expert: [1, 2, 4, 8, 16] expert_tensor: [1, 2]"),
          testing::layout_question("chip: \"tpu_v5p\" fabric: \"v5p_pod\" slice_shape: [4, 4, 4]", kOnTorus,
                                   "tensor: [1, 2, 4, 16] pipeline: [1, 4] sharding: [zero1, fsdp, hsdp]")};
}

template <class Value>
Value one_of(const std::vector<Value>& values, std::mt19937& random) {
  return values[random() % values.size()];
}

// Any product of the values of the axes; nothing where it does not make the chips.
std::optional<JobLayout> random_layout(const Space& space, std::mt19937& random) {
  const LayoutSpace& values = space.values();
  JobLayout layout;
  layout.tensor = one_of(values.tensor, random);
  layout.context = one_of(values.context, random);
  layout.pipeline = one_of(values.pipeline, random);
  layout.expert = one_of(values.expert, random);
  layout.expert_tensor = layout.expert == 1 ? layout.tensor : one_of(values.expert_tensor, random);
  if (layout.tensor % layout.expert_tensor != 0 || layout.expert * layout.expert_tensor % layout.tensor != 0)
    return std::nullopt;
  const int chips = space.spec().cluster.fabric.chips;
  if (chips % layout.chips() != 0) return std::nullopt;
  layout.data = chips / layout.chips();
  layout.sharding = one_of(values.sharding, random);
  for (int group = 1 + static_cast<int>(random() % static_cast<unsigned>(layout.data)); group > 1; --group)
    if (layout.data % group == 0) {
      layout.group = group;
      break;
    }
  layout.microbatch = values.microbatch.empty() ? 1 : one_of(values.microbatch, random);
  layout.schedule = one_of(values.schedule, random);
  layout.chunks = schedule_traits(layout.schedule).chunks.value_or(1);
  if (layout.schedule == PipelineSchedule::kInterleaved)
    layout.chunks = values.chunks.empty() ? 2 : one_of(values.chunks, random);
  layout.recompute = one_of(values.recompute, random);
  layout.recompute_layers = one_of(values.recompute_layers, random);
  return canonical(layout);
}

// Of models of 32 layers: where the layers that recompute are all of every chunk, no number says so.
JobLayout in_fewest_words(JobLayout layout) {
  const int pieces = piece_count({layout.schedule, layout.pipeline, layout.chunks, 1});
  if (layout.recompute_layers >= (32 + pieces - 1) / pieces) layout.recompute_layers = 0;
  return layout;
}

TEST(Space, has_exactly_the_layouts_that_the_loader_accepts) {
  std::mt19937 random(1);
  for (const LayoutQuestion& asked : questions()) {
    const Space space(asked.question.spec, asked.question.space);
    const std::vector<JobLayout> all = testing::all_layouts(space);
    const std::set<JobLayout> legal(all.begin(), all.end());
    ASSERT_FALSE(legal.empty());
    int seen = 0, refused = 0;
    for (int i = 0; i < testing::rounds(600, 20); ++i) {
      const auto layout = random_layout(space, random);
      if (!layout) continue;
      ++seen;
      const LoadResult loaded =
          load_scenario("layout", testing::text_of(asked, *layout), testing::built_in(), {});
      const bool accepted = loaded.spec.has_value(), beyond = !space.why_illegal(*layout).empty();
      refused += !accepted;
      EXPECT_EQ(legal.count(in_fewest_words(*layout)) == 1, accepted && !beyond)
          << to_string(*layout) << ": "
          << (accepted ? space.why_illegal(*layout) : format_problem(loaded.problems.front()));
    }
    EXPECT_GT(seen, refused) << "both kinds are drawn";
  }
}

TEST(Space, layout_applied_in_place_is_what_the_loader_makes_of_its_text) {
  for (const LayoutQuestion& asked : questions()) {
    const Space space(asked.question.spec, asked.question.space);
    const std::vector<JobLayout> all = testing::all_layouts(space);
    for (std::size_t i = 0; i < all.size(); i += all.size() / 7 + 1) {
      const LoadResult loaded =
          load_scenario("layouts", testing::text_of(asked, all[i]), testing::built_in(), {});
      ASSERT_TRUE(loaded.spec) << to_string(all[i]) << format_problem(loaded.problems.front());
      const Job made = with_layout(asked.question.spec, all[i]).job;
      const Job& read = loaded.spec->job;
      EXPECT_EQ(made.mesh, read.mesh);
      ASSERT_EQ(made.rules.size(), read.rules.size());
      for (std::size_t r = 0; r < made.rules.size(); ++r) {
        EXPECT_EQ(made.rules[r].dimension, read.rules[r].dimension);
        EXPECT_EQ(made.rules[r].axes, read.rules[r].axes);
      }
      EXPECT_EQ(made.pipeline_axis, read.pipeline_axis);
      EXPECT_EQ(made.schedule, read.schedule);
      EXPECT_EQ(made.chunks_per_stage, read.chunks_per_stage);
      EXPECT_EQ(made.microbatch, read.microbatch);
      EXPECT_EQ(made.recompute, read.recompute);
      EXPECT_EQ(made.recompute_layers, read.recompute_layers);
      EXPECT_EQ(layout_of(*loaded.spec), all[i]) << to_string(all[i]);
    }
  }
}

TEST(Space, emitted_scenario_reproduces_the_step_to_the_last_digit) {
  const LayoutQuestion asked =
      testing::layout_question("chip: \"h100\" chips: 16 fabric: \"dgx_h100\"", kDense);
  const Space space(asked.question.spec, asked.question.space);
  const std::vector<JobLayout> all = testing::all_layouts(space);
  for (std::size_t i = 0; i < all.size(); i += all.size() / 4 + 1) {
    const LoadResult loaded =
        load_scenario("layouts", testing::text_of(asked, all[i]), testing::built_in(), {});
    ASSERT_TRUE(loaded.spec) << to_string(all[i]);
    EXPECT_EQ(predict_step(*loaded.spec, {}).report.step_time,
              predict_step(with_layout(asked.question.spec, all[i]), {}).report.step_time)
        << to_string(all[i]);
  }
}

TEST(Space, other_words_for_one_layout_are_one_point) {
  JobLayout layout;
  layout.tensor = 4;
  layout.data = 8;
  layout.sharding = StateSharding::kHsdp;
  layout.group = 8;
  layout.schedule = PipelineSchedule::kInterleaved;
  layout.recompute_layers = 3;
  JobLayout same = layout;
  same.sharding = StateSharding::kFsdp;
  same.group = 2;
  same.schedule = PipelineSchedule::kGpipe;
  same.recompute_layers = 0;
  EXPECT_EQ(canonical(layout), canonical(same));
  layout.group = 1;
  EXPECT_EQ(canonical(layout).sharding, StateSharding::kDdp);
  layout.group = 2;
  EXPECT_EQ(canonical(layout).sharding, StateSharding::kHsdp);
}

TEST(Space, layout_of_a_job_that_offloads_activations_cannot_be_said) {
  const std::string cluster = "chip: \"h100\" chips: 8 fabric: \"dgx_h100\"";
  const auto own = [&](const std::string& more) {
    return layout_of(testing::layout_question(cluster, kDense + more, "tensor: 1").question.spec);
  };
  EXPECT_TRUE(own(""));
  EXPECT_FALSE(own(" offload: \"layer input\""));
  EXPECT_TRUE(own(" keep: \"q\" offload: \"layer input\""));  // its own policy
}

TEST(Space, selective_recompute_with_fused_attention_is_none) {
  const std::string cluster = "chip: \"h100\" chips: 8 fabric: \"dgx_h100\"";
  const std::string one = "tensor: 1 context: 1 pipeline: 1 microbatch: 1 sharding: zero1 recompute: ";
  const auto points = [&](const std::string& words) {
    const LayoutQuestion asked = testing::layout_question(cluster, kDense, one + words);
    return testing::all_layouts(Space(asked.question.spec, asked.question.space));
  };
  EXPECT_EQ(points("[none, selective]"), points("none"));
  EXPECT_EQ(points("selective"), points("none"));
  EXPECT_EQ(points("[none, full]").size(), 2U);
}

TEST(Space, recompute_of_the_first_layers_of_a_chunk_that_are_all_is_one_point) {
  const auto numbers = [](const std::string& words) {
    const LayoutQuestion asked =
        testing::layout_question("chip: \"h100\" chips: 8 fabric: \"dgx_h100\"", kDense,
                                 "tensor: 1 context: 1 pipeline: 4 schedule: one_f_one_b microbatch: 1 "
                                 "sharding: zero1 recompute: full "
                                 "recompute_layers: " +
                                     words);
    std::vector<int> found;
    for (const JobLayout& each : testing::all_layouts(Space(asked.question.spec, asked.question.space)))
      found.push_back(each.recompute_layers);
    return found;
  };
  EXPECT_EQ(numbers("[0, 4, 7, 8, 9]"), (std::vector{0, 4, 7}));
  EXPECT_EQ(numbers("[4, 8, 9]"), (std::vector{4, 8}));
}

// Layouts that experts published are in their own spaces, and their steps are those of run.
TEST(Space, has_the_layouts_of_published_runs) {
  for (const char* name :
       {"llama3_70b_512_h100", "llama31_405b_16384_h100", "gpt3_175b_1024_a100", "deepseek_v3_2048_h800",
        "deepseek_v3_dualpipe_2048_h800", "zero_bubble_70b_256_h100", "llama3_70b_512_v5p",
        "mixtral_8x7b_64_h100", "dense_100b_512_h100"}) {
    const Spec spec = testing::load(name);
    const auto own = layout_of(spec);
    ASSERT_TRUE(own) << name;
    LayoutSpace one;
    one.tensor = {own->tensor};
    one.context = {own->context};
    one.pipeline = {own->pipeline};
    one.expert = {own->expert};
    one.expert_tensor = {own->expert_tensor};
    one.schedule = {own->schedule};
    one.chunks = {own->chunks};
    one.sharding = {own->sharding};
    const std::vector<JobLayout> all = testing::all_layouts(Space(spec, one));
    EXPECT_EQ(std::count(all.begin(), all.end(), *own), 1) << name << ": " << to_string(*own);
  }
}

TEST(Space, of_70b_on_512_chips_has_the_165_meshes_that_can_be_counted_by_hand) {
  const LayoutQuestion asked =
      testing::layout_question("chip: \"h100\" chips: 512 fabric: \"dgx_h100\"",
                               "model: \"llama3_70b\" stack: \"megatron_bridge_2025\" "
                               "global_batch_sequences: 512 microbatch_sequences: 1 "
                               "sequence_tokens: 8192",
                               "microbatch: 1 sharding: ddp recompute: none");
  EXPECT_EQ(Space(asked.question.spec, asked.question.space).stems().size(), 165U);
}

TEST(LoadSearch, refuses_what_has_no_layouts_to_choose) {
  const auto problem = [](const std::string& text) {
    const LoadSearchResult loaded = load_search("search", text, testing::built_in(), {});
    return loaded.problems.empty() ? "" : format_problem(loaded.problems.front());
  };
  const std::string cluster = "cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" }\n";
  const std::string job =
      "job { mesh { name: \"data\" size: 8 } sharding: \"data\" " + std::string(kDense) + " }\n";
  EXPECT_EQ(problem(cluster + job), "");
  EXPECT_NE(problem(cluster + job + "adversity { jitter: \"typical\" }").find("search:3:"),
            std::string::npos);
  EXPECT_NE(problem(cluster +
                    "job { mesh { name: \"data\" size: 8 } sharding: \"data\" lengths: \"long_tail_32k\" " +
                    std::string(kDense) + " }")
                .find("steps that are all the same"),
            std::string::npos);
  EXPECT_NE(problem(cluster + job + "space { tensr: 4 }").find("tensor"), std::string::npos);
  EXPECT_NE(problem(cluster + job + "space { tensor: 0 }").find("space.tensor"), std::string::npos);
  EXPECT_NE(
      problem(cluster +
              "job { model: \"resnet50\" stack: \"megatron_bridge_2025\" mesh { name: \"data\" size: 8 } "
              "sharding: \"data\" global_batch_sequences: 96 sequence_tokens: 1 }")
          .find("programs"),
      std::string::npos);
}

// What scenarios/plan asks can be asked: each file says its question and has layouts to choose from, and the
// command that it names is one of this podsim, on files that are there.
TEST(ScenariosToPlan, ask_a_question_and_have_layouts_to_choose_from) {
  namespace fs = std::filesystem;
  const fs::path root = PODSIM_SOURCE_DIR;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(root / "scenarios" / "plan")) {
    const std::string name = entry.path().filename().string();
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const LoadSearchResult loaded = load_search(name, text.str(), testing::built_in(), {});
    ASSERT_TRUE(loaded.question) << format_problem(loaded.problems.at(0));
    for (const Problem& warning : loaded.warnings)
      EXPECT_TRUE(warning.message.starts_with("plan has no effect")) << name << ": " << warning.message;
    EXPECT_FALSE(loaded.question->spec.question.empty()) << name;
    const Space space(loaded.question->spec, loaded.question->space);
    EXPECT_GT(space.stems().size(), 10U) << name;
    std::istringstream words(text.str());
    for (std::string word; words >> word;)
      if (word.rfind("scenarios/", 0) == 0) {
        EXPECT_TRUE(fs::exists(root / word)) << name << " names " << word;
      }
    ++files;
  }
  EXPECT_GE(files, 9);
}

}  // namespace
}  // namespace podsim::space_test
