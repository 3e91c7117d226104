// Profiles of XProf: streams of GPUs, lines of TPUs, steps, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/file_kind.h"
#include "ingest/kineto/read_profile.h"
#include "ingest/kineto/summary.h"
#include "ingest/xplane/device_profiles.h"
#include "ingest/xplane/import_xplane.h"
#include "ingest/xplane/read_space.h"
#include "ingest/xplane/read_trace_json.h"
#include "tests/ingest/chakra_bytes.h"
#include "tests/ingest/expected_figures.h"

namespace podsim::xplane_test {
namespace {

using testing::bytes_field;
using testing::number_field;

std::string name_entry(int field, std::uint64_t key, const std::string& name) {
  return bytes_field(field,
                     number_field(1, key) + bytes_field(2, number_field(1, key) + bytes_field(2, name)));
}

std::string event(std::uint64_t name, std::uint64_t offset_ps, std::uint64_t duration_ps,
                  const std::string& stats = "") {
  return bytes_field(
      4, number_field(1, name) + number_field(2, offset_ps) + number_field(3, duration_ps) + stats);
}

std::string stat(std::uint64_t name, std::uint64_t value) {
  return bytes_field(4, number_field(1, name) + number_field(3, value));
}

std::string line(const std::string& name, std::uint64_t begin_ns, const std::string& events) {
  return bytes_field(3, bytes_field(2, name) + number_field(3, begin_ns) + events);
}

std::string plane(const std::string& name, const std::string& parts) {
  return bytes_field(1, bytes_field(2, name) + parts);
}

// A product of 3 us, a copy beside it of 2 us, an all-reduce of 4 us behind it, launched by the host.
std::string gpu_space(const std::string& device = "/device:GPU:0") {
  const std::string names =
      name_entry(4, 1, "gemm") + name_entry(4, 2, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL") +
      name_entry(4, 3, "copy") + name_entry(5, 7, "correlation_id") + name_entry(5, 8, "memcpy_details");
  const std::string host = name_entry(4, 1, "launch") + name_entry(4, 2, "train") +
                           name_entry(5, 7, "correlation_id") + name_entry(5, 9, "step_num");
  return plane(device,
               names +
                   line("Stream #1(Compute)", 1000,
                        event(1, 500, 3'000'000, stat(7, 21)) + event(2, 3'000'500, 4'000'000, stat(7, 22))) +
                   line("Stream #2(MemcpyD2D)", 1000, event(3, 1'000'500, 2'000'000, stat(8, 1))) +
                   line("XLA Modules", 1000, event(1, 500, 7'000'000))) +
         plane("/host:CPU", host + line("python", 0,
                                        event(2, 0, 900'000, stat(9, 5)) + event(1, 100, 10, stat(7, 21)) +
                                            event(1, 200, 10, stat(7, 22)) + event(1, 300, 10)));
}

std::optional<Imported> imported(const std::string& bytes, std::string& problem) {
  std::vector<Problem> problems;
  auto read = import_xplane({{"p.xplane.pb", bytes}}, {}, problems);
  problem = problems.empty() ? "" : format_problem(problems.front());
  return read;
}

TEST(Xplane, is_told_by_its_first_plane_and_not_by_its_name) {
  ASSERT_NE(file_kind(gpu_space()), nullptr);
  EXPECT_STREQ(file_kind(gpu_space())->name, "xplane");
  EXPECT_STREQ(file_kind(gpu_space().substr(0, 40))->name, "xplane");
}

TEST(Xplane, of_a_gpu_has_the_work_of_its_streams_and_the_steps_of_the_host) {
  std::vector<Problem> problems;
  const auto space = xplane::read_space("p", gpu_space(), problems);
  ASSERT_TRUE(space);
  Account account;
  const auto devices = xplane::device_profiles("p", *space, account);
  ASSERT_EQ(devices.size(), 1u);
  const kineto::Summary& summary = devices[0].summary;
  EXPECT_EQ(summary.compute_kernels, 1);
  EXPECT_EQ(summary.communication_kernels, 1);
  EXPECT_EQ(summary.memory_operations, 1);
  EXPECT_EQ(devices[0].profile.device_events[0].begin_ns, 1001);  // half up, as other profiles
  EXPECT_EQ(summary.whole.compute, 3000);
  EXPECT_EQ(summary.whole.memory, 2000);
  EXPECT_EQ(summary.whole.exposed, 4000);
  ASSERT_EQ(summary.collectives.size(), 1u);
  EXPECT_EQ(summary.collectives[0].call.kind, "all_reduce");
  ASSERT_EQ(summary.steps.size(), 1u);
  EXPECT_EQ(summary.steps[0].step.number, 5);
  EXPECT_EQ(summary.steps[0].launched, 2);
  EXPECT_EQ(account.read, 8);
  EXPECT_EQ(account.used, 6);
  EXPECT_EQ(account.passed_over.at("larger pieces of the same work"), 1);
  EXPECT_EQ(account.passed_over.at("work of the host"), 1);
}

// The same trace as PyTorch would write it, with times as they are rounded to nanoseconds.
const char* const kSameAsJson = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "ts": 0, "dur": 0.9},
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "ts": 0.1, "dur": 0, "args": {"correlation": 21}},
  {"ph": "X", "cat": "cuda_runtime", "name": "launch", "ts": 0.2, "dur": 0, "args": {"correlation": 22}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1.001, "dur": 3,
   "args": {"device": 0, "stream": 1, "correlation": 21}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ts": 4.001, "dur": 4,
   "args": {"device": 0, "stream": 1, "correlation": 22}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "copy", "ts": 2.001, "dur": 2, "args": {"device": 0, "stream": 2}}]})";

void expect_same(const kineto::DeviceTime& one, const kineto::DeviceTime& other) {
  EXPECT_EQ(one.span, other.span);
  EXPECT_EQ(one.busy, other.busy);
  EXPECT_EQ(one.compute, other.compute);
  EXPECT_EQ(one.communication, other.communication);
  EXPECT_EQ(one.memory, other.memory);
  EXPECT_EQ(one.overlap, other.overlap);
  EXPECT_EQ(one.exposed, other.exposed);
}

TEST(Xplane, gives_the_figures_of_the_same_trace_as_json) {
  std::vector<Problem> problems;
  const auto space = xplane::read_space("p", gpu_space(), problems);
  const auto json = kineto::read_profile("p.json", kSameAsJson, problems);
  ASSERT_TRUE(space && json);
  Account account;
  const kineto::Summary one = xplane::device_profiles("p", *space, account).at(0).summary;
  const kineto::Summary other = kineto::summarize(*json);
  expect_same(one.whole, other.whole);
  ASSERT_EQ(one.steps.size(), 1u);
  ASSERT_EQ(other.steps.size(), 1u);
  EXPECT_EQ(one.steps[0].launched, other.steps[0].launched);
  EXPECT_EQ(one.steps[0].lasts_ns(), other.steps[0].lasts_ns());
  expect_same(one.steps[0].device, other.steps[0].device);
  EXPECT_EQ(one.collectives.at(0).call.kind, other.collectives.at(0).call.kind);
  EXPECT_EQ(one.collectives.at(0).sum_ns, other.collectives.at(0).sum_ns);
}

// What TensorBoard shows of a TPU: 60 us of a fusion, 30 of an all-reduce beside nothing, 10.5 of a copy, in
// one step; its processes and threads are named behind their events, and an empty event ends the list.
TEST(Xplane, is_read_as_its_viewer_has_it) {
  const std::string text = R"J({"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [
    {"ph": "X", "pid": 3, "tid": 1, "name": "7", "ts": 1000, "dur": 100.5, "args": {"group_id": "1"}},
    {"ph": "X", "pid": 3, "tid": 2, "name": "jit_step(123)", "ts": 1000, "dur": 100.5},
    {"ph": "X", "pid": 3, "tid": 3, "name": "fusion.1", "ts": 1000.000001, "dur": 60},
    {"ph": "X", "pid": 3, "tid": 3, "name": "all-reduce.3", "ts": 1060.000001, "dur": 30},
    {"ph": "X", "pid": 3, "tid": 3, "name": "copy.2", "ts": 1090.000001, "dur": 10.499999},
    {"ph": "X", "pid": 701, "tid": 9, "name": "train", "ts": 900, "dur": 500},
    {"ph": "C", "pid": 3, "tid": 0, "name": "power", "ts": 900},
    {"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:TPU:0"}},
    {"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
    {"ph": "M", "pid": 3, "tid": 1, "name": "thread_name", "args": {"name": "Steps"}},
    {"ph": "M", "pid": 3, "tid": 2, "name": "thread_name", "args": {"name": "XLA Modules"}},
    {"ph": "M", "pid": 3, "tid": 3, "name": "thread_name", "args": {"name": "XLA Ops"}},
    {}]})J";
  EXPECT_STREQ(file_kind(text)->name, "xplane");
  std::vector<Problem> problems;
  const auto space = xplane::read_trace_json("p", text, problems);
  ASSERT_TRUE(space);
  Account account;
  const auto devices = xplane::device_profiles("p", *space, account);
  account.check();
  EXPECT_EQ(account.read, 7);
  EXPECT_EQ(account.used, 4);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].profile.devices.front().name, "/device:TPU:0");
  const kineto::Summary& summary = devices[0].summary;
  EXPECT_EQ(summary.whole.span, 100'500);
  EXPECT_EQ(summary.whole.compute, 70'500);
  EXPECT_EQ(summary.whole.exposed, 30'000);
  ASSERT_EQ(summary.steps.size(), 1u);
  EXPECT_EQ(summary.steps[0].step.number, 7);
  EXPECT_EQ(summary.steps[0].launched, 3);
  EXPECT_EQ(summary.collectives.at(0).call.kind, "all_reduce");

  EXPECT_FALSE(xplane::read_trace_json("p", text.substr(0, 700), problems));
  EXPECT_NE(format_problem(problems.back()).find("the JSON ends after"), std::string::npos);
  EXPECT_FALSE(
      xplane::read_trace_json("p", R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 1}]})", problems));
  EXPECT_NE(format_problem(problems.back()).find("event 1 (a) has no ts or no dur"), std::string::npos);
  EXPECT_FALSE(
      xplane::read_trace_json("p", R"({"traceEvents": [{"ph": "X", "ts": 9e99, "dur": 1}]})", problems));
}

TEST(Xplane, of_a_tpu_has_its_operations_and_its_own_steps) {
  const std::string names = name_entry(4, 1, "%fusion.1 = bf16[8]{0} fusion(x)") +
                            name_entry(4, 2, "all-gather-start.3") + name_entry(4, 3, "12");
  const std::string tpu =
      plane("/device:TPU:0", names + line("Steps", 0, event(3, 0, 10'000'000)) +
                                 line("XLA Modules", 0, event(1, 0, 9'000'000)) +
                                 line("XLA Ops", 0, event(1, 0, 5'000'000)) +
                                 line("Async XLA Ops", 0, event(2, 4'000'000, 3'000'000)));
  std::vector<Problem> problems;
  const auto space = xplane::read_space("p", tpu, problems);
  ASSERT_TRUE(space);
  Account account;
  const auto devices = xplane::device_profiles("p", *space, account);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].summary.whole.overlap, 1000);
  EXPECT_EQ(devices[0].summary.whole.exposed, 2000);
  EXPECT_EQ(devices[0].summary.collectives[0].call.kind, "all_gather");
  ASSERT_EQ(devices[0].summary.steps.size(), 1u);
  EXPECT_EQ(devices[0].summary.steps[0].step.number, 12);
  EXPECT_EQ(devices[0].summary.steps[0].launched, 2);
}

TEST(Xplane, of_several_devices_is_told_as_ranks_and_runs_again) {
  std::string problem;
  const auto read = imported(gpu_space() + gpu_space("/device:GPU:1"), problem);
  ASSERT_TRUE(read) << problem;
  EXPECT_EQ(read->ranks, 2);
  EXPECT_EQ(read->step(2, nullptr).rank_number.size(), 2u);
  EXPECT_NE(read->text.find("profile of XProf, 2 devices, 1 collectives joined"), std::string::npos)
      << read->text;
}

TEST(Xplane, that_is_cut_names_the_byte_and_one_without_devices_says_so) {
  const std::string whole = gpu_space();
  std::string problem;
  const std::size_t device = whole.find("/host:CPU") - 5;  // the end of the first plane
  for (std::size_t length = 2; length < whole.size(); ++length) {
    const bool between = imported(whole.substr(0, length), problem).has_value();
    EXPECT_TRUE(between ? length == device : problem.find("byte") != std::string::npos) << length << problem;
  }
  EXPECT_FALSE(imported(plane("/host:CPU", ""), problem));
  EXPECT_NE(problem.find("no device did anything"), std::string::npos) << problem;
  EXPECT_FALSE(imported(plane("/device:GPU:0", line("Stream #1", 0, event(4, 0, 1))), problem));
  EXPECT_NE(problem.find("an event whose name the plane lacks"), std::string::npos) << problem;
}

// Of jax_conv_mi300.xplane.pb by a second reading of its bytes.
TEST(Xplane, of_others_gives_the_events_of_each_device) {
  const auto texts = expected_figures::texts_of(
      {expected_figures::data_folder() + "/ingest/xplane/jax_conv_mi300.xplane.pb.gz"});
  if (texts.empty()) GTEST_SKIP() << "PODSIM_DATA names no folder with ingest/";
  std::vector<Problem> problems;
  const auto space = xplane::read_space("p", texts.front().text, problems);
  ASSERT_TRUE(space);
  Account account;
  const auto devices = xplane::device_profiles("p", *space, account);
  ASSERT_EQ(devices.size(), 8u);
  EXPECT_EQ(devices[0].profile.device_events.size(), 60u);
  EXPECT_EQ(devices[1].profile.device_events.size(), 25u);
  EXPECT_EQ(devices[1].profile.devices[0].memory_bytes, 206141652992);
}

}  // namespace
}  // namespace podsim::xplane_test
