// The report for a terminal: what a reader must find in it.
#include <gtest/gtest.h>

#include <sstream>

#include "report/pictures/run_pictures.h"
#include "report/summary/verdict.h"
#include "report/tables/write.h"
#include "tests/report/example.h"

namespace podsim::table_test {
namespace {

// The line that begins with these words, or empty.
std::string line_of(const std::string& table, const std::string& words) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(words, 0) == 0) return line;
  }
  return "";
}

TEST(Table, repeats_the_question_and_answers_it) {
  const std::string table = report_table(example_report());
  EXPECT_NE(table.find("How long is a step?"), std::string::npos);
  EXPECT_NE(line_of(table, "A step takes 10.00 s at 25.0% MFU (causal)"), "") << table;
}

TEST(Table, bars_are_as_long_as_the_share_of_the_step) {
  const std::string table = report_table(example_report());
  EXPECT_EQ(line_of(table, "compute"), "compute                 6.0000   60.0%  " + std::string(24, '#'))
      << table;
  EXPECT_EQ(line_of(table, "exposed communication"), "exposed communication   2.5000   25.0%  ##########");
}

TEST(Table, and_picture_name_the_same_exposed_collectives_and_add_up_the_rest) {
  Report report = example_report();  // steps of 10 s
  report.exposed = {{"data", "all-gather", Time::seconds(2.48)},
                    {"tensor", "all-reduce", Time::seconds(0.0101)},
                    {"expert", "all-to-all", Time::seconds(0.0099)}};
  const std::string table = report_table(report);
  EXPECT_NE(line_of(table, "  tensor all-reduce"), "") << table;
  EXPECT_EQ(line_of(table, "  expert all-to-all"), "") << table;
  EXPECT_NE(line_of(table, "  others").find(" 0.0099 "), std::string::npos) << table;
  const NamedReport one{"step", &report, ""};
  const Picture picture = breakdown_picture({&one, 1});
  const auto seconds_of = [&](const std::string& name) {
    for (const PictureSeries& series : picture.series)
      if (series.name == name) return series.marks.front().extent;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(seconds_of("tensor all-reduce"), 0.0101);
  EXPECT_DOUBLE_EQ(seconds_of("expert all-to-all"), 0);
  EXPECT_DOUBLE_EQ(seconds_of("other communication"), 0.0099);
}

TEST(Table, says_how_sure_the_step_time_is_where_that_is_known) {
  Report report = example_report();
  EXPECT_EQ(line_of(report_table(report), "Eight runs in ten"), "");
  report.band = StepTimeBand{Time::seconds(9), Time::seconds(12), "same chip", 40};
  EXPECT_EQ(line_of(report_table(report), "Eight runs in ten"),
            "Eight runs in ten like this take 9.000 to 12.00 s a step (band 10-90 %, same chip, 40 measured "
            "runs).");
}

TEST(Table, names_the_largest_loss) {
  EXPECT_NE(report_table(example_report()).find("exposed communication, 25.0% of the step"),
            std::string::npos);
}

TEST(Table, says_how_many_classes_stood_for_all_chips_groups_and_links) {
  Report report = example_report();
  report.chips = 4096;
  report.chip_classes = 16;
  report.group_classes = 64;
  report.link_classes = 112;
  report.events = 1234567;
  EXPECT_EQ(line_of(report_table(report), "Simulated"),
            "Simulated classes: 16 of 4096 chips, 64 of groups, 112 of links; 1234567 events.");
}

TEST(Table, stragglers_are_told_with_their_cost) {
  Report report = example_report();
  report.step_time += Time::seconds(1);
  report.straggler_delay = Time::seconds(1);
  report.fault_costs = {{"chip 2 at speed 0.5", Time::seconds(0.75)},
                        {"nic of chip 9 at speed 0.8", Time::seconds(0.25)}};
  report.verdict = verdict_of(report, "no trace");
  const std::string text = report_table(report);
  EXPECT_NE(
      text.find("Stragglers make the step 10.0% longer: the cause is chip 2 at speed 0.5, 75.0% of it."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("nic of chip 9 at speed 0.8                  10.7500       0.2500"), std::string::npos)
      << text;
  EXPECT_NE(text.find("all together                                10.0000       1.0000"), std::string::npos)
      << text;
}

TEST(Table, a_job_that_does_not_fit_ends_with_what_would_help) {
  Report report = example_report();
  report.memory.fits = false;
  report.memory.total = 91.5;
  const Time now = report.step_time - report.straggler_delay;
  report.memory.advice = {{"recompute: full", 60, {now.ps * 5 / 4}}};
  const std::string verdict = memory_verdict(report);
  EXPECT_EQ(verdict.rfind("example does not fit: a chip of stage 1 needs 91.50 GiB and has 80.00 GiB.\n"
                          "What would make it fit, fastest step first:\nchange",
                          0),
            0u)
      << verdict;
  EXPECT_NE(verdict.find("recompute: full"), std::string::npos);
  EXPECT_NE(verdict.find("60.00"), std::string::npos);
  EXPECT_NE(verdict.find("1.250 x"), std::string::npos);
  const std::string table = report_table(report);
  EXPECT_EQ(table.substr(table.size() - verdict.size()), verdict);
}

TEST(Table, what_comes_nearest_is_no_promise) {
  Report report = example_report();
  report.memory.fits = false;
  report.memory.advice = {{"recompute: full", 90, report.step_time, false}};
  EXPECT_NE(memory_verdict(report).find("Nothing that was tried makes it fit"), std::string::npos);
}

TEST(Table, stages_stand_side_by_side_and_of_many_the_fullest) {
  Report report = example_report();
  report.memory.stages = {MemoryParts{.total = 11}};
  EXPECT_EQ(report_table(report).find("by stage"), std::string::npos);
  report.memory.stages = {MemoryParts{.total = 11}, MemoryParts{.total = 12}};
  EXPECT_NE(report_table(report).find("GiB per chip, by stage"), std::string::npos);
  report.memory.stages.assign(20, MemoryParts{.total = 1});
  report.memory.stages[13].total = 3;
  const std::string table = report_table(report);
  EXPECT_NE(table.find("fullest of 20 stages"), std::string::npos);
  EXPECT_NE(table.find("stage 13"), std::string::npos);
  EXPECT_EQ(table.find("stage 12 "), std::string::npos);
}

TEST(Table, a_job_that_fits_has_no_verdict) { EXPECT_EQ(memory_verdict(example_report()), ""); }

}  // namespace
}  // namespace podsim::table_test
