// One scenario through every law.
#include "tests/swarm/laws.h"

#include <algorithm>
#include <exception>
#include <sstream>

#include "proto/scenario/load.h"
#include "proto/writing/write.h"
#include "tests/swarm/scenario_variants.h"
#include "workload/model/model_program.h"
#include "workload/partition/step_bound.h"

namespace podsim::testing {
namespace {

void forget_how(Report& report) {
  report.chip_classes = report.group_classes = report.link_classes = 0;
  report.events = report.periods_skipped = 0;
}

// A step may be shorter under adversities: lists of operations have anomalies (Graham 1969), and transfers
// that met on a link before may pass each other now. Both shorten only waits, so that more than this share of
// what the step waited without adversities is no anomaly; beside it a hundredth for what is rounded and
// chosen anew.
constexpr double kAnomaly = 0.25;
constexpr double kSlack = 0.01;

class Judge {
 public:
  Judge(const std::string& text, const Catalog& catalog) : text_(text), catalog_(catalog) {}

  Judgement run() {
    try {
      const LoadResult loaded = load(text_, "drawn.textproto");
      if (loaded.spec) {
        judgement_.accepted = true;
        accepted(*loaded.spec);
      } else {
        refused(loaded.problems);
      }
    } catch (const std::exception& error) {
      find("exception", error.what());
    }
    return judgement_;
  }

 private:
  LoadResult load(const std::string& text, const std::string& file) const {
    return load_scenario(file, text, catalog_, {});
  }

  bool find(const std::string& law, const std::string& what) {
    if (!judgement_.finding) judgement_.finding = Finding{law, what};
    return true;
  }

  void accepted(const Spec& spec);
  void refused(const std::vector<Problem>& problems);
  bool same_with(const std::string& law, const Spec& spec, const PredictOptions& options);
  bool other_loops(const Spec& spec);
  bool other_formats();
  bool bounds(const Spec& spec);
  bool monotone(const Spec& spec);
  bool symmetric();

  const std::string& text_;
  const Catalog& catalog_;
  Prediction prediction_;
  std::string figures_;
  Judgement judgement_;
};

void Judge::refused(const std::vector<Problem>& problems) {
  if (problems.empty()) find("refused", "there is neither a spec nor a problem");
  for (const Problem& problem : problems) {
    if (problem.message.empty()) find("refused", "a problem says nothing");
    if (problem.line == 0) find("refused", "no place: " + problem.message);
  }
}

bool Judge::same_with(const std::string& law, const Spec& spec, const PredictOptions& options) {
  const auto differs = difference(figures_, figures(predict_step(spec, options)));
  return differs && find(law, *differs);
}

// Of the definition every repetition costs time, and every draw.
bool Judge::other_loops(const Spec& spec) {
  constexpr std::int64_t kMostEvents = 100'000;
  PredictOptions options;
  options.loop = Loop::kOrdered;
  options.steady = false;
  const Prediction ordered = predict_step(spec, options);
  if (const auto differs = difference(figures_, figures(ordered)); differs)
    return find("loops", "ordered: " + *differs);
  std::int64_t events = ordered.jobs ? 0 : ordered.report.events;
  if (ordered.jobs)
    for (const JobReport& job : ordered.jobs->jobs) events += job.alone.events + job.together.events;
  options.loop = Loop::kReference;
  return events * std::max<std::int64_t>(1, draws_told(spec)) < kMostEvents &&
         same_with("loops", spec, options);
}

bool Judge::other_formats() {
  for (const auto& [file, text] : {std::pair{"drawn.json", as_json(text_)}, {"drawn.pb", as_binary(text_)}}) {
    const LoadResult loaded = load(text, file);
    if (!loaded.spec)
      return find("formats", std::string(file) + " is refused: " + loaded.problems.at(0).message);
    if (same_with("formats", *loaded.spec, {})) return true;
  }
  const auto broken = broken_format(prediction_);
  return broken && find(broken->law, broken->what);
}

// Every job alone, as far as its own report tells the step without adversities.
bool Judge::bounds(const Spec& spec) {
  const auto check = [&](const Job& job, const Report& report) {
    const double least_s = shortest_step_s(job, model_program(job), spec.cluster.chip);
    const double clean_s = (report.step_time - report.straggler_delay).in_seconds();
    return clean_s < least_s * (1 - 1e-9) &&
           find("bounds", "a step of " + std::to_string(clean_s) + " s, at least " + std::to_string(least_s) +
                              " s are possible");
  };
  if (!prediction_.jobs) return check(spec.job, prediction_.report);
  for (std::size_t j = 0; j < spec.jobs.size(); ++j)
    if (check(spec.jobs[j].job, prediction_.jobs->jobs[j].alone)) return true;
  return false;
}

bool Judge::monotone(const Spec& spec) {
  const auto check = [&](const Report& report) {
    const double step_s = report.step_time.in_seconds();
    const double waits_s =
        (report.exposed_communication + report.pipeline_bubble + report.offload_wait).in_seconds();
    const double gain_s = -report.straggler_delay.in_seconds();
    return gain_s > kAnomaly * waits_s + kSlack * step_s &&
           find("monotone", "adversities make the step shorter by " + std::to_string(gain_s) + " of " +
                                std::to_string(step_s) + " s, of which it waited " + std::to_string(waits_s));
  };
  // Factors of chance have mean 1 and may well be below it.
  if (spec.adversities.random()) return false;
  if (!prediction_.jobs) return check(prediction_.report);
  return std::ranges::any_of(prediction_.jobs->jobs, [&](const JobReport& job) { return check(job.alone); });
}

// [name] the step time of a job and its parts, of several jobs alone and together.
std::vector<std::pair<std::string, std::string>> steps_of(const Prediction& prediction) {
  const auto text = [](const Report& r) {
    std::ostringstream out;
    for (const Time time : {r.step_time, r.compute, r.exposed_communication, r.pipeline_bubble,
                            r.straggler_delay, r.optimizer, r.input_stall, r.offload_wait, r.skew_wait})
      out << time.ps << ' ';
    return out.str();
  };
  std::vector<std::pair<std::string, std::string>> steps;
  if (!prediction.jobs) steps.emplace_back("", text(prediction.report));
  for (const JobReport& job : prediction.jobs ? prediction.jobs->jobs : std::vector<JobReport>{})
    steps.emplace_back(job.name, text(job.alone) + "together " + text(job.together));
  std::sort(steps.begin(), steps.end());
  return steps;
}

bool Judge::symmetric() {
  for (const ScenarioVariant& variant : equal_variants(text_)) {
    const LoadResult loaded = load(variant.text, "drawn.textproto");
    if (!loaded.spec) return find("symmetric", variant.what + ": " + loaded.problems.at(0).message);
    const auto mine = steps_of(prediction_), other = steps_of(predict_step(*loaded.spec, {}));
    for (std::size_t j = 0; j < mine.size(); ++j)
      if (mine[j] != other.at(j))
        return find("symmetric", variant.what + " changes " + mine[j].second + "to " + other[j].second);
  }
  return false;
}

void Judge::accepted(const Spec& spec) {
  PredictOptions with_trace;
  with_trace.trace = true;
  prediction_ = predict_step(spec, with_trace);
  figures_ = figures(prediction_);
  if (const auto broken = broken_sum(prediction_)) {
    find(broken->law, broken->what);
    return;
  }
  if (bounds(spec) || monotone(spec)) return;
  PredictOptions unfolded, unsteady, threads;
  unfolded.fold = unsteady.steady = false;
  threads.threads = 4;
  if (same_with("fold", spec, unfolded) || same_with("steady", spec, unsteady)) return;
  if (other_loops(spec)) return;
  if (draws_told(spec) > 0 && same_with("threads", spec, threads)) return;
  other_formats() || symmetric();
}

}  // namespace

std::string figures(Prediction prediction) {
  if (!prediction.jobs) {
    forget_how(prediction.report);
    return report_json(prediction.report);
  }
  for (JobReport& job : prediction.jobs->jobs) {
    forget_how(job.alone);
    forget_how(job.together);
  }
  return report_json(*prediction.jobs);
}

std::optional<std::string> difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a), lines_b(b);
  std::string line_a, line_b;
  while (std::getline(lines_a, line_a)) {
    if (!std::getline(lines_b, line_b)) return line_a + " is missing";
    if (line_a != line_b) return line_a + " against " + line_b;
  }
  if (std::getline(lines_b, line_b)) return line_b + " is new";
  return std::nullopt;
}

Judgement judge(const std::string& text, const Catalog& catalog) { return Judge(text, catalog).run(); }

}  // namespace podsim::testing
