// Asks the store first.
#include "planner/search/stored_steps.h"

#include <ctime>

#include "engine/check.h"
#include "proto/scenario/load.h"
#include "proto/scenario/write_layout.h"
#include "proto/writing/write.h"

namespace podsim {
namespace {

std::int64_t cpu_us_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

}  // namespace

StoredStep stored_step(Store& store, const StoredScenario& scenario,
                       const std::function<Report()>& simulate) {
  if (const auto known = store.figures(scenario.key)) {
    const auto report = store.report(scenario.key);
    if (report) return {*known, *report, true};
  }
  const std::int64_t begin_us = cpu_us_of_thread();
  const Report report = simulate();
  StoredStep step{main_figures(report), report_json(report), false};
  store.keep(scenario, step.figures, step.report, cpu_us_of_thread() - begin_us);
  return step;
}

StoredLayouts::StoredLayouts(Store& store, const std::string& file, const std::string& text,
                             const std::vector<Override>& overrides, const Catalog& catalog, const Spec& spec)
    : store_(store), file_(file), text_(text), overrides_(overrides), catalog_(catalog), spec_(spec) {}

StoredScenario StoredLayouts::scenario_of(const JobLayout& layout) const {
  const std::string text =
      scenario_with_layout(text_, overrides_, blocks_of(layout, context_preset(spec_.job)), "");
  const LoadResult loaded = load_scenario(file_, text, catalog_, {});
  PODSIM_CHECK(loaded.spec.has_value(), "a layout of the space is a scenario: " + to_string(layout));
  return {loaded.spec->sha256, text, spec_.name + ": " + to_string(layout)};
}

EvaluatedStep StoredLayouts::evaluate(const JobLayout& layout,
                                      const std::function<Report()>& simulate) const {
  const StoredScenario scenario = scenario_of(layout);
  const StoredStep step = stored_step(store_, scenario, [&] {
    Report report = simulate();
    report.scenario_sha256 = scenario.key;
    return report;
  });
  return {step.figures, step.known};
}

}  // namespace podsim
