// Recorded traces of real training runs, replayed, against the published answers of their what-if analysis.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/traces/trace_file.h"
#include "scheduler/replay/what_if.h"

namespace podsim::recorded_traces_test {
namespace {

using Json = nlohmann::json;

constexpr double kRelative = 1e-9;

// Traces that are not part of the repository; PODSIM_DATA names a folder that has them.
class RecordedTraces : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("PODSIM_DATA");
    if (!folder || !std::filesystem::exists(file(folder, "trace-", ".csv.gz")))
      GTEST_SKIP() << "PODSIM_DATA names no folder with the traces";
    folder_ = folder;
    std::vector<Problem> problems;
    const auto trace =
        read_trace(file(folder_, "trace-", ".csv.gz"), file(folder_, "meta-", ".yaml"), problems);
    ASSERT_TRUE(trace);
    result_ = what_if(*trace, {});
  }

  static std::string file(const std::string& folder, const std::string& kind, const std::string& extension) {
    return folder + "/stragglers/" + kind + GetParam() + extension;
  }
  Json expected(const std::string& kind) const {
    return Json::parse(std::ifstream(file(folder_, kind, ".json")));
  }

  // Every number of an expected object "step -> number".
  void expect_steps(const Json& expected, const std::vector<double>& found) const {
    ASSERT_EQ(expected.size(), result_.steps.size());
    for (std::size_t s = 0; s < found.size(); ++s)
      expect(expected.at(std::to_string(result_.steps[s])), found[s]);
  }

  // "key -> number", and "step -> key -> number".
  void expect_slowdown(const Json& whole, const Json& per_step, const std::string& key,
                       const Slowdown& found) {
    expect(whole.at(key), found.mean);
    ASSERT_EQ(per_step.size(), found.per_step.size());
    for (std::size_t s = 0; s < found.per_step.size(); ++s)
      expect(per_step.at(std::to_string(result_.steps[s])).at(key), found.per_step[s]);
  }

  static void expect(double expected, double found) {
    EXPECT_NEAR(found, expected, kRelative * std::abs(expected));
  }

  std::string folder_;
  WhatIf result_;
};

TEST_P(RecordedTraces, step_times_are_those_of_the_published_analysis) {
  const Json answers = expected("result-");
  expect_steps(answers["step_t_base"], result_.recorded_s);
  expect_steps(answers["step_t_nodelay"], result_.traced_s);
  expect_steps(answers["step_t_noblk"], std::vector<double>(result_.steps.size(), result_.T_ideal_s));
  expect(answers["launch_slowdown"], result_.launch.mean);
  expect_steps(answers["launch_step_slowdown"], result_.launch.per_step);
  expect(answers["blocking_slowdown"], result_.S.mean);
  expect_steps(answers["blocking_step_slowdown"], result_.S.per_step);
}

TEST_P(RecordedTraces, slowdowns_of_types_ranks_and_stages_are_those_of_the_published_analysis) {
  const Json answers = expected("result-");
  const Json& by_type = answers["blocking_decompose_by_optype"];
  ASSERT_EQ(by_type.size(), result_.by_type.size());
  for (const TypeSlowdown& type : result_.by_type)
    expect_slowdown(by_type, answers["blocking_decompose_by_optype_per_step"], type.type, type.slowdown);
  const Json& by_rank = answers["blocking_decompose_by_dp_rank"];
  ASSERT_EQ(by_rank.size(), result_.by_data_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
    expect_slowdown(by_rank, answers["blocking_decompose_by_dp_rank_per_step"], std::to_string(rank),
                    result_.by_data_rank[rank]);
  const Json& by_stage = answers["blocking_decompose_by_stage"];
  ASSERT_EQ(by_stage.size(), result_.by_stage.size());
  for (std::size_t stage = 0; stage < by_stage.size(); ++stage)
    expect_slowdown(by_stage, answers["blocking_decompose_by_stage_per_step"], std::to_string(stage),
                    result_.by_stage[stage]);
}

TEST_P(RecordedTraces, repairs_of_few_workers_and_of_the_last_stage_are_those_of_the_published_analysis) {
  const auto check = [&](const Json& answers, const std::string& share, const Repair& repair) {
    expect(answers["tori"], result_.T_s);
    expect(answers["tideal"], result_.T_ideal_s);
    expect(answers["trem"], repair.repaired_s);
    expect(answers["tadd"], repair.alone_s);
    expect(answers["rem"], repair.gained.value());
    expect(answers["add"], repair.caused.value());
    expect(answers[share], repair.gained.value());
  };
  check(expected("mw-"), "Mw", result_.few_workers);
  check(expected("ms-"), "Ms", result_.last_stage);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedTraces, ::testing::Values("ST", "AR"));

TEST(RecordedTraceCauses, a_heavy_last_stage_and_a_slowed_worker_are_told_apart) {
  const char* folder = std::getenv("PODSIM_DATA");
  const std::string traces = std::string(folder ? folder : "") + "/stragglers/";
  if (!std::filesystem::exists(traces + "trace-ST.csv.gz")) GTEST_SKIP() << "PODSIM_DATA has no traces";
  std::vector<Problem> problems;
  const WhatIf heavy =
      what_if(*read_trace(traces + "trace-ST.csv.gz", traces + "meta-ST.yaml", problems), {});
  EXPECT_EQ(heavy.likely_cause, "last pipeline stage");
  EXPECT_EQ(heavy.few.front().global_rank, 7);
  const WhatIf slowed =
      what_if(*read_trace(traces + "trace-AR.csv.gz", traces + "meta-AR.yaml", problems), {});
  EXPECT_EQ(slowed.likely_cause, "few workers");
  ASSERT_EQ(slowed.culprits.size(), 1u);
  EXPECT_EQ(slowed.culprits.front().worker.global_rank, 0);
}

// A string of JSON is one of YAML, where bare words may be numbers, lists or comments.
TEST(RecordedTraceMeta, has_any_name_as_a_string_in_one_line) {
  RecordedTrace trace;
  trace.ops.resize(1);
  for (const std::string name :
       {"plain", "a: b # c", "- x", "{a", "@x", "\"quoted", "yes", "123", "two\nlines"}) {
    const std::string meta = trace_meta(trace, name, 1), key = "trial_name: ";
    ASSERT_TRUE(meta.starts_with(key)) << meta;
    const std::string value = meta.substr(key.size(), meta.find('\n') - key.size());
    EXPECT_EQ(Json::parse(value), Json(name)) << value;
  }
}

}  // namespace
}  // namespace podsim::recorded_traces_test
