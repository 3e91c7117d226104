// Profiles: times to the nanosecond, unions of intervals, steps by their launches, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/kineto/collective_names.h"
#include "ingest/kineto/exact_time.h"
#include "ingest/kineto/import_kineto.h"
#include "ingest/kineto/intervals.h"
#include "ingest/kineto/ranks.h"
#include "ingest/kineto/read_profile.h"

namespace podsim::kineto_test {
namespace {

using kineto::DeviceTime;

std::string event(const std::string& category, const std::string& name, const std::string& ts,
                  const std::string& dur, const std::string& args = "") {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 0, "tid": 1, "ts": )" + ts + R"(, "dur": )" + dur + R"(, "args": {)" + args + "}}";
}

std::string document(const std::vector<std::string>& events, const std::string& rest = "") {
  std::string text;
  for (const std::string& each : events) text += (text.empty() ? "" : ", ") + each;
  return R"({"schemaVersion": 1, )" + rest + R"("traceEvents": [)" + text + "]}";
}

kineto::Profile profile_of(const std::string& text) {
  std::vector<Problem> problems;
  const auto profile = kineto::read_profile("p.json", text, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  return profile.value_or(kineto::Profile{});
}

kineto::Summary summary_of(const std::string& text) { return kineto::summarize(profile_of(text)); }

std::string refusal_of(const std::string& text) {
  std::vector<Problem> problems;
  if (import_kineto({{"p.json", text}}, {}, problems)) return "";
  const Problem& first = problems.front();
  return std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message;
}

TEST(ExactTime, keeps_nanoseconds_that_doubles_lose) {
  const auto begin = kineto::from_microseconds(std::string_view("4458676522690.655"));
  ASSERT_TRUE(begin);
  EXPECT_EQ(begin->rounded_ns(), 4458676522690655);
  EXPECT_EQ(kineto::from_microseconds(std::string_view("1.5e3"))->rounded_ns(), 1'500'000);
  EXPECT_EQ(kineto::from_microseconds(std::string_view("25e-4"))->rounded_ns(), 3);
  EXPECT_EQ(kineto::from_microseconds(std::string_view("-0.0015"))->rounded_ns(), -1);
  EXPECT_FALSE(kineto::from_microseconds(std::string_view("1e99")));
  EXPECT_FALSE(kineto::from_microseconds(std::string_view("12us")));
  EXPECT_FALSE(kineto::from_microseconds(INT64_MAX));
}

// 0.4 + 0.4 ns: begin and end are rounded, not the duration.
TEST(ExactTime, is_rounded_after_it_is_added) {
  const auto begin = kineto::from_microseconds(std::string_view("0.0004"));
  const auto end = kineto::sum(*begin, *begin);
  EXPECT_EQ(begin->rounded_ns(), 0);
  EXPECT_EQ(end->rounded_ns(), 1);
}

TEST(Intervals, unite_what_touches_and_share_what_both_have) {
  const kineto::Intervals a = kineto::union_of({{5, 7}, {0, 2}, {2, 4}, {6, 9}, {11, 11}});
  EXPECT_EQ(a, (kineto::Intervals{{0, 4}, {5, 9}}));
  EXPECT_EQ(kineto::length_ns(a), 8);
  EXPECT_EQ(kineto::intersection_of(a, kineto::union_of({{3, 6}, {8, 20}})),
            (kineto::Intervals{{3, 4}, {5, 6}, {8, 9}}));
}

TEST(CollectiveNames, are_those_of_calls_and_of_kernels) {
  EXPECT_EQ(kineto::kind_of_call("_allgather_base"), "all_gather");
  EXPECT_EQ(kineto::kind_of_call("reduce_scatter_tensor_coalesced"), "reduce_scatter");
  EXPECT_EQ(kineto::kind_of_call("all_to_allv"), "all_to_all");
  EXPECT_EQ(
      kineto::kind_of_kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
      "all_reduce");
  EXPECT_EQ(kineto::kind_of_kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"), "send_recv");
  EXPECT_EQ(kineto::kind_of_kernel("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"), "unknown");
}

TEST(KinetoProfile, tells_exposed_communication_from_that_behind_computation_and_copies) {
  const DeviceTime whole =
      summary_of(document({event("kernel", "gemm", "100", "10", R"("stream": 7)"),
                           event("kernel", "ncclKernel_AllReduce", "105", "10.5", R"("stream": 9)"),
                           event("gpu_memcpy", "Memcpy DtoD", "112", "2", R"("stream": 7)")}))
          .whole;
  EXPECT_EQ(whole.span, 15'500);
  EXPECT_EQ(whole.busy, 15'500);
  EXPECT_EQ(whole.overlap, 5'000);
  EXPECT_EQ(whole.exposed, 5'500);
  EXPECT_EQ(whole.exposed_beyond_memory, 3'500);
}

TEST(KinetoProfile, gives_work_to_the_step_that_launched_it_and_not_to_that_in_which_it_ran) {
  const kineto::Summary summary =
      summary_of(document({event("user_annotation", "ProfilerStep#3", "0", "10"),
                           event("user_annotation", "ProfilerStep#4", "20", "10"),
                           event("cuda_runtime", "cudaLaunchKernel", "5", "1", R"("correlation": 1)"),
                           event("cuda_runtime", "cudaLaunchKernel", "25", "1", R"("correlation": 2)"),
                           event("kernel", "late", "22", "3", R"("stream": 7, "correlation": 1)"),
                           event("kernel", "next", "26", "1", R"("stream": 7, "correlation": 2)")}));
  ASSERT_EQ(summary.steps.size(), 2u);
  EXPECT_EQ(summary.steps[0].step.number, 3);
  EXPECT_EQ(summary.steps[0].launched, 1);
  EXPECT_EQ(summary.steps[0].device.compute, 3'000);
  EXPECT_EQ(summary.steps[0].to_next_ns, 20'000);
  EXPECT_EQ(summary.steps[1].device.compute, 1'000);
}

// A host that marks steps every 10 us has queued up three, each of which takes its device 15.
// Steps of 10 us on the host, each of which launches a kernel of 15 us.
kineto::Summary summary_of_kernels_at(const std::vector<int>& microseconds) {
  std::string all;
  const auto add = [&](const std::string& each) { all += (all.empty() ? "" : ", ") + each; };
  for (std::size_t i = 0; i < microseconds.size(); ++i) {
    const std::string n = std::to_string(i), correlation = R"("correlation": )" + n;
    add(event("user_annotation", "ProfilerStep#" + n, std::to_string(10 * i), "10"));
    add(event("cuda_runtime", "cudaLaunchKernel", std::to_string(10 * i + 1), "1", correlation));
    add(event("kernel", "gemm", std::to_string(microseconds[i]), "15", R"("stream": 7, )" + correlation));
  }
  return summary_of(R"({"traceEvents": [)" + all + "]}");
}

TEST(KinetoProfile, takes_the_interval_of_the_host_where_work_of_steps_changes_places) {
  const kineto::Summary summary = summary_of_kernels_at({30, 12, 45});
  ASSERT_EQ(summary.steps.size(), 3u);
  EXPECT_EQ(summary.steps[0].lasts_ns(), 10'000);
  EXPECT_EQ(summary.steps[1].lasts_ns(), 33'000);
}

TEST(KinetoProfile, takes_the_interval_of_the_device_where_its_host_runs_ahead) {
  const kineto::Summary summary = summary_of_kernels_at({5, 20, 35});
  ASSERT_EQ(summary.steps.size(), 3u);
  EXPECT_EQ(summary.steps[0].to_next_ns, 10'000);
  EXPECT_EQ(summary.steps[0].lasts_ns(), 15'000);
  EXPECT_EQ(summary.steps[1].lasts_ns(), 15'000);
  EXPECT_EQ(summary.steps[2].lasts_ns(), 10'000) << "that of the mark: nothing follows";
}

TEST(KinetoProfile, takes_ranks_that_an_event_cuts_from_the_groups_of_the_run) {
  const std::string args =
      R"("stream": 1, "Collective name": "allreduce", "In msg nelems": 10, "Out msg nelems": 10, "Group size": 3,
         "dtype": "Half", "Process Group Name": "7", "Process Group Ranks": "[4, 5, ...]")";
  const kineto::Summary summary = summary_of(document(
      {event("kernel", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", "0", "1", args)},
      R"("distributedInfo": {"rank": 4, "pg_config": "[{'pg_name': '7', 'pg_size': 3, 'ranks': [4, 5, 6]}]"}, )"));
  ASSERT_EQ(summary.collectives.size(), 1u);
  EXPECT_EQ(summary.collectives[0].call.ranks, "[4, 5, 6]");
  EXPECT_EQ(summary.collectives[0].call.in_bytes, 20);
}

TEST(KinetoProfile, may_be_a_bare_list_of_the_old_categories) {
  const kineto::Profile profile = profile_of("[" + event("Kernel", "k", "1", "2", R"("stream": 7)") + "," +
                                             event("Operator", "ProfilerStep#1", "0", "9") + "]");
  EXPECT_EQ(profile.device_events.size(), 1u);
  EXPECT_EQ(profile.steps.size(), 1u);
}

TEST(KinetoProfile, is_refused_where_it_is_damaged) {
  const std::string whole = document({event("kernel", "gemm", "1", "1"), event("kernel", "gemm", "2", "1")});
  EXPECT_EQ(refusal_of(whole), "");
  EXPECT_EQ(refusal_of(whole.substr(0, 200)), "1:201: the JSON ends inside traceEvents, after 1 events");
  EXPECT_EQ(refusal_of("{\n \"traceEvents\": [\n  }\n"),
            "3:3: this is no JSON inside traceEvents, after 0 events");
  EXPECT_EQ(refusal_of(document({R"({"cat": "kernel"})"})), "0:0: event 1 has no phase, \"ph\"");
  EXPECT_EQ(refusal_of(document({R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1})"})),
            "0:0: event 1 (k) has no duration, \"dur\"");
  EXPECT_EQ(refusal_of(document({event("kernel", "k", "\"soon\"", "1")})),
            "0:0: event 1 (k) has a time that is no number");
  EXPECT_EQ(refusal_of(document({event("cpu_op", "aten::mm", "1", "1")})),
            "0:0: no device events: the profile was taken without the activity of a device");
  EXPECT_EQ(refusal_of(R"({"traceEvents": 3})"), "0:0: the JSON has no list of events");
}

TEST(KinetoProfile, of_several_devices_warns_that_it_is_told_as_one) {
  const auto notes = [](const std::string& second, const std::string& category) {
    std::vector<Problem> problems;
    const auto imported = import_kineto(
        {{"p.json",
          document({event("kernel", "gemm", "10", "5", R"("device": 0, "stream": 7)"),
                    event(category, "other", "20", "5", R"("device": )" + second + R"(, "stream": 7)")})}},
        {}, problems);
    return imported ? imported->notes : std::vector<std::string>{"refused"};
  };
  EXPECT_TRUE(notes("0", "kernel").empty());
  EXPECT_TRUE(notes("1", "gpu_memcpy").empty()) << "copies name the device at their other end";
  ASSERT_EQ(notes("1", "kernel").size(), 1u);
  EXPECT_EQ(notes("1", "kernel")[0].find("p.json: kernels of 2 devices"), 0u);
}

TEST(KinetoAccount, adds_up) {
  const kineto::Profile profile = profile_of(document(
      {event("kernel", "k", "1", "1"), event("cpu_op", "o", "1", "1"), event("strange", "s", "1", "1"),
       R"({"ph": "M", "name": "process_name"})", R"({"ph": "s", "id": 1})"}));
  const Account account = kineto::account_of(profile);
  account.check();
  EXPECT_EQ(account.read, 5);
  EXPECT_EQ(account.used, 1);
  EXPECT_EQ(account.unknown.at("category strange"), 1);
}

// Old profiles have no header that says it.
TEST(KinetoRanks, are_those_of_headers_and_else_of_names_of_files) {
  const std::string text = document({event("kernel", "ncclKernel_AllReduce", "1", "1")});
  std::vector<Problem> problems;
  EXPECT_TRUE(import_kineto({{"a/rank1.json", text}, {"a/rank-0.json.gz", text}}, {}, problems));
  EXPECT_FALSE(import_kineto({{"a/rank1.json", text}, {"b/run_rank_1.json", text}}, {}, problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "rank 1 is that of a/rank1.json too");
}

kineto::RankProfile rank(std::int64_t number, const std::vector<std::pair<int, int>>& begins_and_ends) {
  std::vector<std::string> events;
  for (const auto& [begin, end] : begins_and_ends)
    events.push_back(
        event("kernel", "ncclKernel_AllReduce_RING", std::to_string(begin), std::to_string(end - begin)));
  kineto::RankProfile result{"p", number, profile_of(document(events)), {}};
  result.summary = kineto::summarize(result.profile);
  return result;
}

// Rank 1 comes 40 us late to the first, rank 0 by 10 us to the second.
TEST(KinetoRanks, wait_for_the_last_and_bytes_move_from_then_on) {
  const kineto::JoinedRanks joined =
      kineto::join({rank(0, {{10, 60}, {90, 99}}), rank(1, {{50, 61}, {80, 99}})});
  ASSERT_EQ(joined.collectives.size(), 2u);
  EXPECT_EQ(joined.collectives[0].last_arrival, 1);
  EXPECT_EQ(joined.collectives[0].spread_of_begins_ns, 40'000);
  EXPECT_EQ(joined.collectives[0].transfer_ns, 11'000);
  EXPECT_EQ(joined.collectives[0].shortest_ns, 11'000);
  EXPECT_EQ(joined.collectives[1].last_arrival, 0);
  EXPECT_EQ(joined.ranks[0].waited_ns, 40'000);
  EXPECT_EQ(joined.ranks[0].waited_for_ns, 10'000);
  EXPECT_EQ(joined.residual_ns, 1'000);
}

TEST(KinetoRanks, on_clocks_that_cannot_be_one_are_aligned_where_collectives_end) {
  const kineto::JoinedRanks joined =
      kineto::join({rank(0, {{10, 60}, {90, 99}}), rank(1, {{1050, 1060}, {1080, 1099}})});
  EXPECT_EQ(joined.shift_ns[0], 1'000'000);
  EXPECT_EQ(joined.shift_ns[1], 0);
  EXPECT_EQ(joined.collectives[0].transfer_ns, 10'000);
  EXPECT_EQ(joined.residual_ns, 0);
}

}  // namespace
}  // namespace podsim::kineto_test
