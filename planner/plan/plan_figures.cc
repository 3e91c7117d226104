// One figure for each key that a row has in JSON.
#include "planner/plan/plan_figures.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/words.h"
#include "planner/plan/plan.h"

namespace podsim {
namespace {

// JSON leaves out what is not known; CSV has its column all the same.
template <class Value>
Figure where_known(std::string key, const std::optional<Value>& value) {
  return value ? Figure(std::move(key), *value) : Figure(std::move(key), {}).not_in_json();
}

// 4x4x8, or empty.
std::string shape_text(const std::vector<int>& shape) { return separated_numbers(shape, "x"); }

std::vector<Figure> cluster_figures(const PlanRow& row) {
  std::vector<Figure> all = {
      Figure("chip", row.chip).column(1).is("name of the catalogue"),
      Figure("chips", row.chips).column(2).is("of the job"),
      Figure("fabric", row.fabric).column(3).is("name of the catalogue"),
      Figure("stack", row.stack).column(4).is("name of the catalogue"),
      Figure("precision", row.precision).column(5).is("of most matmuls"),
      Figure("price_term", row.price_term).column(6).is("of the contract"),
      Figure("layout", to_string(row.found.layout)).column(7).is("fastest that fits and meets the limits")};
  Figure slices("slices", row.slices), shape("slice_shape", shape_text(row.slice_shape));
  slices = std::move(slices).column(35).is("of a torus, joined by the network of the data centre");
  shape = std::move(shape).not_in_json().column(36);
  if (row.slice_shape.empty()) slices = std::move(slices).not_in_json();
  all.push_back(std::move(slices));
  if (!row.slice_shape.empty())
    all.push_back(
        Figure::list("slice_shape", values_of(row.slice_shape)).is("chips along each dimension of a slice"));
  all.push_back(std::move(shape));
  return all;
}

std::vector<Figure> run_figures(const PlanRow& row) {
  const MainFigures& step = row.found.figures;
  std::vector<Figure> all = {
      Figure("step_time_s", step.step_time).column(8).is("mean"),
      Figure("memory_gib", step.memory_gib).column(9).is("GiB", "of a chip of the stage that needs most"),
      Figure("mfu_causal", step.mfu_causal).column(10).is("ratio", "model FLOPs over those of all peaks"),
      Figure("days", row.days).column(11).is("days", "until it is done, with those before it trains"),
      Figure("days_p10", row.outcome.days.p10).column(12).is("days", "one run in ten takes less"),
      Figure("days_p90", row.outcome.days.p90).column(13).is("days", "one run in ten takes more"),
      Figure("cost_usd", row.usd).column(14).is("USD", "with what is paid once and the rest of a term"),
      Figure("energy_mwh", row.mwh).column(17).is("MWh", "at the meter"),
      where_known("carbon_t", row.carbon_t).column(24).is("t CO2e", "of power and of making the chips"),
      Figure("batch_tokens", row.batch_tokens).column(33).is("tokens", "of a step"),
      where_known("spare_nodes", row.spare_nodes).column(34).is("where they were chosen")};
  if (row.missing)
    all.push_back(Figure::group(
        "missing_limits",
        {Figure("layouts", row.missing->layouts).is("that were simulated, of which none meets the limits"),
         Figure("all", row.missing->all).is("whether there are no more")}));
  if (row.fastest_step)
    all.push_back(
        Figure("fastest_step_time_s", *row.fastest_step).is("of the fastest layout, which misses a limit"));
  return all;
}

Figure range_figure(std::string key, const OutcomeRange& of, const std::string& unit) {
  return Figure::group(std::move(key), {Figure("p10", of.p10).is(unit, "one run in ten comes to less"),
                                        Figure("p50", of.p50).is(unit, "median"),
                                        Figure("p90", of.p90).is(unit, "one run in ten comes to more")});
}

Figure outcome_figure(const ChoiceOutcome& outcome) {
  return Figure::group(
      "outcome",
      {range_figure("days", outcome.days, "days"), range_figure("cost_usd", outcome.usd, "USD"),
       range_figure("energy_mwh", outcome.mwh, "MWh"),
       Figure("in_time", outcome.in_time).column(18, "in_time").is("probability", "of meeting the deadline"),
       Figure("in_budget", outcome.in_budget)
           .column(19, "in_budget")
           .is("probability", "of staying within the budget"),
       Figure("best", outcome.best).column(20, "best").is("probability", "of being the best of all rows"),
       Figure("regret", outcome.regret)
           .column(21, "regret")
           .is("unit of what is minimised", "expected, over the best of each draw")});
}

// Percentiles that stand in `outcome` of JSON.
std::vector<Figure> percentile_columns(const ChoiceOutcome& outcome) {
  std::vector<Figure> all;
  int place = 15;
  for (const auto& [name, value] :
       {std::pair("cost_usd_p10", outcome.usd.p10), {"cost_usd_p90", outcome.usd.p90}})
    all.push_back(Figure(name, value).not_in_json().column(place++));
  place = 28;
  for (const auto& [name, value] :
       {std::pair("energy_mwh_p10", outcome.mwh.p10), {"energy_mwh_p90", outcome.mwh.p90}})
    all.push_back(Figure(name, value).not_in_json().column(place++));
  return all;
}

// A figure of a row that has a limit.
Figure limit_figure(const FigureLimit& limit, double value) {
  std::vector<Figure> parts = {Figure("key", limit.key).is("of the figure"),
                               Figure("value", value).is("of it")};
  if (limit.at_most) parts.push_back(Figure("at_most", *limit.at_most).is("the limit"));
  if (limit.at_least) parts.push_back(Figure("at_least", *limit.at_least).is("the limit"));
  parts.push_back(Figure("holds", limit.overrun(value) == 0).is("whether it does"));
  return Figure::group("", std::move(parts));
}

std::vector<Figure> scenario_figures(const PlanQuestion& question, const PlanRow& row) {
  const PlanScenario& scenario = question.scenarios[row.of_scenario];
  Figure file("scenario", scenario.file), name("name", scenario.name);
  file = std::move(file).column(23).is("file of the job, where there are several");
  name = std::move(name).column(32).is("of the scenario in the question");
  std::vector<Figure> all = {question.several_files() ? file : std::move(file).not_in_json(),
                             scenario.name.empty() ? std::move(name).not_in_json() : name};
  std::vector<Figure> limits;
  for (std::size_t i = 0; i < row.limited.size(); ++i)
    limits.push_back(limit_figure(question.limits[i], row.limited[i]));
  if (!limits.empty()) all.push_back(Figure::list("limits", std::move(limits)));
  return all;
}

}  // namespace

std::vector<Figure> plan_row_figures(const PlanQuestion& question, const PlanRow& row) {
  std::vector<Figure> all = cluster_figures(row);
  append(all, run_figures(row));
  append(all, {Figure("power_kw", row.power_kw).column(27).is("kW", "at the meter, while it trains"),
               Figure("start_day", row.terms.start_day()).column(25).is("days", "before it begins to train"),
               Figure("one_off_usd", row.terms.one_off_usd).column(26).is("USD", "paid once"),
               Figure("below_16_bits", row.below_16_bits)
                   .column(30)
                   .is("whether matmuls are narrower, so that quality is not predicted to stay"),
               Figure("gap", row.gap)
                   .column(22)
                   .is("ratio", "by which a layout that was not simulated may be faster"),
               Figure("meets", row.meets(question)).column(31).is("whether all limits hold"),
               outcome_figure(row.outcome)});
  append(all, percentile_columns(row.outcome));
  append(all, scenario_figures(question, row));
  return all;
}

}  // namespace podsim
