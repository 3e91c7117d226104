// Suites: how their rows are read and judged.
#include <gtest/gtest.h>

#include "validation/suite.h"

namespace podsim::suite_rows_test {
namespace {

const std::string kHeader = "id,what,command,figure,expected,tolerance,standard_error,source,note\n";

Verdict verdict(double measured, const std::string& expected, const std::string& tolerance,
                const std::string& note = "") {
  const SuiteRow row{"R1", "x", "", "run x", "x", expected, tolerance, "error", "paper", note};
  return judge(row,
               [&](const std::string& name) {
                 return Evaluated{name == "error" ? 0.5 : measured, ""};
               })
      .verdict;
}

TEST(SuiteRow, passes_within_its_tolerance) {
  EXPECT_EQ(verdict(2 + 1e-9, "1 + 1", "relative 1e-9"), Verdict::kPass);
  EXPECT_EQ(verdict(2 + 3e-9, "2", "relative 1e-9"), Verdict::kFail);
  EXPECT_EQ(verdict(2.1, "2", "absolute 0.11"), Verdict::kPass);
  EXPECT_EQ(verdict(1.8, "2", "absolute 0.11"), Verdict::kFail);
  EXPECT_EQ(verdict(3.4, "2", "standard_errors 3"), Verdict::kPass);
  EXPECT_EQ(verdict(3.6, "2", "standard_errors 3"), Verdict::kFail);
  EXPECT_EQ(verdict(0, "0", "relative 1e-9"), Verdict::kPass);
}

TEST(SuiteRow, of_a_band_passes_inside_and_fails_outside_unless_it_says_why) {
  EXPECT_EQ(verdict(0.95, "0.9..1", ""), Verdict::kPass);
  EXPECT_EQ(verdict(5, "0.9..", ""), Verdict::kPass);
  EXPECT_EQ(verdict(-5, "..1", ""), Verdict::kPass);
  EXPECT_EQ(verdict(0.8, "0.9..1", ""), Verdict::kFail);
  EXPECT_EQ(verdict(0.8, "0.9..1", "", "the source counts otherwise"), Verdict::kOutside);
}

TEST(SuiteRow, is_judged_by_its_distance_from_the_nearer_end) {
  const auto off = [](double measured) {
    return judge({"R1", "", "", "run", "x", "1..2", "", "", "", ""},
                 [&](const std::string&) {
                   return Evaluated{measured, ""};
                 })
        .deviation;
  };
  EXPECT_EQ(off(0.5), -0.5);
  EXPECT_EQ(off(1.5), 0);
  EXPECT_EQ(off(2.25), 0.25);
}

TEST(SuiteRow, fails_where_its_figure_is_missing) {
  const SuiteRow row{"R1", "", "", "run", "gone", "1", "relative 1", "", "", ""};
  const SuiteResult result = judge(row, [](const std::string&) {
    return Evaluated{std::nullopt, "there is no gone"};
  });
  EXPECT_EQ(result.verdict, Verdict::kFail);
  EXPECT_EQ(result.reason, "there is no gone");
}

TEST(Suite, reads_rows_in_order) {
  const Suite suite = read_suite("s.csv", kHeader +
                                              "R2,a,\"run a.textproto\",\"x[a=1,b=2]\",1,relative 1e-9,,p,\n"
                                              "R1,b,,,,,,p,no public input\n");
  EXPECT_TRUE(suite.problems.empty());
  ASSERT_EQ(suite.rows.size(), 2u);
  EXPECT_EQ(suite.rows[0].figure, "x[a=1,b=2]");
  EXPECT_EQ(suite.rows[1].note, "no public input");
}

TEST(Suite, tells_wrong_rows_where_they_stand) {
  const auto problem = [](const std::string& row) {
    const Suite suite = read_suite("s.csv", kHeader + row + "\n");
    return suite.problems.size() == 1 ? suite.problems[0].message : std::to_string(suite.problems.size());
  };
  EXPECT_EQ(problem("R1,a,run,x,1,about,,p,"), "\"about\" is no tolerance");
  EXPECT_EQ(problem("R1,a,run,x,1,,,p,"), "\"1\" is no band");
  EXPECT_EQ(problem("R1,a,run,x,3..0,,,p,"), "\"3..0\" is no band");
  EXPECT_EQ(problem("R1,a,run,x,y,relative 1,,p,"), "\"y\" is not a number");
  EXPECT_EQ(problem("R1,a,,,,,,p,"), "a row without a command says why in note");
  EXPECT_EQ(problem(",a,run,x,1,relative 1,,p,"), "the row has no id");
  EXPECT_FALSE(read_suite("s.csv", "id,what\nR1,a\n").problems.empty());
}

TEST(Suite, a_row_says_what_its_agreement_shows_or_nothing) {
  const std::string header = "id,what,kind,command,figure,expected,tolerance,source\n";
  const auto read = [&](const std::string& kind) {
    return read_suite("s.csv", header + "R1,a," + kind + ",run,x,1,relative 1,p\n");
  };
  EXPECT_EQ(read("measurement").rows.at(0).kind, "measurement");
  EXPECT_TRUE(read("").problems.empty());
  ASSERT_EQ(read("proof").problems.size(), 1u);
  EXPECT_EQ(read("proof").problems[0].message, "\"proof\" is no kind of row");
}

}  // namespace
}  // namespace podsim::suite_rows_test
