// What a row comes to at other values of its scenario's numbers: a part of make_row.h.
#include <algorithm>
#include <cmath>

#include "engine/check.h"
#include "planner/plan/cluster_run.h"
#include "planner/plan/make_row.h"
#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/scenario/point_value.h"
#include "proto/scenario/sweep.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr const char* kPrice = "cluster.usd_per_chip_hour";
constexpr std::string_view kOfWeeks = "reliability.";

// At the lower end, in the middle and at the upper end.
std::array<double, 3> values_of(const VariedNumber& number) {
  return {number.low, number.median(), number.high};
}

}  // namespace

bool set_varied(const RowParts& parts, const Catalog& catalog, const PlanOptions& options, PlanRow& row,
                std::string& why) {
  const PlanQuestion& question = parts.question;
  if (question.vary.empty()) return true;
  const std::string& file = question.scenarios[parts.of_scenario].file;
  const LoadResult as_it_is = load_scenario(file, row.scenario, catalog, {});
  PODSIM_CHECK(as_it_is.spec, "a row's scenario has been loaded before");
  for (const VariedNumber& number : question.vary) {
    std::optional<VariedInputs>& varied = row.facts.varied.emplace_back();
    if (!number.chip.empty() && number.chip != row.chip) continue;
    std::optional<double> point = 1;
    if (number.factor) point = point_value(row.scenario, number.path, *as_it_is.spec);
    if (!point) {
      why = "its scenario says no " + number.path + " to multiply";
      return false;
    }
    varied.emplace();
    varied->at = values_of(number);
    for (std::size_t i = 0; i < varied->at.size(); ++i) {
      double value = varied->at[i] * *point;
      if (takes_whole_numbers(number.path)) value = std::round(value);
      const std::vector<Override> overrides = {{number.path, shortest(value)}};
      const LoadResult loaded = load_scenario(file, row.scenario, catalog, overrides);
      if (!loaded.spec) {
        why = number.path + " = " + shortest(value) + ": " + loaded.problems.front().message;
        return false;
      }
      MainFigures step = row.found.figures;
      if (!number.path.starts_with(kOfWeeks)) step = main_figures(predict_step(*loaded.spec, {}).report);
      const auto run =
          run_on_cluster({file, row.scenario, overrides, question.tokens, parts.weeks, options.threads},
                         *loaded.spec, step, catalog, why);
      if (!run) return false;
      varied->inputs[i] = run->inputs;
      varied->inputs[i].one_off_usd += row.terms.one_off_usd;
    }
    // It is said otherwise than by the offers what the price may be.
    if (number.path == kPrice)
      row.facts.price.low_usd_per_chip_hour = row.facts.price.high_usd_per_chip_hour =
          row.facts.price.usd_per_chip_hour;
  }
  return true;
}

}  // namespace podsim
