// How problems read.
#include "proto/text/problem.h"

#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::problem_test {
namespace {

TEST(FormatProblem, shows_place_source_line_caret_and_hint) {
  const Problem problem{"a.textproto", 4, 9, "the message", "  chip: \"h10\"", "did you mean \"h100\"?", 9};
  EXPECT_EQ(format_problem(problem),
            "a.textproto:4:9: the message\n"
            "      chip: \"h10\"\n"
            "            ^\n"
            "    did you mean \"h100\"?\n");
}

TEST(FormatProblem, a_whole_file_has_no_line) {
  EXPECT_EQ(format_problem({"a.textproto", 0, 0, "cannot read the file", "", ""}),
            "a.textproto: cannot read the file\n");
}

TEST(FormatProblem, the_caret_stands_under_the_field_after_wide_characters_and_tabs) {
  const auto result = load(valid_but("  chip: \"h100\"", "\tchip: \"\u00b5\" slises: 3"));
  ASSERT_EQ(result.problems.size(), 2u);
  EXPECT_EQ(format_problem(result.problems[1]),
            "job.textproto:3:13: unknown field \"slises\" in cluster\n"
            "     chip: \"\u00b5\" slises: 3\n"
            "               ^\n"
            "    did you mean \"slices\"?\n");
}

TEST(FormatProblem, a_long_line_is_cut_around_the_place) {
  const auto result = load("job { " + std::string(5000, ' ') + "stepps: 3 }");
  ASSERT_FALSE(result.problems.empty());
  const Problem& problem = result.problems.back();
  EXPECT_EQ(problem.column, 5007);
  EXPECT_LE(problem.source_line.size(), 100u);
  EXPECT_EQ(problem.source_line.substr(static_cast<std::size_t>(problem.caret) - 1, 6), "stepps");
}

}  // namespace
}  // namespace podsim::problem_test
