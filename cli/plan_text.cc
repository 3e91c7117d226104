// Rows of clusters, what is missed by how much, and what was refused.
#include "cli/plan_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "proto/writing/result_json.h"
#include "report/text.h"
#include "report/write.h"

namespace podsim {
namespace {

constexpr double kMillion = 1e6;

std::string choice_of(const PlanRow& row) {
  return std::to_string(row.chips) + " " + row.chip + " " + row.price_term;
}

std::string days_of(const PlanRow& row) {
  if (!row.days_p10) return fixed(row.days, 1);
  return fixed(row.days, 1) + " (" + fixed(*row.days_p10, 1) + "-" + fixed(*row.days_p90, 1) + ")";
}

std::string misses(const PlanQuestion& question, const PlanRow& row) {
  std::string text;
  if (question.most_days && row.days > *question.most_days)
    text = "late by " + fixed(row.days - *question.most_days, 1) + " days";
  if (question.most_usd && row.usd > *question.most_usd)
    text += (text.empty() ? "" : ", ") + std::string("over by ") +
            fixed((row.usd - *question.most_usd) / kMillion, 2) + " M USD";
  return text.empty() ? "yes" : text;
}

// What keeps the first row of those that meet nothing from meeting it.
std::string nearest_miss(const PlanQuestion& question, const PlanRow& row) {
  std::string text =
      "No choice meets the limits. " + choice_of(row) + " comes nearest: " + misses(question, row) + ".";
  if (question.most_days && row.days > *question.most_days)
    text += " At the same speed per chip " +
            std::to_string(static_cast<std::int64_t>(row.chips * row.days / *question.most_days) + 1) +
            " chips would be in time.";
  return text + "\n";
}

}  // namespace

std::string refusals_text(const PlanAnswer& answer) {
  std::string text;
  for (const PlanRefusal& refusal : answer.refused) text += "  " + refusal.what + ": " + refusal.why + "\n";
  return text;
}

std::string plan_table(const PlanQuestion& question, const PlanAnswer& answer) {
  const bool limits = question.most_days || question.most_usd;
  std::vector<std::vector<std::string>> rows = {
      {"choice", "precision", "step s", "MFU", "days", "M USD", "MWh", "GiB", "stack"}};
  if (limits) rows.front().insert(rows.front().begin() + 1, "meets");
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const PlanRow& row = answer.rows[i];
    const MainFigures& step = row.found.figures;
    rows.push_back({std::to_string(i + 1) + "  " + choice_of(row), row.precision,
                    fixed(step.step_time.in_seconds(), 3), percent(step.mfu_causal), days_of(row),
                    fixed(row.usd / kMillion, 2), significant(row.mwh, 4), fixed(step.memory_gib, 1),
                    row.stack});
    if (limits) rows.back().insert(rows.back().begin() + 1, misses(question, row));
  }
  std::string text =
      significant(question.tokens / 1e12, 4) + "T tokens" +
      (answer.rows.front().days_p10 ? ", days p50 (p10-p90) over failures" : ", without failures") + "\n\n" +
      align(rows) + "\nLayouts:\n";
  double gap = 0;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    text += "  " + std::to_string(i + 1) + "  " + to_string(answer.rows[i].found.layout) + "\n";
    gap = std::max(gap, answer.rows[i].gap);
  }
  if (!answer.rows.front().meets(question)) text += nearest_miss(question, answer.rows.front());
  const SearchCounts& counts = answer.counts;
  const auto counted = [](std::int64_t n) { return significant(static_cast<double>(n), 1); };
  text += counted(counts.layouts) + " layouts: " + counted(counts.no_room) + " do not fit, " +
          counted(counts.layouts - counts.no_room - counts.simulated) + " bounded out, " +
          counted(counts.simulated) + " simulated. Of no cluster is any layout faster by more than " +
          percent(gap) + ".\n";
  if (!answer.refused.empty()) text += "Without a row:\n" + refusals_text(answer);
  if (answer.stopped) text += "The plan was stopped: not all choices were looked at.\n";
  return text;
}

std::string plan_csv(const PlanAnswer& answer) {
  std::string text =
      "chip,chips,fabric,stack,precision,price_term,layout,step_time_s,memory_gib,mfu_causal,days,days_p10,"
      "days_p90,"
      "cost_usd,energy_mwh,gap\n";
  for (const PlanRow& row : answer.rows) {
    const MainFigures& step = row.found.figures;
    const auto optional = [](const std::optional<double>& value) { return value ? shortest(*value) : ""; };
    text += csv_cell(row.chip) + "," + std::to_string(row.chips) + "," + csv_cell(row.fabric) + "," +
            csv_cell(row.stack) + "," + csv_cell(row.precision) + "," + csv_cell(row.price_term) + "," +
            csv_cell(to_string(row.found.layout)) + "," + exact_seconds(step.step_time) + "," +
            shortest(step.memory_gib) + "," + shortest(step.mfu_causal) + "," + shortest(row.days) + "," +
            optional(row.days_p10) + "," + optional(row.days_p90) + "," + shortest(row.usd) + "," +
            shortest(row.mwh) + "," + shortest(row.gap) + "\n";
  }
  return text;
}

std::string plan_json(const PlanQuestion& question, const PlanAnswer& answer) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson json =
      result_json<OrderedJson>(question_sha256("plan " + shortest(question.tokens), {question.text}));
  json["tokens"] = question.tokens;
  json["rows"] = OrderedJson::array();
  for (const PlanRow& row : answer.rows) {
    OrderedJson each = {{"chip", row.chip},
                        {"chips", row.chips},
                        {"fabric", row.fabric},
                        {"stack", row.stack},
                        {"precision", row.precision},
                        {"price_term", row.price_term},
                        {"layout", to_string(row.found.layout)}};
    each["step_time_s"] = row.found.figures.step_time.in_seconds();
    each["memory_gib"] = row.found.figures.memory_gib;
    each["mfu_causal"] = row.found.figures.mfu_causal;
    each["days"] = row.days;
    if (row.days_p10) each["days_p10"] = *row.days_p10, each["days_p90"] = *row.days_p90;
    each["cost_usd"] = row.usd;
    each["energy_mwh"] = row.mwh;
    each["gap"] = row.gap;
    each["meets"] = row.meets(question);
    json["rows"].push_back(each);
  }
  json["refused"] = OrderedJson::array();
  for (const PlanRefusal& refusal : answer.refused)
    json["refused"].push_back({{"choice", refusal.what}, {"why", refusal.why}});
  return json.dump(2) + "\n";
}

}  // namespace podsim
