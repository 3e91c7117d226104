// The answer to a plan as CSV and JSON.
#include <nlohmann/json.hpp>

#include "cli/plan/plan_text.h"
#include "planner/plan/question_words.h"
#include "proto/writing/result_json.h"
#include "report/text/text.h"

namespace podsim {

namespace {

// 4x4x8, or empty.
std::string shape_text(const std::vector<int>& shape) {
  std::string text;
  for (const int length : shape) text += (text.empty() ? "" : "x") + std::to_string(length);
  return text;
}

}  // namespace

std::string plan_csv(const PlanQuestion& question, const PlanAnswer& answer) {
  std::string text =
      "chip,chips,fabric,stack,precision,price_term,layout,step_time_s,memory_gib,mfu_causal,days,days_p10,"
      "days_p90,cost_usd,cost_usd_p10,cost_usd_p90,energy_mwh,in_time,in_budget,best,regret,gap,scenario,"
      "carbon_t,start_day,one_off_usd,power_kw,energy_mwh_p10,energy_mwh_p90,below_16_bits,"
      "meets,name,batch_tokens,spare_nodes,slices,slice_shape\n";
  for (const PlanRow& row : answer.rows) {
    const MainFigures& step = row.found.figures;
    const ChoiceOutcome& outcome = row.outcome;
    text += csv_cell(row.chip) + "," + std::to_string(row.chips) + "," + csv_cell(row.fabric) + "," +
            csv_cell(row.stack) + "," + csv_cell(row.precision) + "," + csv_cell(row.price_term) + "," +
            csv_cell(to_string(row.found.layout)) + "," + exact_seconds(step.step_time) + "," +
            shortest(step.memory_gib) + "," + shortest(step.mfu_causal) + "," + shortest(row.days) + "," +
            shortest(outcome.days.p10) + "," + shortest(outcome.days.p90) + "," + shortest(row.usd) + "," +
            shortest(outcome.usd.p10) + "," + shortest(outcome.usd.p90) + "," + shortest(row.mwh) + "," +
            shortest(outcome.in_time) + "," + shortest(outcome.in_budget) + "," + shortest(outcome.best) +
            "," + shortest(outcome.regret) + "," + shortest(row.gap) + "," +
            csv_cell(question.scenarios[row.of_scenario].file) + "," +
            (row.carbon_t ? shortest(*row.carbon_t) : "") + "," + shortest(row.terms.start_day()) + "," +
            shortest(row.terms.one_off_usd) + "," + shortest(row.power_kw) + "," + shortest(outcome.mwh.p10) +
            "," + shortest(outcome.mwh.p90) + "," + (row.below_16_bits ? "true" : "false") + "," +
            (row.meets(question) ? "true" : "false") + "," +
            csv_cell(question.scenarios[row.of_scenario].name) + "," + shortest(row.batch_tokens) + "," +
            (row.spare_nodes ? std::to_string(*row.spare_nodes) : "") + "," + std::to_string(row.slices) +
            "," + shape_text(row.slice_shape) + "\n";
  }
  return text;
}

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson range_json(const OutcomeRange& of) { return {{"p10", of.p10}, {"p50", of.p50}, {"p90", of.p90}}; }

// A figure of a row that has a limit.
OrderedJson limit_json(const FigureLimit& limit, double value) {
  OrderedJson held = {{"key", limit.key}, {"value", value}};
  if (limit.at_most) held["at_most"] = *limit.at_most;
  if (limit.at_least) held["at_least"] = *limit.at_least;
  held["holds"] = limit.overrun(value) == 0;
  return held;
}

OrderedJson row_json(const PlanQuestion& question, const PlanRow& row) {
  OrderedJson each = {{"chip", row.chip},
                      {"chips", row.chips},
                      {"fabric", row.fabric},
                      {"stack", row.stack},
                      {"precision", row.precision},
                      {"price_term", row.price_term},
                      {"layout", to_string(row.found.layout)}};
  if (!row.slice_shape.empty()) {
    each["slices"] = row.slices;
    each["slice_shape"] = row.slice_shape;
  }
  each["step_time_s"] = row.found.figures.step_time.in_seconds();
  each["memory_gib"] = row.found.figures.memory_gib;
  each["mfu_causal"] = row.found.figures.mfu_causal;
  each["days"] = row.days;
  each["days_p10"] = row.outcome.days.p10;
  each["days_p90"] = row.outcome.days.p90;
  each["cost_usd"] = row.usd;
  each["energy_mwh"] = row.mwh;
  if (row.carbon_t) each["carbon_t"] = *row.carbon_t;
  each["batch_tokens"] = row.batch_tokens;
  if (row.spare_nodes) each["spare_nodes"] = *row.spare_nodes;
  if (row.missing) each["missing_limits"] = {{"layouts", row.missing->layouts}, {"all", row.missing->all}};
  if (row.fastest_step) each["fastest_step_time_s"] = row.fastest_step->in_seconds();
  each["power_kw"] = row.power_kw;
  each["start_day"] = row.terms.start_day();
  each["one_off_usd"] = row.terms.one_off_usd;
  each["below_16_bits"] = row.below_16_bits;
  each["gap"] = row.gap;
  each["meets"] = row.meets(question);
  each["outcome"] = {{"days", range_json(row.outcome.days)},
                     {"cost_usd", range_json(row.outcome.usd)},
                     {"energy_mwh", range_json(row.outcome.mwh)},
                     {"in_time", row.outcome.in_time},
                     {"in_budget", row.outcome.in_budget},
                     {"best", row.outcome.best},
                     {"regret", row.outcome.regret}};
  if (question.several_files()) each["scenario"] = question.scenarios[row.of_scenario].file;
  if (const std::string& name = question.scenarios[row.of_scenario].name; !name.empty()) each["name"] = name;
  for (std::size_t i = 0; i < row.limited.size(); ++i)
    each["limits"].push_back(limit_json(question.limits[i], row.limited[i]));
  return each;
}

OrderedJson swing_json(const AssumptionSwing& swing, bool with_margin) {
  OrderedJson each = {{"what", swing.what},
                      {"from", swing.from},
                      {"to", swing.to},
                      {"first_from", swing.first_from},
                      {"first_to", swing.first_to}};
  if (with_margin) each["margin_from"] = swing.margin_from, each["margin_to"] = swing.margin_to;
  if (swing.flips_at) each["flips_at"] = *swing.flips_at;
  if (swing.misses_at) each["misses_at"] = *swing.misses_at;
  return each;
}

}  // namespace

std::string plan_json(const PlanQuestion& question, const PlanAnswer& answer, const std::string& asked) {
  std::vector<std::string> texts;
  for (const PlanScenario& scenario : question.scenarios) texts.push_back(scenario.text);
  OrderedJson json = result_json<OrderedJson>(question_sha256(asked + question_words(question), texts));
  json["tokens"] = question.tokens;
  json["rows"] = OrderedJson::array();
  for (const PlanRow& row : answer.rows) json["rows"].push_back(row_json(question, row));
  if (answer.helps)
    json["helps_most"] = {{"chips", answer.helps->chips},           {"chip", answer.helps->chip},
                          {"price_term", answer.helps->price_term}, {"days", answer.helps->days},
                          {"cost_usd", answer.helps->usd},          {"meets", answer.helps->meets(question)}};
  json["hangs_on"] = OrderedJson::array();
  for (const AssumptionSwing& swing : answer.swings)
    json["hangs_on"].push_back(swing_json(swing, answer.second.has_value()));
  if (answer.second) json["second"] = *answer.second + 1;
  if (answer.rows_left_out > 0) json["rows_left_out"] = answer.rows_left_out;
  json["worth_of_knowing"] = OrderedJson::array();
  for (const WorthOfKnowing& worth : answer.worth)
    json["worth_of_knowing"].push_back({{"what", worth.what}, {"saves", worth.saves}});
  json["refused"] = OrderedJson::array();
  for (const PlanRefusal& refusal : answer.refused)
    json["refused"].push_back({{"choice", refusal.what}, {"why", refusal.why}});
  return json.dump(2) + "\n";
}

}  // namespace podsim
