// Measured collectives: tables are read with their mistakes told, and predictions stay within the stated
// errors.
#include "validation/validate_collectives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "proto/text/read_file.h"

namespace podsim::validate_collectives_test {
namespace {

constexpr char kHeader[] = "system,gpus,nodes,network,collective,algo,bytes,time_us,busbw_GBps,source\n";

std::vector<std::string> messages(const std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  for (const Problem& problem : problems)
    texts.push_back(std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " +
                    problem.message + " | " + problem.hint);
  return texts;
}

using Lines = std::vector<std::string>;

MeasuredCollectives read(const std::string& rows) {
  return read_collective_table("t.csv", kHeader + rows, false);
}

const std::vector<PredictedCollective>& shipped() {
  static const std::vector<PredictedCollective> kRows = [] {
    const std::string path = PODSIM_SOURCE_DIR "/scenarios/measurements/nccl_allreduce.csv";
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const auto table = read_collective_table(path, text.str(), false);
    EXPECT_EQ(messages(table.problems), Lines{});
    const auto made = validate_collectives(table.rows, Catalog(), "");
    EXPECT_EQ(messages(made.problems), Lines{});
    return made.rows;
  }();
  return kRows;
}

TEST(MeasuredCollectives, the_shipped_table_has_70_rows_of_which_one_is_not_representative) {
  EXPECT_EQ(shipped().size(), 70u);
  EXPECT_EQ(std::ranges::count_if(shipped(), [](const auto& row) { return !row.measured.representative; }),
            1);
  EXPECT_EQ(summarize(shipped())[0].errors.rows, 69);
}

TEST(MeasuredCollectives,
     from_1_mib_on_errors_are_6_percent_in_the_mean_and_half_within_4_with_numbers_of_parts_alone) {
  const auto summary = summarize(shipped());
  ASSERT_EQ(summary[1].of, "1 MiB and more");
  EXPECT_LE(summary[1].errors.mean, 0.06);
  EXPECT_LE(summary[1].errors.median, 0.04);
  EXPECT_LE(summary[1].errors.max, 0.32);
  ASSERT_EQ(summary[2].of, "below 1 MiB");
  EXPECT_LE(summary[2].errors.mean, 0.15);
}

// The same numbers serve 2 and 248 nodes.
TEST(MeasuredCollectives, the_numbers_of_two_nodes_serve_248) {
  double largest = 0;
  for (const auto& row : shipped())
    if (row.measured.gpus == 1984) largest = std::max(largest, std::fabs(row.error()));
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, 0.32);
}

TEST(MeasuredCollectives, a_pinned_algorithm_is_predicted_with_it_and_the_library_is_free_otherwise) {
  for (const auto& row : shipped()) {
    if (row.measured.algo == "Ring") {
      EXPECT_EQ(row.algorithm, Algorithm::kRing);
    }
    if (row.measured.algo == "default(NVLSTree)" && row.measured.collective.bytes.value >= 64 << 20) {
      EXPECT_EQ(row.algorithm, Algorithm::kNvlsTree) << row.measured.id;
    }
  }
}

TEST(MeasuredCollectives, a_row_without_a_time_uses_its_bus_bandwidth) {
  const auto table = read("H100-SXM,8,1,NVLink4,all_reduce,Ring,8e9,,350,\"a, \"\"b\"\"\"\n");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_NEAR(table.rows[0].time_s, 1.75 * 8e9 / 350e9, 1e-15);
  EXPECT_EQ(table.rows[0].source, "a, \"b\"");
}

constexpr char kSweepHeader[] = "chip,software,dtype,gpus,bytes,collective,latency_ms\n";

TEST(MeasuredCollectives, a_sweep_over_a_chip_is_predicted_on_the_usual_network_of_the_chip) {
  const auto table = read_collective_table("t.csv",
                                           std::string(kSweepHeader) +
                                               "h100,nccl-2.29,half,8,1048576,all_reduce,0.025\n"
                                               "gb200,nccl-2.29,half,4,512,alltoall,0.0107\n",
                                           false);
  EXPECT_EQ(messages(table.problems), Lines{});
  const auto made = validate_collectives(table.rows, Catalog(), "");
  EXPECT_EQ(messages(made.problems), Lines{});
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_EQ(made.rows[0].fabric, "dgx_h100");
  EXPECT_EQ(made.rows[0].measured.time_s, 0.025e-3);
  EXPECT_EQ(made.rows[0].measured.source, "nccl-2.29 half");
  EXPECT_EQ(made.rows[1].fabric, "nvl72_gb200");
  EXPECT_EQ(made.rows[1].measured.collective.kind, CollectiveKind::kAllToAll);
  std::vector<std::string> cut;
  for (const NamedSummary& summary : summarize(made.rows)) cut.push_back(summary.of);
  EXPECT_EQ(cut,
            (std::vector<std::string>{"all", "1 MiB and more", "below 1 MiB", "h100", "gb200", "all-reduce",
                                      "all-to-all", "8 GPUs", "4 GPUs", "1 to 16 MiB", "below 64 KiB"}));
}

// Other people's figures: PODSIM_DATA names a folder that has them.
TEST(MeasuredCollectives, half_of_a_sweep_inside_a_domain_lies_within_6_percent_on_every_chip) {
  const char* data = std::getenv("PODSIM_DATA");
  std::vector<Problem> problems;
  const auto text =
      data ? read_file(std::string(data) + "/kernels/nccl_node.csv.gz", problems) : std::nullopt;
  if (!text) GTEST_SKIP() << "skipped: PODSIM_DATA has no kernels/nccl_node.csv.gz";
  const auto table = read_collective_table("nccl_node.csv.gz", *text, false);
  EXPECT_EQ(messages(table.problems), Lines{});
  const auto made = validate_collectives(table.rows, Catalog(), "");
  EXPECT_EQ(messages(made.problems), Lines{});
  for (const NamedSummary& summary : summarize(made.rows))
    if (summary.errors.rows >= 500) {
      EXPECT_LE(summary.errors.median, summary.of == "1 to 16 MiB" ? 0.08 : 0.06) << summary.of;
    }
}

TEST(MeasuredCollectives, the_worst_rows_come_first_without_faulty_systems) {
  const auto row = [](double predicted_s, bool representative) {
    PredictedCollective made;
    made.measured.time_s = 1;
    made.measured.representative = representative;
    made.predicted_s = predicted_s;
    return made;
  };
  const std::vector<PredictedCollective> rows = {row(1.1, true), row(0.5, true), row(9, false),
                                                 row(1.3, true)};
  const auto worst_two = worst(rows, 2);
  ASSERT_EQ(worst_two.size(), 2u);
  EXPECT_EQ(worst_two[0].predicted_s, 0.5);
  EXPECT_EQ(worst_two[1].predicted_s, 1.3);
}

TEST(MeasuredCollectives, a_sweep_over_an_unknown_chip_is_told_with_the_nearest_name) {
  const auto table = read_collective_table(
      "t.csv", std::string(kSweepHeader) + "h10,nccl,half,8,1048576,all_reduce,0.025\n", false);
  const auto made = validate_collectives(table.rows, Catalog(), "");
  ASSERT_EQ(made.problems.size(), 1u);
  EXPECT_EQ(made.problems[0].message, "no chip \"h10\"");
  EXPECT_NE(made.problems[0].hint.find("h100"), std::string::npos);
}

TEST(MeasuredCollectives, wrong_cells_are_told_with_their_place) {
  const auto table = read(
      "H100,eight,1,NVLink4,all_reduce,Ring,1024,5,,x\n"
      "H100,8,1,NVLink4,all_reduse,Rign,1024,5,,x\n"
      "H100,8,1,NVLink4,all_reduce,Ring,-4,5,,x\n"
      "H100,8,1,NVLink4,all_reduce,Ring,1024,,,x\n"
      "H100,2.5,1,NVLink4,all_reduce,Ring,1024,5,,x\n"
      "H100,8,1,NVLink4\n"
      "H100,8,1,\"NVLink4,all_reduce,Ring,1024,5,,x\n");
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(messages(table.problems),
            (Lines{"7:1 the line has 4 cells, the header 10 | ",
                   "8:1 a quote is opened at column 10 and not closed | ",
                   "2:6 gpus is \"eight\" | expected a number above 0",
                   "3:18 no collective \"all_reduse\" | did you mean \"all-reduce\"?",
                   "3:29 no algorithm \"Rign\" | did you mean \"ring\"?",
                   "4:34 bytes is \"-4\" | expected a number above 0",
                   "5:40 busbw_GBps is \"\" | expected a number above 0",
                   "6:6 gpus is \"2.5\" | expected a whole number, at most 1000000"}));
}

TEST(MeasuredCollectives, a_missing_column_is_told_with_the_nearest_name) {
  const auto table = read_collective_table(
      "t.csv", "system,gpu,network,collective,bytes,time_us\nA,8,B,all_reduce,8,5\n", false);
  EXPECT_EQ(messages(table.problems), Lines{"1:1 the table has no column \"gpus\" | is it \"gpu\"?"});
  EXPECT_TRUE(table.rows.empty());
}

TEST(MeasuredCollectives, an_unknown_network_is_told_with_the_nearest_name) {
  const auto table = read("H100-SXM,16,2,NVLink4 + 8x400G NDR,all_reduce,default,1024,5,,x\n");
  const auto made = validate_collectives(table.rows, Catalog(), "");
  EXPECT_EQ(
      messages(made.problems),
      Lines{"2:1 no fabric is measured as system \"H100-SXM\", network \"NVLink4 + 8x400G NDR\" | did you "
            "mean \"NVLink4 + 8x400G NDR IB\"? --fabric NAME takes one fabric for all rows"});
}

TEST(MeasuredCollectives, an_algorithm_that_does_not_apply_and_uneven_nodes_are_told) {
  const auto table = read(
      "A,16,2,B,all_reduce,NVLS,1024,5,,x\n"
      "A,9,2,B,all_reduce,Ring,1024,5,,x\n");
  const auto made = validate_collectives(table.rows, Catalog(), "dgx_h100");
  EXPECT_EQ(messages(made.problems),
            (Lines{"2:1 nvls does not apply to all-reduce of this group on dgx_h100 | ",
                   "3:1 9 GPUs do not spread equally over 2 NVLink domains of dgx_h100 | "}));
}

TEST(MeasuredCollectives, nccl_tests_output_is_read_out_of_place) {
  const std::string text =
      "# Collective test starting: all_gather_perf\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)\n"
      "#                                                     out-of-place          in-place          \n"
      "NCCL INFO something\n"
      "     1048576         16384     float    none      -1    36.50   28.73   25.14      0    35.41\n"
      "   134217728       2097152     float    none      -1    405.3  331.2   289.8       0    402.0\n"
      "# Avg bus bandwidth    : 157.4\n";
  const auto read = collectives_of_nccl_tests("log", text, {8, 0, {}});
  EXPECT_EQ(messages(read.problems), Lines{});
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[1].collective.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(read.rows[1].collective.bytes.value, 134217728);
  EXPECT_NEAR(read.rows[1].time_s, 405.3e-6, 1e-12);
  EXPECT_EQ(validate_collectives(read.rows, Catalog(), "dgx_h100").rows.size(), 2u);
}

std::string log_of(const std::string& name) {
  std::vector<Problem> problems;
  return *read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/nccl_tests/" + name, problems);
}

// Ranks, hosts and kind are what the output lists and implies; the row of no bytes and the wrong one are left
// out.
TEST(MeasuredCollectives, nccl_tests_output_is_read_as_import_reads_it) {
  const auto read = collectives_of_nccl_tests("log", log_of("two_hosts.txt"), {});
  EXPECT_EQ(messages(read.problems), Lines{});
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].gpus, 4);
  EXPECT_EQ(read.rows[0].nodes, 2);
  EXPECT_EQ(read.rows[0].collective.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(read.rows[0].place.line, 10);
  EXPECT_TRUE(read.rows[0].place.source_line.starts_with("    16777216")) << read.rows[0].place.source_line;
  EXPECT_EQ(read.wrong_rows, 1);
  EXPECT_EQ(read.empty_rows, 1);
}

TEST(MeasuredCollectives, prefixes_of_launchers_are_no_part_of_a_row) {
  const auto read =
      collectives_of_nccl_tests("log", log_of("launcher.txt"), {16, 0, CollectiveKind::kAllGather});
  EXPECT_EQ(messages(read.problems), Lines{});
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_NEAR(read.rows[1].time_s, 21430.5e-6, 1e-12);
}

TEST(MeasuredCollectives, what_is_stated_and_what_the_output_says_must_agree_and_tell_all) {
  const auto told = [](const std::string& name, const StatedTest& stated) {
    const auto read = collectives_of_nccl_tests("log", log_of(name), stated);
    EXPECT_TRUE(read.rows.empty());
    return messages(read.problems);
  };
  EXPECT_EQ(
      told("launcher.txt", {16, 0, {}}),
      Lines{"0:0 does not say which collective it measured: all_gather or alltoall by its bus bandwidth | "
            "say which with --kind"});
  EXPECT_EQ(told("launcher.txt", {16, 0, CollectiveKind::kAllReduce}),
            Lines{"0:0 is of all_gather or alltoall by its bus bandwidth, and --kind says all-reduce | leave "
                  "--kind out, or give the output of that collective"});
  EXPECT_EQ(
      told("launcher.txt", {8, 0, CollectiveKind::kAllGather}),
      Lines{"0:0 has a bus bandwidth of 0.938 times the bandwidth, and all-gather of 8 ranks has 0.875; it "
            "is that of 16 ranks of all_gather or alltoall | which collective, and how many GPUs?"});
  EXPECT_EQ(told("launcher.txt", {0, 0, CollectiveKind::kAllGather}),
            Lines{"0:0 does not list its ranks | say how many ran with --gpus N"});
  EXPECT_EQ(told("two_hosts.txt", {8, 0, {}}),
            Lines{"0:0 lists 4 ranks, and --gpus says 8 | leave --gpus out, or give the output of that run"});
  EXPECT_EQ(
      told("two_hosts.txt", {4, 1, {}}),
      Lines{"0:0 lists 2 hosts, and --nodes says 1 | leave --nodes out, or give the output of that run"});
}

// Each begins with the program that ran, as a command in a comment has it.
TEST(MeasuredCollectives, several_tests_of_one_output_are_read_each_with_its_kind) {
  const auto read = collectives_of_nccl_tests(
      "log",
      "# build/all_reduce_perf -b 1M\n1048576 262144 float sum -1 50.0 20.97 36.70 0 50.0 20.97 36.70 0\n"
      "# all_gather_perf\n1048576 32768 float none -1 40.0 26.21 22.94 0 40.0 26.21 22.94 0\n",
      {8, 0, {}});
  EXPECT_EQ(messages(read.problems), Lines{});
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].collective.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(read.rows[1].collective.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(read.rows[1].place.line, 4);
}

// Each rank sends to the next and receives from the one before.
TEST(MeasuredCollectives, sendrecv_of_nccl_tests_is_a_permutation_and_a_send_has_two_ends) {
  const auto read_row = [](const std::string& kind, int gpus) {
    return read("H100-SXM," + std::to_string(gpus) + ",1,NVLink4/NVSwitch3," + kind +
                ",,1073741824,5000,,x\n");
  };
  ASSERT_EQ(read_row("sendrecv", 8).rows.size(), 1u);
  EXPECT_EQ(read_row("sendrecv", 8).rows[0].collective.kind, CollectiveKind::kPermute);
  EXPECT_EQ(read_row("send-receive", 2).rows.size(), 1u);
  EXPECT_EQ(messages(read_row("send-receive", 8).problems),
            Lines{"2:10 a send-receive is from one GPU to another | where each GPU sends to the next, as "
                  "sendrecv of nccl-tests, the collective is permute"});
  const auto log = [](const std::optional<CollectiveKind>& stated) {
    return collectives_of_nccl_tests(
        "log", "# sendrecv_perf\n1048576 262144 float sum -1 50.0 20.97 20.97 0 50.0 20.97 20.97 N/A\n",
        {8, 0, stated});
  };
  for (const auto& stated : {std::optional<CollectiveKind>(), std::optional(CollectiveKind::kSendReceive)}) {
    const auto told = log(stated);
    EXPECT_EQ(messages(told.problems), Lines{});
    ASSERT_EQ(told.rows.size(), 1u);
    EXPECT_EQ(told.rows[0].collective.kind, CollectiveKind::kPermute);
    EXPECT_EQ(validate_collectives(told.rows, Catalog(), "dgx_h100").rows.size(), 1u);
  }
}

TEST(ErrorSummary, is_that_of_its_errors) {
  const double errors[] = {0.1, -0.2, 0.3, 0.0};
  const ErrorSummary summary = summarize_errors(errors);
  EXPECT_NEAR(summary.mean, 0.15, 1e-12);
  EXPECT_NEAR(summary.median, 0.15, 1e-12);
  EXPECT_NEAR(summary.p90, 0.3, 1e-12);
  EXPECT_NEAR(summary.max, 0.3, 1e-12);
  EXPECT_NEAR(summary.bias, 0.05, 1e-12);
  EXPECT_EQ(summarize_errors({}).rows, 0);
}

}  // namespace
}  // namespace podsim::validate_collectives_test
