// The trace of a run that is done: made when it is asked for, kept for a while, or told why it cannot be.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/traces/step_trace.h"
#include "tests/serve/served.h"

namespace podsim::serve_trace_test {
namespace {

using nlohmann::json;
using serve_test::kSmall;
using serve_test::Served;

TEST_F(Served, a_run_that_is_done_has_the_trace_that_the_command_writes) {
  ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
  const int while_it_runs = ask("GET", "/api/jobs/1/trace").status;
  EXPECT_TRUE(while_it_runs == 202 || while_it_runs == 200);
  EXPECT_EQ(ended(1).status, 200);
  ServeAnswer trace = ask("GET", "/api/jobs/1/trace");
  for (int i = 0; i < 3000 && trace.status == 202; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    trace = ask("GET", "/api/jobs/1/trace");
  }
  ASSERT_EQ(trace.status, 200) << trace.body;
  PredictOptions options;
  options.tracks = true;
  const Prediction prediction = predict_step(*load_scenario("scenario", kSmall, catalog, {}).spec, options);
  EXPECT_EQ(trace.body, perfetto_trace(*prediction.tracks));
  EXPECT_EQ(json::parse(service.runs().events_after(0).back().json).at("traced"), true);
  EXPECT_EQ(ask("DELETE", "/api/jobs/1/trace").status, 405);
  EXPECT_EQ(ask("GET", "/api/jobs/1/traces").status, 404);
  EXPECT_EQ(ask("GET", "/api/jobs/2/trace").status, 404);
}

TEST_F(Served, only_the_last_traces_are_kept_and_others_are_made_again) {
  const int runs = static_cast<int>(RunQueue::kMostTraces) + 1;
  const auto traced = [&](int id) {
    for (int i = 0; i < 3000; ++i) {
      if (ask("GET", "/api/jobs/" + std::to_string(id) + "/trace").status == 200) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  for (int i = 1; i <= runs; ++i) {
    ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
    EXPECT_TRUE(traced(i));
  }
  EXPECT_FALSE(service.runs().find(1)->trace);
  EXPECT_TRUE(service.runs().find(2)->trace);
  EXPECT_TRUE(traced(1));
}

TEST_F(Served, a_trace_that_fails_is_told_with_its_words_and_not_made_again) {
  ASSERT_EQ(ask("POST", "/api/run", kSmall).status, 202);
  ASSERT_EQ(ended(1).status, 200);
  const std::string slow = "slow_chip { chip: 3 speed_fraction: 1e-4 } ";  // twice: beyond simulated time
  LoadResult endless = load_scenario("scenario", kSmall + " adversity { " + slow + slow + "}", catalog, {});
  ASSERT_TRUE(endless.spec);
  ASSERT_TRUE(service.runs().add_trace(1, *std::move(endless.spec)));
  ServeAnswer trace = ask("GET", "/api/jobs/1/trace");
  for (int i = 0; i < 3000 && trace.status == 202; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    trace = ask("GET", "/api/jobs/1/trace");
  }
  EXPECT_EQ(trace.status, 500);
  EXPECT_NE(trace.body.find("computation on chip 3"), std::string::npos) << trace.body;
  const std::uint64_t told = service.runs().last_event();
  const json event = json::parse(service.runs().events_after(told - 1).front().json);
  EXPECT_EQ(event.at("state"), "done") << "the run itself is";
  EXPECT_NE(event.at("trace_failure").get<std::string>().find("computation on chip 3"), std::string::npos);
  EXPECT_EQ(ask("GET", "/api/jobs/1/trace").body, trace.body);
  EXPECT_FALSE(service.runs().find(1)->tracing);
  EXPECT_EQ(ask("GET", "/api/jobs/1").status, 200) << "its report is there all the same";
  EXPECT_EQ(service.runs().last_event(), told);
}

}  // namespace
}  // namespace podsim::serve_trace_test
