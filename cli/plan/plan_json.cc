// The answer to a plan as CSV and JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "cli/plan/plan_text.h"
#include "planner/plan/plan_figures.h"
#include "planner/plan/question_words.h"
#include "proto/writing/result_json.h"
#include "report/tables/write.h"

namespace podsim {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of_figure(const Figure& figure);

OrderedJson object_of(const std::vector<Figure>& figures) {
  OrderedJson object = OrderedJson::object();
  for (const Figure& figure : figures)
    if (figure.in_json) object[figure.key] = json_of_figure(figure);
  return object;
}

OrderedJson json_of_figure(const Figure& figure) {
  if (figure.shape == Figure::Shape::kGroup) return object_of(figure.parts);
  if (figure.shape == Figure::Shape::kList) {
    OrderedJson list = OrderedJson::array();
    for (const Figure& part : figure.parts) list.push_back(json_of_figure(part));
    return list;
  }
  return std::visit(
      [](const auto& value) -> OrderedJson {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Time>)
          return value.in_seconds();
        else if constexpr (std::is_same_v<Value, std::monostate>)
          return nullptr;
        else
          return value;
      },
      figure.value);
}

OrderedJson or_null(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson swing_json(const AssumptionSwing& swing, bool with_margin) {
  OrderedJson each = {{"what", swing.what},
                      {"from", swing.from},
                      {"to", swing.to},
                      {"first_from", swing.first_from},
                      {"first_to", or_null(swing.first_to)}};
  if (with_margin) each["margin_from"] = swing.margin_from, each["margin_to"] = or_null(swing.margin_to);
  if (!swing.note.empty()) each["note"] = swing.note;
  if (swing.flips_at) each["flips_at"] = *swing.flips_at;
  if (swing.misses_at) each["misses_at"] = *swing.misses_at;
  return each;
}

}  // namespace

std::string plan_csv(const PlanQuestion& question, const PlanAnswer& answer) {
  std::vector<std::vector<Figure>> lines;
  for (const PlanRow& row : answer.rows) lines.push_back(plan_row_figures(question, row));
  return figures_csv(lines);
}

std::string plan_json(const PlanQuestion& question, const PlanAnswer& answer, const std::string& asked) {
  std::vector<std::string> texts;
  for (const PlanScenario& scenario : question.scenarios) texts.push_back(scenario.text);
  OrderedJson json = result_json<OrderedJson>(question_sha256(asked + question_words(question), texts));
  json["tokens"] = question.tokens;
  json["rows"] = OrderedJson::array();
  for (const PlanRow& row : answer.rows) json["rows"].push_back(object_of(plan_row_figures(question, row)));
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
