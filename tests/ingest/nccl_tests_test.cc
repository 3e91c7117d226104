// Outputs of nccl-tests: what the lines say, and what follows from the rows.
#include "ingest/nccl_tests.h"

#include <gtest/gtest.h>

#include "proto/text/read_file.h"

namespace podsim::nccl_tests_test {
namespace {

NcclTests read(const std::string& text) {
  std::vector<Problem> problems;
  const auto tests = read_nccl_tests("test.txt", text, problems);
  EXPECT_TRUE(tests);
  return tests.value_or(NcclTests{});
}

NcclTests corpus(const std::string& name) {
  std::vector<Problem> problems;
  return read(*read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/nccl_tests/" + name, problems));
}

TEST(NcclTests, tell_ranks_hosts_and_devices_where_they_are_listed) {
  const NcclTests tests = corpus("two_hosts.txt");
  EXPECT_EQ(tests.ranks, 4);
  EXPECT_EQ(tests.hosts, 2);
  EXPECT_EQ(tests.devices, std::vector<std::string>{"NVIDIA H100 80GB HBM3"});
  EXPECT_EQ(tests.inferred_kind, "all_reduce");
  EXPECT_DOUBLE_EQ(tests.bus_factor, 1.5);
  EXPECT_EQ(tests.average_busbw, 44.925);
}

// A log that keeps rows, and lines of NCCL between them, but not the heads of columns.
TEST(NcclTests, are_told_by_their_settings_too) {
  const std::string text =
      "[1,0]<stdout>:# nThread 1 nGpus 1 minBytes 1048576 maxBytes 8388608 step: 2(factor)\n"
      "[1,0]<stdout>:h1:100:200 [0] NCCL INFO Using network IB\n"
      "[1,0]<stdout>:  1048576  131072  float  sum  -1  30.0  34.95  17.48  0  29.0  36.16  18.08  0\n";
  EXPECT_TRUE(is_nccl_tests(text));
  EXPECT_EQ(read(text).inferred_kind, "reduce_scatter");
}

TEST(NcclTests, leave_out_rows_that_moved_nothing_or_were_wrong) {
  const NcclTests tests = corpus("two_hosts.txt");
  ASSERT_EQ(tests.rows.size(), 3u);
  EXPECT_FALSE(tests.rows[0].usable());
  EXPECT_TRUE(tests.rows[1].usable());
  EXPECT_FALSE(tests.rows[2].usable());
}

TEST(NcclTests, infer_kind_and_ranks_from_the_bus_factor) {
  const NcclTests tests = corpus("launcher.txt");
  EXPECT_EQ(tests.kind, "");
  EXPECT_EQ(tests.inferred_kind, "all_gather or alltoall");
  EXPECT_EQ(tests.inferred_ranks, 16);
  EXPECT_DOUBLE_EQ(tests.bus_factor, 0.9375);
}

// Whoever sends names a reduction too, but no root.
TEST(NcclTests, tell_reductions_to_a_root_from_messages) {
  const auto kind = [](const std::string& root, const std::string& wrong, const std::string& before = "") {
    return read(before + "8388608 2097152 float sum " + root + " 100.0 83.89 83.89 0 100.0 83.89 83.89 " +
                wrong + "\n")
        .inferred_kind;
  };
  const std::string rank = "#  Rank  0 Group  0 Pid  1 on    a device  0 [0x07] NVIDIA H100\n";
  EXPECT_EQ(kind("0", "0"), "reduce");
  EXPECT_EQ(kind("-1", "N/A"), "sendrecv");
  EXPECT_EQ(kind("-1", "0"), "all_reduce or sendrecv");
  EXPECT_EQ(kind("-1", "0", rank + rank), "all_reduce");
}

TEST(NcclTests, are_read_without_a_column_for_the_reduction) {
  const NcclTests tests = corpus("old_columns.txt");
  EXPECT_EQ(tests.kind, "broadcast");
  EXPECT_EQ(tests.rows.front().root, 0);
  EXPECT_EQ(tests.rows.front().out_of_place.time_us, 10);
  EXPECT_EQ(tests.inferred_kind, "broadcast or sendrecv");
}

// Until 2022 the last column was the largest deviation, and srun -l puts the task before each line.
TEST(NcclTests, are_read_with_a_column_of_deviations_behind_the_number_of_a_task) {
  const NcclTests tests = read(
      "0: #       size         count    type   redop     time   algbw   busbw  error     time   algbw   "
      "busbw  error\n"
      "0:      8388608       2097152   float     sum    100.0   83.89  125.84  1e-07    100.0   83.89  "
      "125.84  0e+00\n"
      "0:     16777216       4194304   float     sum    180.0   93.21  139.82  2e+01    180.0   93.21  "
      "139.82  0e+00\n");
  ASSERT_EQ(tests.rows.size(), 2u);
  EXPECT_EQ(tests.rows[0].out_of_place.wrong, "1e-07");
  EXPECT_TRUE(tests.rows[0].usable());
  EXPECT_FALSE(tests.rows[1].usable());
  EXPECT_EQ(tests.inferred_ranks, 4);
}

// A log of two tests, one behind the other, is none with the mean of their bandwidths.
TEST(NcclTests, of_several_collectives_in_one_log_are_told_apart) {
  const std::string head =
      "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n";
  const std::string text = "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 8\n" + head +
                           "1048576 262144 float sum -1 50.0 20.97 36.70 0 50.0 20.97 36.70 0\n"
                           "# Avg bus bandwidth    : 36.7\n"
                           "# Collective test starting: all_gather_perf\n# nThread 1 nGpus 8\n" +
                           head +
                           "1048576 32768 float none -1 40.0 26.21 22.94 0 40.0 26.21 22.94 0\n"
                           "# Avg bus bandwidth    : 22.94\n";
  const auto pieces = texts_of_tests(text);
  ASSERT_EQ(pieces.size(), 2u);
  std::vector<Problem> problems;
  const auto reduce = read_nccl_tests("log", pieces[0], problems);
  const auto gather = read_nccl_tests("log", pieces[1], problems);
  ASSERT_TRUE(reduce && gather);
  EXPECT_EQ(reduce->kind, "all_reduce");
  EXPECT_EQ(reduce->inferred_ranks, 8);
  EXPECT_EQ(gather->kind, "all_gather");
  EXPECT_DOUBLE_EQ(gather->bus_factor, 0.875);
  const auto imported = import_nccl_tests({{"log", text}}, {}, problems);
  ASSERT_TRUE(imported);
  EXPECT_FALSE(imported->measured);
}

TEST(NcclTests, count_no_bandwidth_of_wrong_results) {
  std::vector<Problem> problems;
  const auto tests = read_nccl_tests("log",
                                     "# time algbw busbw\n"
                                     "1048576 262144 float sum -1 50.0 20.97 36.70 0 50.0 20.97 36.70 0\n"
                                     "2097152 524288 float sum -1 60.0 34.95 61.17 3 60.0 34.95 61.17 0\n",
                                     problems);
  ASSERT_TRUE(tests);
  EXPECT_DOUBLE_EQ(tests->peak_busbw(), 36.70);
}

TEST(NcclTests, have_no_average_and_no_right_result_that_is_no_number) {
  std::vector<Problem> problems;
  for (const std::string odd : {"nan", "inf"}) {
    const auto tests = read_nccl_tests("log",
                                       "# time algbw busbw\n"
                                       "1048576 262144 float sum -1 50.0 20.97 36.70 " +
                                           odd +
                                           " 50.0 20.97 36.70 0\n"
                                           "# Avg bus bandwidth    : " +
                                           odd + "\n",
                                       problems);
    ASSERT_TRUE(tests) << odd;
    EXPECT_FALSE(tests->average_busbw) << odd;
    EXPECT_TRUE(tests->rows.at(0).wrong()) << odd;
  }
}

TEST(NcclTests, account_for_every_line) {
  const NcclTests tests = corpus("two_hosts.txt");
  EXPECT_EQ(tests.lines, 14);
  EXPECT_EQ(tests.used_lines, 4 + 3 + 1);
  EXPECT_EQ(tests.passed_over.at("of other programs"), 1);
  EXPECT_EQ(tests.passed_over.at("heads and settings"), 5);
}

TEST(NcclTests, without_a_row_are_refused) {
  std::vector<Problem> problems;
  EXPECT_FALSE(read_nccl_tests("test.txt", "# size time algbw busbw\n", problems));
  EXPECT_EQ(problems.size(), 1u);
}

TEST(NcclTests, whose_last_line_is_missing_are_told_to_be_cut) {
  std::vector<Problem> problems;
  const std::string whole =
      *read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/nccl_tests/two_hosts.txt", problems);
  EXPECT_TRUE(import_nccl_tests({{"f", whole}}, {}, problems)->notes.empty());
  const auto cut = import_nccl_tests({{"f", whole.substr(0, whole.find("# Avg"))}}, {}, problems);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->notes.size(), 1u);
}

}  // namespace
}  // namespace podsim::nccl_tests_test
