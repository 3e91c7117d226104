// podsim validate --suite, as a user runs it, and figures of JSON answers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/validation/json_figure.h"
#include "tests/cli/command.h"

namespace podsim::validate_suite_test {
namespace {

using nlohmann::json;

const std::string kHeader = "id,what,command,figure,expected,tolerance,standard_error,source,note\n";

// A suite beside a small question, so that its commands find it.
std::string suite_of(const std::string& rows) {
  temporary_file(
      "pod.textproto",
      "cluster { fabric: \"v4_pod\" }\navailability { slice_chips: 64 host_availability: 0.99 }\n");
  return "validate --suite " + temporary_file("suite.csv", kHeader + rows);
}

const std::string kHalf = "\"slices[policy=any_cubes].goodput / 2\",0.99 ^ 16 / 2,relative 1e-9,,binomial,\n";

TEST(JsonFigure, walks_by_keys_numbers_and_values) {
  const JsonAnswer answer(
      {R"({"a": {"b-c": 2}, "rows": [{"n": 1, "k": "x y"}, {"n": 2, "k": "z"}], "on": true})"});
  EXPECT_EQ(answer.figure("a.\"b-c\"").value, 2);
  EXPECT_EQ(answer.figure("rows[1].n").value, 2);
  EXPECT_EQ(answer.figure("rows[n=1.0,k=x y].n").value, 1);
  EXPECT_EQ(answer.figure("rows.length").value, 2);
  EXPECT_EQ(answer.figure("on").value, 1);
}

TEST(JsonFigure, of_several_answers_begins_with_their_number) {
  const JsonAnswer answers({R"({"a": 1})", R"({"a": 2})"});
  EXPECT_EQ(answers.figure("[1].a").value, 2);
}

TEST(JsonFigure, tells_what_is_not_there) {
  const JsonAnswer answer({R"({"a": {"b": "text"}, "rows": [{"n": 1}, {"n": 1}]})"});
  const auto problem = [&](const std::string& path) { return answer.figure(path).problem; };
  EXPECT_EQ(problem("a.c"), "a.c: there is no \"c\" among b");
  EXPECT_EQ(problem("a.b"), "a.b is not a number");
  EXPECT_EQ(problem("rows[7].n"), "rows[7].n: there are only 2 elements");
  EXPECT_EQ(problem("rows[n=3].n"), "rows[n=3].n: no element has n=3");
  EXPECT_EQ(problem("rows[n=1].n"), "rows[n=1].n: several elements have n=1");
  EXPECT_EQ(problem("a[0]"), "a[0]: there is no list before [0]");
}

TEST(SuiteVerb, rows_that_hold_pass) {
  const CommandResult result =
      podsim_command(suite_of("A1,half,availability pod.textproto," + kHalf) + " --format json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json row = json::parse(result.out)["rows"][0];
  EXPECT_EQ(row["verdict"], "pass");
  EXPECT_EQ(row["command"], "availability pod.textproto");
  EXPECT_NEAR(row["deviation"].get<double>(), 0, 1e-12);
}

TEST(SuiteVerb, rows_that_do_not_hold_fail_with_exit_code_1) {
  const CommandResult result =
      podsim_command(suite_of("A1,x,availability pod.textproto,slices[0].goodput,1,relative 1e-9,,p,\n"
                              "A2,y,availability gone.textproto,x,1,relative 1,,p,\n"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("2 rows, 2 FAIL"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("the command ends with exit code 2"), std::string::npos) << result.out;
}

TEST(SuiteVerb, rows_outside_of_their_band_with_a_reason_are_told_and_do_not_fail) {
  const CommandResult result =
      podsim_command(suite_of("A1,x,availability pod.textproto,slices[0].goodput,0.9..1,,,p,counts cubes\n"
                              "A2,y,,,,,,p,not public\n"));
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part :
       {"A1, x: outside: counts cubes", "A2, y: none: not public", "2 rows, 1 outside, 1 none"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

TEST(SuiteVerb, rows_whose_data_is_not_at_hand_are_skipped) {
  const CommandResult result =
      podsim_command(suite_of("A1,x,replay $PODSIM_NO_SUCH_DATA/trace.csv,S,1,relative 1e-9,,p,\n"
                              "A2,half,availability pod.textproto," +
                              kHalf));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("skipped: PODSIM_NO_SUCH_DATA is not set"), std::string::npos) << result.out;
}

TEST(SuiteVerb, that_runs_no_row_has_no_answer) {
  const CommandResult result =
      podsim_command(suite_of("A1,x,replay $PODSIM_NO_SUCH_DATA/trace.csv,S,1,relative 1e-9,,p,\n"));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("no row of the suite was run"), std::string::npos) << result.err;
}

TEST(SuiteVerb, only_asks_for_rows_by_their_id) {
  const std::string suite = suite_of("A1,half,availability pod.textproto," + kHalf +  //
                                     "A10,half,availability pod.textproto," + kHalf);
  EXPECT_EQ(json::parse(podsim_command(suite + " --only A1 --format json").out)["rows"].size(), 1u);
  const CommandResult unknown = podsim_command(suite + " --only a1");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("the suite has no row a1; did you mean A1?"), std::string::npos) << unknown.err;
}

TEST(SuiteVerb, the_suite_of_reliability_is_found_by_its_name) {
  const CommandResult result = podsim_command("validate --suite reliability --only R34 --format csv");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(podsim_command("validate --suite reliabilty").exit_code, 2);
}

TEST(CheckVerb, knows_scenarios_of_every_kind) {
  const CommandResult result = podsim_command(
      "check scenarios/reliability/v4_pod_slices.textproto "
      "scenarios/reliability/spares_2048_nodes.textproto " +
      small_scenario());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"availability of 4096 chips of v4_pod", "reliability of 16384 h100", "llama3_8b on 16 h100"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

// A formula that agrees with itself must not count as something that was measured.
TEST(SuiteVerb, counts_measurements_apart_from_formulas) {
  const std::string text = "id,what,kind,command,figure,expected,tolerance,source\n";
  const std::string row = ",availability pod.textproto,slices[0].goodput,0..1,,p\n";
  suite_of("");
  const CommandResult result = podsim_command(
      "validate --suite " + temporary_file("kinds.csv", text + "A1,x,measurement" + row + "A2,x,formulas" +
                                                            row + "A3,x,formulas" + row));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("Against measurements: 1 rows, 1 pass. Agreement of formulas: 2 rows, 2 pass"),
            std::string::npos)
      << result.out;
}

}  // namespace
}  // namespace podsim::validate_suite_test
