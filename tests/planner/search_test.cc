// The search: what it finds is what simulating every layout finds, on any number of threads.
#include "planner/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "planner/bounds/stem_bounds.h"
#include "planner/search/certificate.h"
#include "planner/search/layout_fate.h"
#include "prediction/predict.h"
#include "tests/planner/layout_scenario.h"

namespace podsim::search_test {
namespace {

struct Small {
  const char *cluster, *job, *space;
};

constexpr Small kSmall[] = {
    {"chip: \"h100\" chips: 16 fabric: \"dgx_h100\"",
     "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\" "
     "global_batch_sequences: 16 "
     "microbatch_sequences: 1 sequence_tokens: 2048",
     "tensor: [1, 2, 4] context: 1 pipeline: [1, 2, 4] microbatch: 1 sharding: zero1"},
    {"chip: \"h100\" chips: 8 fabric: \"dgx_h100\"",
     "model: \"mixtral_8x7b\" model_override { layers: 2 } stack: \"megatron_bridge_2025\" "
     "global_batch_sequences: 8 "
     "microbatch_sequences: 1 sequence_tokens: 2048",
     "tensor: [1, 2] context: 1 pipeline: [1, 2] microbatch: 1 sharding: [ddp, zero1] recompute: full "
     "memory_headroom_fraction: 0"},
    {"chip: \"h100\" chips: 8 fabric: \"dgx_h100\"",
     "model: \"llama3_8b\" model_override { layers: 8 } stack: \"megatron_bridge_2025\" recompute: full "
     "recompute_every: 2 global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048",
     "tensor: [1, 2] context: 1 pipeline: [1, 2, 4] microbatch: 1 sharding: zero1 recompute: full "
     "recompute_layers: [0, 1, 2]"},
    {"chip: \"tpu_v5p\" fabric: \"v5p_pod\" slice_shape: [2, 2, 2]",
     "model: \"llama3_8b\" model_override { layers: 2 } stack: \"maxtext_2025\" global_batch_sequences: 8 "
     "microbatch_sequences: 1 sequence_tokens: 2048",
     "context: 1 pipeline: 1 microbatch: 1"},
};

struct Known {
  Time step;
  JobLayout layout;
  Bytes memory;
  friend bool operator<(const Known& a, const Known& b) {
    return std::tie(a.step, a.layout) < std::tie(b.step, b.layout);
  }
};

// All layouts that fit, simulated.
std::vector<Known> brute_force(const Space& space) {
  const Spec& spec = space.spec();
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const Bytes room = (1 - space.values().memory_headroom_share) * spec.cluster.chip.hbm_capacity;
  std::vector<Known> known;
  for (const JobLayout& layout : testing::all_layouts(space)) {
    const Spec laid = with_layout(spec, layout);
    const MeshContext context(fabric, laid);
    const Bytes memory = StemBounds(laid, context).memory(layout, false);
    if (memory <= room) known.push_back({predict_step(laid, {}).report.step_time, layout, memory});
  }
  std::sort(known.begin(), known.end());
  return known;
}

// The layouts of a space have even stages, whatever the scenario's own has.
TEST(Search, of_a_job_with_uneven_stages_is_that_of_the_same_job_with_even_ones) {
  const auto found = [](const std::string& layers) {
    const std::string text =
        "cluster { chip: \"h100\" chips: 8 fabric: \"dgx_h100\" } job { model: \"llama3_8b\" model_override "
        "{ "
        "layers: 8 } stack: \"megatron_bridge_2025\" mesh { name: \"pipeline\" size: 4 } mesh { name: "
        "\"data\" "
        "size: 2 } sharding: \"data\" pipeline { schedule: one_f_one_b " +
        layers +
        " } global_batch_sequences: 16 microbatch_sequences: 1 sequence_tokens: 2048 } space { tensor: [1, "
        "2] "
        "context: 1 pipeline: [1, 2, 4] microbatch: 1 sharding: zero1 recompute: none }";
    const LoadSearchResult loaded = load_search("uneven", text, testing::built_in(), {});
    if (!loaded.question) throw std::runtime_error(format_problem(loaded.problems.at(0)));
    return search(Space(loaded.question->spec, loaded.question->space), {});
  };
  const SearchAnswer uneven = found("layers_per_chunk: [1, 2, 2, 3]"), even = found("");
  EXPECT_FALSE(uneven.own);
  ASSERT_EQ(uneven.best.size(), even.best.size());
  for (std::size_t i = 0; i < even.best.size(); ++i) {
    EXPECT_EQ(uneven.best[i].layout, even.best[i].layout);
    EXPECT_EQ(uneven.best[i].figures.step_time, even.best[i].figures.step_time);
  }
}

// With all other chips in the pipeline the embedding of this layout takes longer than with data ranks beside
// it.
TEST(Search, of_servers_without_a_switch_drops_nothing_by_passes_on_other_meshes) {
  const testing::LayoutQuestion asked = testing::layout_question(
      "chip: \"mi350x\" chips: 16 fabric: \"mi355x_mesh\"",
      "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\" "
      "global_batch_sequences: 32 microbatch_sequences: 1 sequence_tokens: 4096",
      "tensor: 2 context: 1 pipeline: 2 microbatch: 8 sharding: zero1 recompute: none");
  const SearchAnswer answer = search(Space(asked.question.spec, asked.question.space), {});
  EXPECT_TRUE(answer.proven);
  EXPECT_FALSE(answer.best.empty());
}

TEST(Search, of_admitted_layouts_finds_the_fastest_of_them_by_brute_force) {
  for (const Small& small : kSmall) {
    const testing::LayoutQuestion asked = testing::layout_question(small.cluster, small.job, small.space);
    const Space space(asked.question.spec, asked.question.space);
    const std::vector<Known> all = brute_force(space);
    for (const int threads : {1, 3}) {
      SearchOptions options;
      options.top = 1;
      options.threads = threads;
      const Bytes most = all.front().memory;  // of the fastest
      options.admits = [&](const FoundLayout& found) { return found.memory < most; };
      const auto admitted = std::ranges::find_if(all, [&](const Known& each) { return each.memory < most; });
      const SearchAnswer answer = search(space, options);
      EXPECT_EQ(answer.best.empty(), admitted == all.end()) << small.cluster;
      if (answer.best.empty() || admitted == all.end()) continue;
      EXPECT_TRUE(answer.proven);
      EXPECT_EQ(answer.best.front().layout, admitted->layout);
      EXPECT_EQ(answer.best.front().figures.step_time, admitted->step);
    }
  }
}

// Between two servers over next to nothing: parameters that are gathered for every microbatch take weeks.
testing::LayoutQuestion over_slow_nics(const std::string& space) {
  return testing::layout_question(
      "chip: \"h100\" chips: 16 fabric: \"dgx_h100\" fabric_override { gpu_cluster { nic { "
      "bandwidth_gb_per_s: 0.01 efficiency: 0.001 } } }",
      "model: \"llama3_8b\" model_override { layers: 4 } stack: \"megatron_bridge_2025\" "
      "global_batch_sequences: 512 microbatch_sequences: 1 sequence_tokens: 2048",
      "tensor: 1 context: 1 microbatch: 1 recompute: none " + space);
}

TEST(Search, refuses_layouts_beyond_simulated_time_and_answers_for_all_others) {
  const testing::LayoutQuestion asked = over_slow_nics("pipeline: [1, 2] sharding: [zero1, fsdp]");
  const Space space(asked.question.spec, asked.question.space);
  SearchOptions options;
  options.record = true;
  for (const int threads : {1, 3}) {
    options.threads = threads;
    const SearchAnswer answer = search(space, options);
    EXPECT_FALSE(answer.best.empty());
    EXPECT_TRUE(answer.proven);
    ASSERT_FALSE(answer.refused.empty());
    EXPECT_EQ(answer.counts.too_long, static_cast<std::int64_t>(answer.refused.size()));
    EXPECT_EQ(answer.counts.simulated + answer.counts.too_long, answer.counts.layouts);
    for (const RefusedLayout& refused : answer.refused) {
      EXPECT_NE(refused.why.find("days, and podsim simulates 10 at most"), std::string::npos) << refused.why;
      const LayoutFate fate = fate_of(space, refused.layout, Time::max());
      EXPECT_EQ(fate.kind, LayoutFate::Kind::kTooLong);
      EXPECT_EQ(fate.why, refused.why);
    }
    CertificateHeader header{"1", asked.text, asked.question.spec.sha256, options.top, 0, 0};
    std::string proof = certificate_text(header, answer);
    const auto check = [&] { return check_certificate(proof, "1", testing::built_in(), 100, 1); };
    EXPECT_TRUE(check().holds()) << check().faults.front();
    const std::string word = "\"simulated\"";
    proof.replace(proof.rfind(word), word.size(), "\"too_long\"");
    EXPECT_FALSE(check().holds()) << "a layout that ends is called too long";
  }
}

TEST(Search, of_layouts_that_are_all_beyond_simulated_time_finds_none_and_says_why) {
  const testing::LayoutQuestion asked = over_slow_nics("pipeline: 1 sharding: fsdp");
  const SearchAnswer answer = search(Space(asked.question.spec, asked.question.space), {});
  EXPECT_TRUE(answer.best.empty());
  EXPECT_EQ(answer.refused.size(), 1u);
  EXPECT_EQ(answer.counts.too_long, 1);
}

TEST(Search, ends_once_as_many_as_it_may_refuse_are_refused) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  SearchOptions options;
  options.most_refused = 3;
  options.admits = [](const FoundLayout&) { return false; };
  const SearchAnswer answer = search(space, options);
  EXPECT_TRUE(answer.best.empty());
  EXPECT_FALSE(answer.proven);
  EXPECT_EQ(answer.counts.simulated, 3);
  EXPECT_GT(answer.counts.open, 0);
  options.most_refused = 100'000;
  EXPECT_EQ(search(space, options).counts.open, 0) << "every layout has been refused";
}

TEST(Search, finds_what_simulating_every_layout_finds_on_any_number_of_threads) {
  for (const Small& small : kSmall) {
    const testing::LayoutQuestion asked = testing::layout_question(small.cluster, small.job, small.space);
    const Space space(asked.question.spec, asked.question.space);
    const std::vector<Known> all = brute_force(space);
    ASSERT_GT(all.size(), 5U) << small.cluster;
    for (const int threads : {1, 3}) {
      SearchOptions options;
      options.top = 5;
      options.threads = threads;
      const SearchAnswer answer = search(space, options);
      EXPECT_TRUE(answer.proven);
      EXPECT_EQ(answer.gap, 0);
      ASSERT_EQ(answer.best.size(), 5U);
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(answer.best[i].layout, all[i].layout) << small.cluster << " " << i;
        EXPECT_EQ(answer.best[i].figures.step_time, all[i].step);
      }
      const SearchCounts& counts = answer.counts;
      EXPECT_EQ(counts.layouts, static_cast<std::int64_t>(testing::all_layouts(space).size()));
      EXPECT_EQ(counts.layouts - counts.no_room - counts.by_lighter - counts.by_passes - counts.by_stages -
                    counts.by_relaxed,
                counts.simulated);
    }
  }
}

// A budget that none keeps to, and one that some do.
TEST(Search, of_layouts_that_take_too_many_events_finds_the_same) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  for (const bool pareto : {false, true}) {
    SearchOptions options;
    options.top = 5;
    options.pareto = pareto;
    const SearchAnswer whole = search(space, options);
    EXPECT_EQ(whole.counts.put_off, 0);
    for (const std::int64_t most_events : {1, 400}) {
      for (const int threads : {1, 3}) {
        options.most_events = most_events;
        options.threads = threads;
        const SearchAnswer answer = search(space, options);
        EXPECT_GT(answer.counts.put_off, 0);
        EXPECT_TRUE(answer.proven);
        EXPECT_EQ(answer.counts.layouts, whole.counts.layouts);
        ASSERT_EQ(answer.best.size(), whole.best.size());
        for (std::size_t i = 0; i < whole.best.size(); ++i) {
          EXPECT_EQ(answer.best[i].layout, whole.best[i].layout);
          EXPECT_EQ(answer.best[i].figures.step_time, whole.best[i].figures.step_time);
        }
      }
    }
  }
}

TEST(Search, of_layouts_that_take_too_many_events_keeps_to_the_gap_and_to_what_it_may_admit) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  SearchOptions options;
  const Time best = search(space, options).best.front().figures.step_time;
  options.admits = [&](const FoundLayout& found) { return found.figures.step_time > best; };
  const SearchAnswer admitted = search(space, options);
  options.most_events = 1;
  const SearchAnswer late = search(space, options);
  EXPECT_GT(late.counts.put_off, 0);
  ASSERT_EQ(late.best.size(), admitted.best.size());
  for (std::size_t i = 0; i < late.best.size(); ++i) EXPECT_EQ(late.best[i].layout, admitted.best[i].layout);
  options.admits = {};
  options.gap = 0.02;
  const SearchAnswer near = search(space, options);
  EXPECT_TRUE(near.proven);
  EXPECT_LE(near.gap, options.gap);
  EXPECT_GE(best.in_seconds(), near.best.front().figures.step_time.in_seconds() * (1 - options.gap));
}

// Whatever takes long waits while the others are simulated, and may not be worth it then.
TEST(Search, with_a_budget_of_events_simulates_no_more_layouts_to_their_end) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  SearchOptions options;
  options.top = 1;
  const SearchAnswer whole = search(space, options);
  options.most_events = 1;
  const SearchAnswer late = search(space, options);
  EXPECT_LE(late.counts.simulated, whole.counts.simulated);
  EXPECT_GE(late.counts.put_off, late.counts.simulated);
}

TEST(Search, best_of_all_parts_are_those_of_the_whole) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  SearchOptions options;
  options.top = 5;
  const SearchAnswer whole = search(space, options);
  for (const int shards : {2, 3, 8}) {
    std::vector<std::pair<Time, JobLayout>> found;
    std::int64_t layouts = 0;
    for (int shard = 1; shard <= shards; ++shard) {
      options.shard = shard;
      options.shards = shards;
      const SearchAnswer part = search(space, options);
      EXPECT_TRUE(part.proven);
      layouts += part.counts.layouts;
      for (const FoundLayout& each : part.best) found.emplace_back(each.figures.step_time, each.layout);
    }
    EXPECT_EQ(layouts, whole.counts.layouts) << "each layout is in one part";
    std::sort(found.begin(), found.end());
    for (std::size_t i = 0; i < whole.best.size(); ++i)
      EXPECT_EQ(found[i], std::pair(whole.best[i].figures.step_time, whole.best[i].layout)) << shards;
  }
}

TEST(Search, front_is_that_of_all_layouts) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  std::vector<Known> front;
  for (const Known& each : brute_force(space))
    if (front.empty() || each.memory < front.back().memory) front.push_back(each);
  SearchOptions options;
  options.pareto = true;
  options.threads = 2;
  const SearchAnswer answer = search(space, options);
  ASSERT_GT(front.size(), 1U);
  ASSERT_EQ(answer.best.size(), front.size());
  for (std::size_t i = 0; i < front.size(); ++i) {
    EXPECT_EQ(answer.best[i].layout, front[i].layout);
    EXPECT_EQ(answer.best[i].figures.step_time, front[i].step);
  }
}

TEST(Search, within_a_share_finds_every_layout_that_near_and_a_gap_stops_early) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[2].cluster, kSmall[2].job, kSmall[2].space);
  const Space space(asked.question.spec, asked.question.space);
  const std::vector<Known> all = brute_force(space);
  SearchOptions options;
  options.top = 1;
  options.within = 0.2;
  const SearchAnswer near = search(space, options);
  const auto expected = std::count_if(all.begin(), all.end(), [&](const Known& each) {
    return each.step.in_seconds() <= 1.2 * all.front().step.in_seconds();
  });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(near.best.size()), expected);
  options.within = 0;
  options.gap = 0.3;
  const SearchAnswer rough = search(space, options);
  EXPECT_TRUE(rough.proven);
  EXPECT_LE(rough.gap, 0.3);
  EXPECT_FALSE(rough.may_lack) << "the best alone was asked for";
  EXPECT_GE(all.front().step.in_seconds(),
            (1 - rough.gap) * rough.best.front().figures.step_time.in_seconds());
}

TEST(Search, that_is_stopped_claims_no_proof) {
  const testing::LayoutQuestion asked =
      testing::layout_question(kSmall[0].cluster, kSmall[0].job, kSmall[0].space);
  const Space space(asked.question.spec, asked.question.space);
  std::atomic<bool> stop = false;
  SearchOptions options;
  options.stop = &stop;
  options.progress = [&](const SearchProgress& progress) { stop = progress.simulated > 0; };
  const SearchAnswer answer = search(space, options);
  EXPECT_FALSE(answer.proven);
  EXPECT_GE(answer.best.size(), 1U);
  EXPECT_GT(answer.counts.open, 0);
}

TEST(Search, without_room_names_the_layout_that_needs_least) {
  const testing::LayoutQuestion asked = testing::layout_question(
      "chip: \"l40s\" chips: 2 fabric: \"l40s_pcie\"",
      "model: \"llama3_8b\" stack: \"generic_eager\" global_batch_sequences: 4 microbatch_sequences: 1 "
      "sequence_tokens: 2048");
  const Space space(asked.question.spec, asked.question.space);
  const SearchAnswer answer = search(space, {});
  EXPECT_TRUE(answer.best.empty());
  ASSERT_TRUE(answer.miss);
  EXPECT_GT(answer.miss->needed, answer.miss->room);
  const Fabric fabric = build_fabric(asked.question.spec.cluster.fabric);
  for (const JobLayout& layout : testing::all_layouts(space)) {
    const Spec laid = with_layout(asked.question.spec, layout);
    const MeshContext context(fabric, laid);
    EXPECT_GE(StemBounds(laid, context).memory(layout, true), answer.miss->needed) << to_string(layout);
  }
}

}  // namespace
}  // namespace podsim::search_test
