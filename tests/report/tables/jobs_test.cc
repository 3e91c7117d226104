// Jobs that share a fabric, as text and as a spreadsheet.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/tables/write.h"
#include "tests/report/example.h"

namespace podsim::jobs_test {
namespace {

// Job a is as fast as alone; b takes a quarter longer.
JobsReport example_jobs() {
  JobsReport report{"", "shared", "Who pays?", "chip_a", "fabric_a", 8, 1, {}};
  for (const char* name : {"a", "b"}) report.jobs.push_back({name, 0, example_report(), example_report()});
  report.jobs[1].first_chip = 4;
  report.jobs[1].together.step_time = report.jobs[1].alone.step_time + Time::seconds(2.5);
  report.jobs[1].together.exposed_communication += Time::seconds(2.5);
  return report;
}

TEST(JobsReport, slowdown_is_step_time_together_over_alone) {
  EXPECT_EQ(example_jobs().jobs[0].slowdown(), 1);
  EXPECT_EQ(example_jobs().jobs[1].slowdown(), 1.25);
}

TEST(JobsReport, table_has_a_row_for_each_job_and_says_who_suffers_most) {
  const std::string table = jobs_table(example_jobs());
  EXPECT_NE(table.find("Who pays?"), std::string::npos);
  EXPECT_NE(table.find("2 jobs on 8 chip_a, fabric fabric_a, seed 1"), std::string::npos);
  EXPECT_NE(table.find("10.0000      12.5000    1.2500"), std::string::npos) << table;
  EXPECT_NE(table.find("Job b suffers most: beside the others its step is 25.0% longer than alone."),
            std::string::npos);
}

TEST(JobsReport, table_says_when_nobody_suffers) {
  JobsReport report = example_jobs();
  report.jobs.pop_back();
  EXPECT_NE(jobs_table(report).find("No job is slowed down by the others."), std::string::npos);
}

TEST(JobsReport, table_says_which_job_does_not_fit) {
  JobsReport report = example_jobs();
  report.jobs[0].alone.memory.fits = false;
  EXPECT_NE(jobs_table(report).find("does not fit"), std::string::npos);
}

TEST(JobsReport, spreadsheet_has_a_line_for_each_job) {
  const JobsReport report = example_jobs();
  const Report single = example_report();
  const std::vector<SpreadsheetLine> lines = {&single, &report.jobs[0], &report.jobs[1]};
  const std::string csv = report_csv(lines);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_NE(csv.find(",job,first_chip,step_time_alone_s,exposed_communication_alone_s,slowdown\n"),
            std::string::npos);
  EXPECT_NE(csv.find(",b,4,10.000000000000,2.500000000000,1.25\n"), std::string::npos);
  EXPECT_NE(csv.find(",,,,,\n"), std::string::npos) << "a lone job has no such cells";
}

}  // namespace
}  // namespace podsim::jobs_test
