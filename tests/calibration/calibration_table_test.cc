// Tables of what a calibration may move: composition of lines, and bad cells told with their place.
#include "calibration/calibration_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "proto/text/read_file.h"

namespace podsim::calibration_table_test {
namespace {

constexpr const char* kHeader = "section,entries,paths,kind,start,spread,low,high,source\n";

struct Reading {
  CalibrationTable table;
  std::vector<Problem> problems;
};

Reading read(const std::string& lines) {
  static const Catalog catalog;
  Reading result;
  result.problems = add_calibration_lines("t.csv", kHeader + lines, catalog, result.table);
  return result;
}

// The only problem of these lines, as line:column: message; hint.
std::string problem(const std::string& lines) {
  const auto problems = read(lines).problems;
  if (problems.size() != 1) return std::to_string(problems.size()) + " problems";
  const Problem& one = problems.front();
  return one.file + ":" + std::to_string(one.line) + ":" + std::to_string(one.column) + ": " + one.message +
         "; " + one.hint;
}

TEST(CalibrationTable, without_offsets_every_number_is_at_its_start) {
  const Reading reading = read(
      "chip,h100|h200,matmul.bf16.sustained,scale,0.72|0.74,0.05,0.2,1,measured\n"
      "stack,megascale,tensor_hidden,add,0.6,0.2,0,1,paper\n");
  ASSERT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.table.values({0, 0}), (std::vector<double>{0.72, 0.74, 0.6}));
}

TEST(CalibrationTable, offsets_scale_by_exponents_and_add_in_units) {
  const Reading reading = read(
      "chip,h100,matmul.bf16.sustained,scale,0.72,0.05,0.2,1,measured\n"
      "stack,megascale,tensor_hidden,add,0.6,0.2,0,1,paper\n");
  const auto values = reading.table.values({2, -1});
  EXPECT_DOUBLE_EQ(values[0], 0.72 * std::exp(0.1));
  EXPECT_DOUBLE_EQ(values[1], 0.4);
}

TEST(CalibrationTable, a_shared_line_moves_what_the_others_start_and_they_compose) {
  const Reading reading = read(
      "chip,h100|gb200,matmul.bf16.sustained,scale,,0.1,,,shared: chips throttle alike\n"
      "chip,h100,matmul.bf16.sustained,scale,0.72,0.05,0.2,1,measured\n"
      "chip,gb200,matmul.bf16.sustained,scale,0.66,0.05,0.2,1,measured\n");
  ASSERT_TRUE(reading.problems.empty());
  const auto values = reading.table.values({-1, 2, 0});
  EXPECT_DOUBLE_EQ(values[0], 0.72 * std::exp(-0.1 + 0.1));
  EXPECT_DOUBLE_EQ(values[1], 0.66 * std::exp(-0.1)) << "a chip without runs inherits what the others teach";
}

TEST(CalibrationTable, the_effect_of_a_parameter_is_the_slope_of_its_numbers) {
  const Reading reading = read(
      "chip,h100,matmul.bf16.sustained,scale,0.72,0.05,0.2,1,measured\n"
      "stack,megascale,tensor_hidden,add,0.6,0.2,0,1,paper\n");
  EXPECT_DOUBLE_EQ(reading.table.effect(0)[0], 0.72 * 0.05);
  EXPECT_EQ(reading.table.effect(0)[1], 0);
  EXPECT_EQ(reading.table.effect(1)[1], 0.2);
}

TEST(CalibrationTable, numbers_stay_within_their_bounds) {
  const Reading reading = read("chip,h100,matmul.bf16.sustained,scale,0.9,0.5,0.5,1,measured\n");
  EXPECT_EQ(reading.table.values({3}), std::vector<double>{1});
  EXPECT_EQ(reading.table.values({-9}), std::vector<double>{0.5});
}

TEST(CalibrationTable, starts_are_one_for_all_one_per_entry_or_one_per_number) {
  const std::string begin = "chip,h100|h200,attention.flash2.forward|attention.flash2.backward,scale,";
  const std::string end = ",0.1,0.05,1,paper\n";
  EXPECT_EQ(read(begin + "0.3" + end).table.values({0}), (std::vector<double>{0.3, 0.3, 0.3, 0.3}));
  EXPECT_EQ(read(begin + "0.3|0.4" + end).table.values({0}), (std::vector<double>{0.3, 0.3, 0.4, 0.4}));
  EXPECT_EQ(read(begin + "0.3|0.2|0.4|0.25" + end).table.values({0}),
            (std::vector<double>{0.3, 0.2, 0.4, 0.25}));
  EXPECT_EQ(problem(begin + "0.3|0.2|0.1" + end),
            "t.csv:2:73: 3 starts for 4 numbers of 2 entries; give one, one per entry or one per number");
}

TEST(CalibrationTable, a_bad_cell_is_told_with_its_place_and_the_nearest_name) {
  EXPECT_EQ(problem("stak,megascale,gemm_factor,scale,1,0.05,0.5,2,paper\n"),
            "t.csv:2:1: section is \"stak\", not chip, fabric or stack; did you mean \"stack\"?");
  EXPECT_EQ(problem("chip,h10,matmul.bf16.sustained,scale,0.7,0.05,0.2,1,paper\n"),
            "t.csv:2:6: the catalogue has no chip \"h10\"; of this family it has: h100, h100_500w, "
            "h100_pcie, h20, h200, h800");
  EXPECT_EQ(
      problem("chip,h100,matmul.bf16.sustaned,scale,0.7,0.05,0.2,1,paper\n"),
      "t.csv:2:11: h100 does not state \"matmul.bf16.sustaned\"; did you mean \"matmul.bf16.sustained\"?");
  EXPECT_EQ(problem("chip,h100,matmul.bf16.sustained,scal,0.7,0.05,0.2,1,paper\n"),
            "t.csv:2:33: kind is \"scal\", not scale or add; did you mean \"scale\"?");
  EXPECT_EQ(problem("chip,h100,matmul.bf16.sustained,scale,x,0.05,0.2,1,paper\n"),
            "t.csv:2:39: start is \"x\"; expected a number");
  EXPECT_EQ(problem("chip,h100,matmul.bf16.sustained,scale,0.7,0,0.2,1,paper\n"),
            "t.csv:2:43: spread is \"0\"; expected a number above 0");
  EXPECT_EQ(problem("chip,h100,matmul.bf16.sustained,scale,0.7,0.05,0.8,1,paper\n"),
            "t.csv:2:39: the start of h100 matmul.bf16.sustained is not between low and high; ");
  EXPECT_EQ(problem("chip,h100,matmul.bf16.sustained,scale,0.7,0.05,0.2,1,\n"),
            "t.csv:2:54: the start has no source; say what it is held true from");
  EXPECT_EQ(problem("stack,megascale,send_exposed,scale,0,0.1,0,1,paper\n"),
            "t.csv:2:36: megascale send_exposed starts at 0, which no factor moves; use kind add");
}

TEST(CalibrationTable, a_number_starts_once_and_moves_only_when_started) {
  const std::string line = "chip,h100,matmul.bf16.sustained,scale,0.7,0.05,0.2,1,paper\n";
  EXPECT_EQ(problem(line + line), "t.csv:3:39: another line starts h100 matmul.bf16.sustained already; ");
  EXPECT_EQ(
      problem("chip,h100,matmul.bf16.sustained,scale,,0.05,,,shared\n"),
      "t.csv:2:39: no line starts h100 matmul.bf16.sustained; give its start here or in a line of its own");
  EXPECT_EQ(problem(line + "chip,h100,matmul.bf16.sustained,scale,,0.05,0.1,,shared\n"),
            "t.csv:3:45: bounds belong to the line that starts a number; leave low and high empty here");
}

TEST(CalibrationTable, of_the_paths_of_a_shared_line_an_entry_has_those_that_it_states) {
  const std::string lines =
      "chip,h100,matmul.fp8.sustained,scale,0.6,0.05,0.2,1,measured\n"
      "chip,tpu_v5e,matmul.int8.sustained,scale,0.64,0.05,0.2,1,measured\n";
  const Reading reading = read(
      lines + "chip,h100|tpu_v5e,matmul.fp8.sustained|matmul.int8.sustained,scale,,0.1,,,shared: 8 bits\n");
  ASSERT_TRUE(reading.problems.empty());
  EXPECT_EQ(reading.table.parameters.back().numbers.size(), 2u);
  EXPECT_EQ(problem(lines + "chip,h100|v100,matmul.fp8.sustained,scale,,0.1,,,shared\n"),
            "t.csv:4:6: v100 states none of these paths; ");
  EXPECT_EQ(
      problem(lines + "chip,h100,matmul.fp8.sustained|matmul.pf8.sustained,scale,,0.1,,,shared\n"),
      "t.csv:4:11: h100 does not state \"matmul.pf8.sustained\"; did you mean \"matmul.fp8.sustained\"?");
}

TEST(CalibrationTable, a_missing_column_is_told) {
  const Catalog catalog;
  CalibrationTable table;
  const auto problems = add_calibration_lines(
      "t.csv", "section,entries,path,kind,start,spread,low,high,source\n", catalog, table);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "the table has no column \"paths\"");
  EXPECT_EQ(problems[0].hint, "is it \"path\"?");
}

std::string source(const std::string& path) {
  std::vector<Problem> problems;
  const auto text = read_file(PODSIM_SOURCE_DIR "/scenarios/" + path, problems);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

// A fit writes the numbers of its table: those that a generic stack has from fitted ones are in it.
TEST(CalibrationTable, what_generic_stacks_have_from_other_stacks_is_written_with_theirs) {
  CalibrationTable table;
  ASSERT_TRUE(add_calibration_lines("gpu.csv", source("calibration/gpu.csv"), Catalog(), table).empty());
  // Losses of eager stacks, gaps between kernels and updates of PyTorch were measured on one GPU.
  const std::vector<std::pair<std::string, int>> stacks = {
      {"generic_eager", 1}, {"generic_fsdp", 1}, {"generic_compiled", 2}, {"generic_megatron", 3}};
  for (const auto& [name, of_others] : stacks) {
    std::istringstream lines(source("stacks/" + name + ".textproto"));
    int taken = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.ends_with("# as other stacks on GPUs")) continue;
      ++taken;
      const std::string field = line.substr(2, line.find(':') - 2);
      EXPECT_TRUE(std::ranges::any_of(table.numbers,
                                      [&, &name = name](const CalibratedNumber& number) {
                                        return number.entry == name && number.path == field;
                                      }))
          << name << " " << field;
    }
    EXPECT_EQ(taken, of_others) << name;
  }
}

}  // namespace
}  // namespace podsim::calibration_table_test
