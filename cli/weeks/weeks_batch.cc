// One question after the other, the runs of each on all threads.
#include "cli/weeks/weeks_batch.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "cli/answers/render.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/progress.h"
#include "cli/weeks/reliability_json.h"
#include "prediction/step_length.h"
#include "prediction/weeks.h"
#include "report/tables/reliability_text.h"
#include "report/text/text.h"

namespace podsim {

std::optional<std::vector<ReliabilityReport>> predict_all_weeks(Swept<ReliabilityQuestion>& swept,
                                                                const RunOptions& run) {
  const std::vector<ReliabilityQuestion>& questions = swept.things;
  std::size_t runs = 0;
  for (const ReliabilityQuestion& question : questions) runs += static_cast<std::size_t>(question.seeds);
  Progress progress(runs, "runs", run.quiet);
  WeeksOptions options;
  options.fold = run.fold == "on";
  options.steady = run.steady == "on";
  options.threads = run.threads;
  options.course = !run.html.empty();
  options.run_done = [&] { progress.one_done(); };
  std::vector<ReliabilityReport> reports;
  std::vector<std::string> names;
  LeftOutSteps left_out(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    names.push_back(questions[i].name);
    try {
      reports.push_back(predict_weeks(questions[i], options));
    } catch (const StepTooLong& refusal) {
      left_out[i] = refusal.what();
    }
  }
  if (!some_are_left(names, left_out)) return std::nullopt;
  take_left_out(left_out, swept.things);
  take_left_out(left_out, swept.settings.values);
  return reports;
}

int judge_weeks(const std::vector<ReliabilityReport>& reports) {
  std::vector<MemoryFit> jobs;
  for (const ReliabilityReport& report : reports) jobs.push_back({report.scenario, report.fits_in_memory});
  if (const int fits = judge_fits(jobs); fits != kDone) return fits;
  const bool some = std::ranges::any_of(
      reports, [](const ReliabilityReport& report) { return report.unfinished < report.seeds; });
  for (const ReliabilityReport& report : reports)
    if (report.unfinished > 0)
      spdlog::log(some ? spdlog::level::warn : spdlog::level::err,
                  "{}: {} do not reach the tokens within {} days", report.scenario, unfinished_runs(report),
                  significant(report.longest_days, 3));
  return some ? kDone : kInfeasible;
}

std::string all_weeks_json(const std::vector<ReliabilityReport>& reports, const Settings& settings) {
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < reports.size(); ++i)
    objects.push_back(settings.added_to_json(reliability_json(reports[i]), i));
  return objects.size() == 1 ? objects.front() : json_array(objects);
}

}  // namespace podsim
