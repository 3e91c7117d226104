// Anchors on steps that podsim itself made with other numbers.
#include "calibration/anchor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "proto/catalog/convert.h"
#include "proto/scenario/load.h"

namespace podsim::anchor_test {
namespace {

const Catalog& catalog() {
  static const Catalog kCatalog;
  return kCatalog;
}

const InputText& scenario() {
  static const InputText kScenario = {"mine.textproto", R"(
cluster { chip: "h100" chips: 16 fabric: "dgx_h100" }
job {
  model: "llama3_8b" model_override { layers: 4 }
  stack: "generic_fsdp"
  mesh { name: "fsdp" size: 16 }
  sharding: "fsdp"
  global_batch_sequences: 64
  microbatch_sequences: 2
  sequence_tokens: 4096
  precision: bf16
}
)"};
  return kScenario;
}

Spec spec_with(const std::vector<Override>& overrides) {
  LoadResult loaded = load_scenario(scenario().name, scenario().text, catalog(), overrides);
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  return *std::move(loaded.spec);
}

double step_s(const Spec& spec) { return predict_step(spec, {}).report.step_time.in_seconds(); }

Anchor anchored_on(const std::string& table, int threads = 1) {
  const AnchorRuns read = read_anchor_runs("mine.csv", table, catalog(), scenario());
  for (const Problem& problem : read.problems) ADD_FAILURE() << format_problem(problem);
  return {builtin_anchor_priors(), read.runs, threads};
}

std::vector<std::string> problems_of(const std::string& table, bool with_scenario = true) {
  const auto given = with_scenario ? std::optional(scenario()) : std::nullopt;
  std::vector<std::string> told;
  for (const Problem& problem : read_anchor_runs("mine.csv", table, catalog(), given).problems)
    told.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " +
                   problem.message + (problem.hint.empty() ? "" : "; " + problem.hint));
  return told;
}

using Lines = std::vector<std::string>;

TEST(Anchor, a_step_of_a_slower_site_brings_another_layout_of_it_near) {
  const std::vector<Override> slower = {{"job.stack_override.gemm_factor", "0.8"}};
  const std::vector<Override> other = {{"job.microbatch_sequences", "1"}};
  std::vector<Override> other_slower = slower;
  other_slower.insert(other_slower.end(), other.begin(), other.end());
  const double measured_s = step_s(spec_with(slower)), truth_s = step_s(spec_with(other_slower));
  const Anchor anchor = anchored_on("step_time_s\n" + std::to_string(measured_s) + "\n");
  const double before = step_s(spec_with(other)) / truth_s - 1,
               after = step_s(anchor.moved(spec_with(other))) / truth_s - 1;
  EXPECT_LT(before, -0.09);
  EXPECT_LT(std::abs(after), std::abs(before) / 4);
}

TEST(Anchor, a_report_tells_what_moved_and_its_band_is_narrower) {
  const Spec spec = spec_with({});
  const double predicted_s = step_s(spec);
  const Anchor anchor = anchored_on("step_time_s\n" + std::to_string(1.15 * predicted_s) + "\n");
  const Report report = anchor.predict(spec, {});
  ASSERT_TRUE(report.anchor && report.anchor->band_before && report.band);
  EXPECT_EQ(report.anchor->runs, 1);
  EXPECT_EQ(report.anchor->step_time_before, Time::seconds(predicted_s));
  EXPECT_EQ(report.band->kind, kAnchoredBand);
  EXPECT_LT(report.band->high.ps - report.band->low.ps,
            report.anchor->band_before->high.ps - report.anchor->band_before->low.ps);
  EXPECT_LT(report.band->low.in_seconds(), 1.15 * predicted_s);
  EXPECT_GT(report.band->high.in_seconds(), 1.15 * predicted_s);
  for (const AnchoredNumber& number : report.anchor->numbers) EXPECT_LE(number.unsure, 1) << number.path;
  EXPECT_EQ(report.anchor->numbers.front().path, "gemm_factor");
  EXPECT_LT(report.anchor->numbers.front().after, report.anchor->numbers.front().before);
}

TEST(Anchor, a_step_that_was_predicted_moves_nothing) {
  const Spec spec = spec_with({});
  AnchorRuns read = anchor_on_scenario(scenario(), step_s(spec), catalog());
  const Anchor anchor(builtin_anchor_priors(), read.runs, 1);
  EXPECT_EQ(anchor.predict(spec, {}).step_time, predict_step(spec, {}).report.step_time);
}

TEST(Anchor, neither_the_order_of_runs_nor_threads_make_a_difference) {
  const std::string first = "1.5,1\n", second = "1.7,4\n", header = "step_time_s,job.microbatch_sequences\n";
  const auto offsets = [](const Anchor& anchor) {
    return anchor.stacks().at("generic_fsdp").posterior.offsets;
  };
  const std::vector<double> one = offsets(anchored_on(header + first + second));
  EXPECT_EQ(one, offsets(anchored_on(header + second + first)));
  EXPECT_EQ(one, offsets(anchored_on(header + first + second, 3)));
}

TEST(Anchor, other_stacks_stay_as_they_are) {
  const Anchor anchor = anchored_on("step_time_s\n2\n");
  const Spec other = spec_with({{"job.stack", "torchtitan"}});
  EXPECT_FALSE(anchor.moves(other));
  EXPECT_FALSE(anchor.predict(other, {}).anchor.has_value());
  EXPECT_EQ(anchor.moved(other).job.stack.gemm_factor, other.job.stack.gemm_factor);
}

TEST(Anchor, a_saved_stack_gives_the_same_step) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "podsim_anchored";
  std::filesystem::create_directories(folder);
  const Anchor anchor = anchored_on("step_time_s\n1.9\n");
  std::ofstream(folder / "ours.textproto") << anchor.entry(spec_with({}).job.stack, "ours", catalog());
  Catalog with_ours;
  for (const Problem& problem : with_ours.add_directory(folder.string()))
    ADD_FAILURE() << format_problem(problem);
  const LoadResult loaded =
      load_scenario(scenario().name, scenario().text, with_ours, {{"job.stack", "ours"}});
  ASSERT_TRUE(loaded.spec) << format_problem(loaded.problems.at(0));
  EXPECT_NEAR(step_s(*loaded.spec), step_s(anchor.moved(spec_with({}))), 1e-9);
}

// An entry of the catalogue and the scenario with this stack, both as numbers.
Stack saved(const Anchor& anchor, const Stack& stack) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "podsim_anchored_entries";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "ours.textproto") << anchor.entry(stack, "ours", catalog());
  Catalog with_ours;
  for (const Problem& problem : with_ours.add_directory(folder.string()))
    ADD_FAILURE() << format_problem(problem);
  return *catalog_stack(with_ours, "ours");
}

// Some entries have a block of experts without this number, and some have none.
TEST(Anchor, a_saved_stack_states_what_the_scenario_says_of_experts) {
  for (const std::string stack : {"generic_fsdp", "generic_megatron", "megatron_2023"}) {
    const std::string block = "job.stack_override.experts.";
    Spec spec =
        spec_with({{"job.stack", stack}, {block + "traffic", "7"}, {block + "permutation_traffic", "20"}});
    const Anchor anchor(builtin_anchor_priors(), {{"mine", spec, 1.2 * step_s(spec), {}, "mine"}}, 1);
    const Stack ours = saved(anchor, spec.job.stack), moved = anchor.moved(spec).job.stack;
    for (const StackNumber& number : stack_numbers())
      EXPECT_NEAR(number.read(ours), number.read(moved), 1e-6 * std::abs(number.read(moved)))
          << stack << " " << number.path;
  }
}

TEST(Anchor, a_saved_stack_is_that_of_the_scenario_whatever_rows_set) {
  const Anchor anchor = anchored_on("step_time_s,job.stack_override.gemm_factor\n2.4,0.5\n");
  const Spec spec = spec_with({});
  EXPECT_EQ(saved(anchor, spec.job.stack).gemm_factor, anchor.moved(spec).job.stack.gemm_factor);
  EXPECT_EQ(anchor.measured_otherwise(spec.job.stack), std::vector<std::string>{"gemm_factor"});
  EXPECT_TRUE(anchor.overrides(spec.job.stack, catalog()).empty());
}

TEST(AnchorRuns, milliseconds_are_a_step_too) {
  const AnchorRuns read =
      read_anchor_runs("mine.csv", "step_time_ms,job.microbatch_sequences\n1500,1\n", catalog(), scenario());
  ASSERT_EQ(read.runs.size(), 1u);
  EXPECT_DOUBLE_EQ(read.runs[0].measured_s, 1.5);
  EXPECT_EQ(problems_of("step_time_s,step_time_ms\n1,1000\n"),
            (Lines{"1:13 step_time_s says it too; expected one of them"}));
}

TEST(AnchorRuns, wrong_tables_are_told_at_their_place) {
  EXPECT_EQ(problems_of("step_time_s,job.microbatch_sequences\n1,2\n0,2\n"),
            (Lines{"3:1 step_time_s is \"0\"; expected a number above 0"}));
  EXPECT_EQ(problems_of("step_time_s,job.microbatch_sequences\n1,x\n"),
            (Lines{"2:1 job.microbatch_sequences must be a whole number, not \"x\""}));
  EXPECT_EQ(
      problems_of("step_time_s,nois_pct\n1,2\n"),
      (Lines{"1:13 \"nois_pct\" is no column of measured steps, and no field of a scenario; did you mean "
             "\"noise_pct\"?"}));
  EXPECT_EQ(problems_of("step_time_s,noise_pct\n1,200\n"),
            (Lines{"2:3 noise of more than the step itself; expected percent, up to 100"}));
  for (const std::string step : {"1e-300", "1e+300"})
    EXPECT_EQ(
        problems_of("step_time_s,job.microbatch_sequences\n" + step + ",2\n"),
        (Lines{"2:1 a step of 1.00" + step.substr(1) + " s; expected a measured step from 1e-9 to 1e6 s"}));
  EXPECT_EQ(problems_of("step_time_s\n"),
            (Lines{"0:0 has no row of a measured step; expected a header and at least one row"}));
  EXPECT_EQ(
      problems_of("step_time_s\n1\n", false),
      (Lines{"1:1 no scenario is given whose step this is; expected the columns of a table of runs, layers "
             "and global_batch_seqs among them"}));
  EXPECT_EQ(
      problems_of("id,chip,layers,hidden,heads,global_batch_seqs,seq_len,chips\na,h100,4,512,8,8,1024,8\n")
          .at(0)
          .substr(0, 22),
      "2:1 cannot be simulate");
}

TEST(AnchorPriors, wrong_lines_are_told_with_the_nearest_number) {
  const std::string header = "parameter,numbers,kind,spread,known_spread,low,high,source\n";
  const auto problem = [&](const std::string& line) {
    return read_anchor_priors("p.csv", header + line).problems.at(0).message;
  };
  EXPECT_EQ(problem("a,gem_factor,scale,0.1,0.1,0,1,mine\n"),
            "\"gem_factor\" is no number of a stack that can be moved");
  EXPECT_EQ(problem("a,gemm_factor,times,0.1,0.1,0,1,mine\n"), "kind is \"times\"");
  EXPECT_EQ(problem("a,gemm_factor,scale,0.1,0.1,0,1,\n"), "the spread has no source");
}

TEST(AnchorPriors, mixtures_of_experts_are_less_sure_than_dense_models) {
  const AnchorPriors& priors = builtin_anchor_priors();
  for (const bool known : {true, false})
    EXPECT_GT(priors.noise_of(known, true), priors.noise_of(known, false));
  for (const bool experts : {true, false})
    EXPECT_GT(priors.noise_of(false, experts), priors.noise_of(true, experts));
}

TEST(AnchorPriors, numbers_move_within_their_bounds_and_back) {
  AnchorPrior share{"share", {find_stack_number("network_share")}, false, 0.5, 0.2, 0.1, 1};
  EXPECT_EQ(share.moved(0.8, 5, false), 1);
  EXPECT_NEAR(share.moved(0.8, -1, false), 0.8 * std::exp(-0.5), 1e-12);
  EXPECT_NEAR(share.moved(0.8, -1, true), 0.8 * std::exp(-0.2), 1e-12);
  AnchorPrior hidden{"hidden", {find_stack_number("tensor_hidden")}, true, 0.4, 0.1, 0, 0.95};
  EXPECT_EQ(hidden.moved(0.3, -2, false), 0);
  EXPECT_NEAR(hidden.moved(0.3, 1, false), 0.7, 1e-12);
}

// 0.3 moves by 0.4 a spread between 0.01 and 0.95; 5 us by a factor of e^0.5, and never to 0.
TEST(AnchorPriors, offsets_end_where_the_last_number_meets_its_bound) {
  AnchorPrior prior{"hidden", {find_stack_number("tensor_hidden")}, true, 0.4, 0.1, 0.01, 0.95};
  Stack stack;
  stack.tensor_hidden = 0.3;
  EXPECT_NEAR(prior.range(stack, false).low, -0.29 / 0.4, 1e-12);
  EXPECT_NEAR(prior.range(stack, true).high, 0.65 / 0.1, 1e-12);
  prior = {"calls", {find_stack_number("host_launch_us")}, false, 0.5, 0.5, 0, 10};
  stack.host_launch = Time::seconds(5e-6);
  EXPECT_NEAR(prior.range(stack, false).high, std::log(2) / 0.5, 1e-9);
  EXPECT_EQ(prior.range(stack, false).low, -std::numeric_limits<double>::infinity());
}

// One collective becomes two as soon as any of it is hidden: a step of short messages jumps there.
TEST(AnchorPriors, what_a_stack_does_not_do_at_all_is_not_done_a_little) {
  const auto& priors = builtin_anchor_priors().parameters;
  const auto hidden = std::ranges::find(priors, "hidden tensor-parallel share", &AnchorPrior::name);
  ASSERT_NE(hidden, priors.end());
  EXPECT_EQ(hidden->moved(0, 1, false), 0);
  EXPECT_EQ(hidden->range(Stack{}, false).high, 0);
  EXPECT_GT(hidden->moved(0.05, -3, false), 0);
}

}  // namespace
}  // namespace podsim::anchor_test
