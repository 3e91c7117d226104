// What must hold of every schedule beside every adversity: folding changes no figure, steps can be replayed,
// and the verdict is about what was injected.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "prediction/predict.h"
#include "proto/writing/write.h"
#include "tests/prediction/small_job.h"

namespace podsim::adversity_laws_test {
namespace {

using testing::SmallJob;

// The report without how it was computed.
nlohmann::json figures(const SmallJob& small, bool fold) {
  PredictOptions options;
  options.fold = fold;
  auto json = nlohmann::json::parse(report_json(predict_step(testing::load(small), options).report));
  for (const char* count : {"chip_classes", "group_classes", "link_classes", "events", "periods_skipped"})
    json.erase(count);
  return json;
}

// Numbers to the last bits of their sums, which depend on how many classes are added up; all else exactly.
void expect_same(const nlohmann::json& a, const nlohmann::json& b, const std::string& what) {
  for (const auto& each : nlohmann::json::diff(a, b)) {
    const nlohmann::json::json_pointer path(each["path"].get<std::string>());
    const bool numbers = each["op"] == "replace" && a.at(path).is_number() && b.at(path).is_number();
    if (numbers) {
      const double x = a.at(path).get<double>();
      EXPECT_NEAR(x, b.at(path).get<double>(), 1e-9 * std::abs(x)) << what << " at " << path;
    } else {
      ADD_FAILURE() << what << ": " << each.dump();
    }
  }
}

void expect_folding_changes_nothing(const SmallJob& small) {
  expect_same(figures(small, true), figures(small, false),
              small.pipeline + " " + small.job + " " + small.adversity);
}

constexpr const char* kDocuments =
    "lengths_override { bin { tokens: 128 share: 8 } bin { tokens: 2048 share: 1 } } ";

TEST(Folding, changes_nothing_of_documents_of_uneven_length_in_any_schedule) {
  for (const std::string& schedule : testing::schedules())
    expect_folding_changes_nothing({schedule, kDocuments, ""});
}

TEST(Folding, changes_nothing_of_balanced_documents_in_a_shifting_buffer) {
  for (const char* balance : {"sorted", "squares"})
    expect_folding_changes_nothing({"schedule: shifting chunks_per_stage: 2",
                                    std::string(kDocuments) + "length_balance: " + balance, ""});
}

TEST(Folding, changes_nothing_of_late_launches_and_stalls_beside_documents_in_any_schedule) {
  for (const std::string& schedule : testing::schedules())
    expect_folding_changes_nothing(
        {schedule, kDocuments,
         "late_launch { chip: 5 late_ms: 20 random_ms: 3 } input_stall { probability: 0.3 mean_ms: 40 }"});
}

// Who is slow is told of chips, not of the classes in which they were simulated.
TEST(Folding, changes_nothing_of_any_adversity) {
  for (const char* adversity :
       {"slow_chip { chip: 5 speed_fraction: 0.7 }",
        "slow_link { chip: 3 kind: \"nvlink\" speed_fraction: 0.1 }",
        "slow_link { chip: 3 kind: \"nic\" speed_fraction: 0.1 }", "late_launch { chip: 5 late_ms: 20 }",
        "late_launch { chip: 5 late_ms: 20 } late_launch { chip: 8 random_ms: 30 }",
        "slow_chip { chip: 5 speed_fraction: 0.9 } late_launch { chip: 5 late_ms: 10 }",
        "jitter_coefficient_of_variation: 0.02", "jitter_override { of_chip_step: 0.02 }",
        "jitter_override { of_host_step: 0.02 }", "jitter_override { of_step: 0.02 of_run: 0.01 }",
        "garbage_collection { every_steps: 2 pause_ms: 30 }",
        "garbage_collection { every_steps: 2 pause_ms: 30 of: host }",
        "garbage_collection { every_steps: 2 pause_ms: 30 of: job }",
        "input_stall { probability: 0.5 mean_ms: 40 }",
        "slow { which { kind: \"host\" index: 1 } speed_fraction: 0.8 }",
        "slow { which { kind: \"chip\" random_fraction: 0.3 } speed_fraction: 0.9 when { swing { amplitude: "
        "0.3 period_s: 1 } } }",
        "background { which { kind: \"nic\" index: 2 } taken_fraction: 0.5 when { on_off { share: 0.5 "
        "slot_s: 0.1 } } }",
        "nic_flap { which { kind: \"nic\" index: 9 } at_s: 0.1 down_s: 0.3 library_timeout_s: 60 }",
        "failed_port { chip: 3 kind: \"nic\" }"}) {
    expect_folding_changes_nothing({"schedule: interleaved chunks_per_stage: 2", "", adversity});
  }
}

// In "fsdp" chips of the tensor axis do not wait for each other, so that those of a worker drift apart.
TEST(Replay, is_possible_of_steps_with_any_slow_link_in_every_schedule_of_traces) {
  const auto expect_replay = [](SmallJob small, const char* kind, const char* speed, int chip) {
    small.adversity = "slow_link { chip: " + std::to_string(chip) + " kind: \"" + kind +
                      "\" speed_fraction: " + speed + " }";
    const Report report = predict_step(testing::load(small), {}).report;
    ASSERT_TRUE(report.what_if) << small.pipeline << " " << small.sharding << " " << small.adversity << ": "
                                << report.verdict->replay;
    EXPECT_GT(report.what_if->S.mean, 0);
  };
  for (const char* schedule :
       {"schedule: gpipe", "schedule: one_f_one_b", "schedule: interleaved chunks_per_stage: 2",
        "schedule: interleaved chunks_per_stage: 6"})
    for (const char* sharding : {"megatron_sp", "fsdp"})
      for (const char* speed : {"0.3", "0.02"}) {
        SmallJob small{schedule, "", ""};
        small.sharding = sharding;
        expect_replay(small, "nvlink", speed, 0);
        expect_replay(small, "nic", speed, 5);
        small.cluster = "chip: \"tpu_v5p\" fabric: \"v5p_pod\"";
        small.stack = "maxtext_2025";
        expect_replay(small, "ici", speed, 3);
      }
}

TEST(Verdict, names_what_was_injected_with_the_slowdown_against_the_job_without_it) {
  const std::vector<std::pair<std::string, std::string>> causes = {
      {"slow_chip { chip: 5 speed_fraction: 0.7 }", "chip 5 at speed 0.7"},
      {"late_launch { chip: 5 late_ms: 40 }", "late launches of chip 5"},
      {"slow_link { chip: 3 kind: \"nic\" speed_fraction: 0.02 }", "nic of chip 3 at speed 0.02"},
      {"slow_link { chip: 12 kind: \"nvlink\" speed_fraction: 0.02 }", "nvlink of chip 12 at speed 0.02"},
      {"input_stall { probability: 1 mean_ms: 900 }", "stalls of input"},
      {"slow_chip { chip: 5 speed_fraction: 0.8 } slow_chip { chip: 7 speed_fraction: 0.8 }",
       "2 chips of host 0 at speed 0.8"}};
  for (const std::string schedule :
       {"schedule: one_f_one_b", "schedule: interleaved chunks_per_stage: 2", "schedule: dualpipe"}) {
    const auto predict = [&](const std::string& adversity) {
      return predict_step(testing::load(SmallJob{schedule, "", adversity}), {}).report;
    };
    const double clean_s = predict("").step_time.in_seconds();
    for (const auto& [adversity, cause] : causes) {
      const Report report = predict(adversity);
      ASSERT_TRUE(report.verdict);
      EXPECT_NEAR(report.verdict->slowdown, report.step_time.in_seconds() / clean_s, 1e-9) << adversity;
      EXPECT_EQ(report.verdict->cause, report.verdict->slowdown < 1.001 ? "none" : cause) << schedule;
    }
  }
}

}  // namespace
}  // namespace podsim::adversity_laws_test
