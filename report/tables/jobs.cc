// Jobs that share a fabric: what they cost each other, for a terminal.
#include <algorithm>
#include <vector>

#include "report/tables/ensemble_text.h"
#include "report/tables/write.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kNotable = 1e-4;  // of the step time alone: less is no difference to a reader

std::string to_four_decimals(Time time) { return fixed(time.in_seconds(), 4); }

std::string chips(const JobReport& job) {
  const int last = job.first_chip + job.alone.chips - 1;
  return std::to_string(job.first_chip) + "-" + std::to_string(last);
}

std::string jobs_rows(const JobsReport& report) {
  std::vector<std::vector<std::string>> rows = {{"jobs", "model", "chips", "step alone, s", "together, s",
                                                 "slowdown", "exposed comm, s", "together, s", "tokens/s"}};
  for (const JobReport& job : report.jobs) {
    rows.push_back({job.name, job.alone.model, chips(job), to_four_decimals(job.alone.step_time),
                    to_four_decimals(job.together.step_time), fixed(job.slowdown(), 4),
                    to_four_decimals(job.alone.exposed_communication),
                    to_four_decimals(job.together.exposed_communication),
                    significant(job.together.tokens_per_s, 4)});
    if (job.together.ensemble) rows.back().push_back(interval_text(job.together.ensemble->mean));
  }
  if (rows.back().size() > rows.front().size()) rows.front().push_back("together, 95 % confidence");
  return align(rows);
}

std::string jobs_answer(const JobsReport& report) {
  const auto worst =
      std::max_element(report.jobs.begin(), report.jobs.end(),
                       [](const JobReport& a, const JobReport& b) { return a.slowdown() < b.slowdown(); });
  if (worst->slowdown() < 1 + kNotable) return "No job is slowed down by the others.\n";
  return "Job " + worst->name + " suffers most: beside the others its step is " +
         percent(worst->slowdown() - 1) + " longer than alone.\n";
}

}  // namespace

double JobReport::slowdown() const {
  return static_cast<double>(together.step_time.ps) / static_cast<double>(alone.step_time.ps);
}

std::string jobs_table(const JobsReport& report) {
  std::string text = report.scenario + "\n";
  if (!report.question.empty()) text += report.question + "\n";
  text += "\n" + std::to_string(report.jobs.size()) + (report.jobs.size() == 1 ? " job" : " jobs") + " on " +
          std::to_string(report.chips) + " " + report.chip + ", fabric " + report.fabric + ", " +
          seeds_text(report.jobs.front().together) + "\n\n" + jobs_rows(report) + "\n";
  std::string verdicts;
  for (const JobReport& job : report.jobs) verdicts += memory_verdict(job.alone);
  return text + (verdicts.empty() ? jobs_answer(report) : verdicts);
}

}  // namespace podsim
