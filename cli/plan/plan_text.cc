// Rows of clusters, what is missed by how much, and what was refused.
#include "cli/plan/plan_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/unit_factors.h"
#include "planner/plan/choice_course.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kUsdOfMUsd = 1e6;

std::string choice_of(const PlanRow& row) {
  return std::to_string(row.chips) + " " + row.chip + row.torus + " " + row.price_term;
}

bool over_failures(const PlanAnswer& answer) {
  return std::ranges::any_of(answer.rows, &PlanRow::over_failures);
}

std::string days_with_range(const PlanRow& row) {
  return fixed(row.days, 1) + " (" + fixed(row.outcome.days.p10, 1) + "-" + fixed(row.outcome.days.p90, 1) +
         ")";
}

std::string mwh_with_range(const PlanRow& row) {
  const auto told = [](double mwh) { return significant(mwh, 3); };
  return told(row.mwh) + " (" + told(row.outcome.mwh.p10) + "-" + told(row.outcome.mwh.p90) + ")";
}

std::string usd_with_range(const PlanRow& row) {
  const auto told = [](double usd) { return significant(usd / kUsdOfMUsd, 3); };
  return told(row.usd) + " (" + told(row.outcome.usd.p10) + "-" + told(row.outcome.usd.p90) + ")";
}

// In the unit of the objective.
std::string in_unit(double value, PlanObjective objective) {
  return significant(value / objective_measure(objective).one_unit, 3);
}

std::string misses(const PlanQuestion& question, const PlanRow& row) {
  std::string text;
  const double days = row.held_days(question), usd = row.held_usd(question);
  if (question.most_days && days > *question.most_days)
    text = "late by " + fixed(days - *question.most_days, 1) + " days";
  if (question.most_usd && usd > *question.most_usd)
    text += (text.empty() ? "" : ", ") + std::string("over by ") +
            significant((usd - *question.most_usd) / kUsdOfMUsd, 3) + " M USD";
  for (std::size_t i = 0; i < row.limited.size(); ++i) {
    const FigureLimit& limit = question.limits[i];
    if (limit.overrun(row.limited[i]) == 0) continue;
    const bool above = limit.at_most && row.limited[i] > *limit.at_most;
    text += (text.empty() ? "" : ", ") + limit.key + " " + significant(row.limited[i], 4) +
            (above ? " above " : " below ") + significant(above ? *limit.at_most : *limit.at_least, 4);
  }
  return text.empty() ? "yes" : text;
}

std::string chips_in_time(const PlanRow& row, double days, double most_days) {
  const double start = row.terms.start_day();
  if (most_days <= start) return " It would begin on day " + fixed(start, 1) + ".";
  return " At the same speed per chip " +
         std::to_string(static_cast<std::int64_t>(row.chips * (days - start) / (most_days - start)) + 1) +
         " chips would be in time.";
}

// What keeps the first row of those that meet nothing from meeting it, and what would help.
std::string nearest_miss(const PlanQuestion& question, const PlanAnswer& answer) {
  const PlanRow& row = answer.rows.front();
  std::string text =
      "No choice meets the limits. " + choice_of(row) + " comes nearest: " + misses(question, row) + ".";
  const double days = row.held_days(question);
  if (question.most_days && days > *question.most_days) text += chips_in_time(row, days, *question.most_days);
  if (answer.helps) {
    const PlanRow& better = *answer.helps;
    text += " Of single changes " + choice_of(better) + " helps most: " + fixed(better.days, 1) + " days, " +
            significant(better.usd / kUsdOfMUsd, 3) + " M USD" +
            (better.meets(question) ? ", within the limits." : ", " + misses(question, better) + ".");
  }
  return text + "\n";
}

}  // namespace

std::string swings_text(const PlanQuestion& question, const PlanAnswer& answer) {
  if (answer.swings.empty()) return "";
  const std::string unit = objective_measure(question.objective).unit;
  std::vector<std::vector<std::string>> rows = {{"what it hangs on", "from", "to", unit + " of 1", "to"}};
  if (answer.second) {
    const std::string second = std::to_string(*answer.second + 1);
    rows.front().insert(rows.front().end(), {second + " less 1", "to", "equal to " + second + " at"});
  }
  const bool limits = question.most_days || question.most_usd;
  if (limits) rows.front().push_back("limits end at");
  const auto at = [](const std::optional<double>& value) { return value ? significant(*value, 3) : "-"; };
  std::string notes;
  for (const AssumptionSwing& swing : answer.swings) {
    const auto told = [&](std::optional<double> value) {
      return value ? in_unit(*value, question.objective) : "no end";
    };
    rows.push_back({swing.what, significant(swing.from, 3), significant(swing.to, 3), told(swing.first_from),
                    told(swing.first_to)});
    if (answer.second)
      rows.back().insert(rows.back().end(),
                         {told(swing.margin_from), told(swing.margin_to), at(swing.flips_at)});
    if (limits) rows.back().push_back(at(swing.misses_at));
    if (!swing.note.empty()) notes += "Risk: " + swing.note + ".\n";
  }
  std::string text = "\n" + align(rows) + notes;
  if (!answer.worth.empty() && answer.worth.front().saves > 0)
    text += "To measure the step of " + answer.worth.front().what + " first would save " +
            in_unit(answer.worth.front().saves, question.objective) + " " + unit + " in the mean at most.\n";
  return text;
}

std::string refusals_text(const PlanAnswer& answer) {
  std::string text;
  for (const PlanRefusal& refusal : answer.refused) text += "  " + refusal.what + ": " + refusal.why + "\n";
  return text;
}

namespace {

// Rows whose matmuls are narrower than 16 bits, as a warning.
std::string precision_risk(const PlanAnswer& answer) {
  std::string rows;
  for (std::size_t i = 0; i < answer.rows.size(); ++i)
    if (answer.rows[i].below_16_bits) rows += (rows.empty() ? "" : ", ") + std::to_string(i + 1);
  if (rows.empty()) return "";
  return "Risk: matmuls of row " + rows +
         " have less than 16 bits. Whether the model then learns as well is not predicted: hold losses of a "
         "short run against one in 16 bits.\n";
}

// ", 3.1% slower than the fastest, which misses a limit", or empty.
std::string slower_by(const PlanRow& row) {
  if (!row.fastest_step) return "";
  return ", " + percent(row.found.figures.step_time.in_seconds() / row.fastest_step->in_seconds() - 1) +
         " slower than the fastest, which misses a limit";
}

// How far was looked for layouts that meet the limits on figures, of clusters that have none.
std::string missed_by_all(const PlanAnswer& answer) {
  std::string text;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const auto& missing = answer.rows[i].missing;
    if (!missing) continue;
    text +=
        "Row " + std::to_string(i + 1) + " shows the fastest layout of its cluster: " +
        (missing->all ? "no layout of it meets the limits on figures.\n"
                      : "of " + std::to_string(missing->layouts) +
                            " that were simulated, the fastest first, none meets the limits on figures.\n");
  }
  return text;
}

// Columns that a plan has where rows differ in them.
struct PlanColumns {
  bool limits, carbon, start_day, batch, spares, file, name;
};

PlanColumns columns_of(const PlanQuestion& question, const PlanAnswer& answer) {
  using std::ranges::any_of;
  const std::vector<PlanScenario>& scenarios = question.scenarios;
  return {.limits = question.most_days || question.most_usd || !question.limits.empty(),
          .carbon = any_of(answer.rows, [](const PlanRow& row) { return row.carbon_t.has_value(); }),
          .start_day = any_of(answer.rows, [](const PlanRow& row) { return row.terms.start_day() > 0; }),
          .batch = any_of(scenarios, [](const PlanScenario& of) { return !of.batch_tokens.empty(); }),
          .spares = question.choose_spares,
          .file = question.several_files(),
          .name = any_of(scenarios, [](const PlanScenario& of) { return !of.name.empty(); })};
}

std::vector<std::string> plan_headings(const PlanQuestion& question, const PlanColumns& columns) {
  std::vector<std::string> cells = {
      "choice",        "precision",      "step s",
      "MFU",           "days (p10-p90)", "M USD (p10-p90)",
      "MWh (p10-p90)", "P(best)",        std::string("regret ") + objective_measure(question.objective).unit,
      "GiB",           "stack"};
  if (columns.limits) cells.insert(cells.begin() + 1, {"meets", "P(days)", "P(USD)"});
  if (columns.carbon) cells.emplace_back("t CO2e");
  if (columns.start_day) cells.emplace_back("from day");
  if (columns.batch) cells.emplace_back("M tokens a step");
  if (columns.spares) cells.emplace_back("spare nodes");
  if (columns.file) cells.emplace_back("scenario");
  if (columns.name) cells.emplace_back("name");
  return cells;
}

std::vector<std::string> plan_cells(const PlanQuestion& question, const PlanColumns& columns,
                                    const PlanRow& row, std::size_t place) {
  const MainFigures& step = row.found.figures;
  const ChoiceOutcome& outcome = row.outcome;
  std::vector<std::string> cells = {std::to_string(place) + "  " + choice_of(row),
                                    row.precision,
                                    fixed(step.step_time.in_seconds(), 3),
                                    percent(step.mfu_causal),
                                    days_with_range(row),
                                    usd_with_range(row),
                                    mwh_with_range(row),
                                    fixed(outcome.best, 2),
                                    in_unit(outcome.regret, question.objective),
                                    fixed(step.memory_gib, 1),
                                    row.stack};
  if (columns.limits)
    cells.insert(cells.begin() + 1,
                 {misses(question, row), question.most_days ? fixed(outcome.in_time, 2) : "-",
                  question.most_usd ? fixed(outcome.in_budget, 2) : "-"});
  if (columns.carbon) cells.push_back(row.carbon_t ? significant(*row.carbon_t, 4) : "-");
  if (columns.start_day) cells.push_back(fixed(row.terms.start_day(), 1));
  if (columns.batch) cells.push_back(significant(row.batch_tokens / 1e6, 4));
  if (columns.spares) cells.push_back(row.spare_nodes ? std::to_string(*row.spare_nodes) : "-");
  if (columns.file) cells.push_back(question.scenarios[row.of_scenario].file);
  if (columns.name) cells.push_back(question.scenarios[row.of_scenario].name);
  return cells;
}

// What became of all layouts.
std::string search_counts_text(const PlanAnswer& answer) {
  const SearchCounts& counts = answer.counts;
  double gap = 0;
  for (const PlanRow& row : answer.rows) gap = std::max(gap, row.gap);
  const auto counted = [](std::int64_t n) { return significant(static_cast<double>(n), 1); };
  return counted(counts.layouts) + " layouts: " + counted(counts.no_room) + " do not fit, " +
         counted(counts.layouts - counts.no_room - counts.simulated - counts.too_long) + " bounded out, " +
         (counts.too_long > 0 ? counted(counts.too_long) + " refused as too long, " : "") +
         counted(counts.simulated) + " simulated. Of no cluster is any layout faster by more than " +
         percent(gap) + ".\n";
}

}  // namespace

std::string plan_table(const PlanQuestion& question, const PlanAnswer& answer) {
  const PlanColumns columns = columns_of(question, answer);
  std::vector<std::vector<std::string>> rows = {plan_headings(question, columns)};
  std::string layouts;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const PlanRow& row = answer.rows[i];
    rows.push_back(plan_cells(question, columns, row, i + 1));
    layouts += "  " + std::to_string(i + 1) + "  " + to_string(row.found.layout) + slower_by(row) + "\n";
  }
  std::string text = significant(question.tokens / 1e12, 4) + "T tokens" +
                     (over_failures(answer) ? ", over failures" : ", without failures") + "\n\n" +
                     align(rows) + "\nLayouts:\n" + layouts;
  if (answer.rows_left_out > 0)
    text += std::to_string(answer.rows_left_out) + " more rows are not shown: they come after these.\n";
  text += precision_risk(answer) + missed_by_all(answer) + swings_text(question, answer);
  if (!answer.rows.front().meets(question)) text += nearest_miss(question, answer);
  text += search_counts_text(answer);
  if (!answer.refused.empty()) text += "Without a row:\n" + refusals_text(answer);
  if (answer.stopped) text += "The plan was stopped: not all choices were looked at.\n";
  return text;
}

std::string equal_table(const PlanQuestion& question, EqualMeasure measure, const PlanAnswer& answer) {
  const std::string regret = std::string("regret ") + objective_measure(question.objective).unit;
  std::vector<std::vector<std::string>> rows = {{"choice", "step s", "MFU", "tokens/s", "USD/h", "USD/Mtoken",
                                                 "days (p10-p90)", "M USD (p10-p90)", "P(best)", regret,
                                                 "scenario"}};
  const auto reference = std::ranges::find(answer.rows, 0U, &PlanRow::of_scenario);
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const PlanRow& row = answer.rows[i];
    const MainFigures& step = row.found.figures;
    rows.push_back(
        {std::to_string(i + 1) + "  " + choice_of(row), fixed(step.step_time.in_seconds(), 3),
         percent(step.mfu_causal), significant(step.tokens_per_s, 6), significant(row.usd_per_hour(), 4),
         significant(row.usd_per_hour() / (step.tokens_per_s * kSecondsPerHour) * 1e6, 4),
         days_with_range(row), usd_with_range(row), fixed(row.outcome.best, 2),
         in_unit(row.outcome.regret, question.objective), question.scenarios[row.of_scenario].file});
  }
  std::string text = significant(question.tokens / 1e12, 4) + "T tokens" +
                     (over_failures(answer) ? ", over failures; " : ", without failures; ") +
                     (measure == EqualMeasure::kDeadline
                          ? "each done within " + significant(*question.most_days, 4) + " days"
                      : reference == answer.rows.end() ? std::string("nothing is equal")
                                                       : "equal to " + measure_of(measure, *reference) +
                                                             " of " + question.scenarios.front().file) +
                     "\n\n" + align(rows) + "\nLayouts:\n";
  for (std::size_t i = 0; i < answer.rows.size(); ++i)
    text += "  " + std::to_string(i + 1) + "  " + to_string(answer.rows[i].found.layout) + "\n";
  text += swings_text(question, answer);
  if (!answer.refused.empty()) text += "Not equal:\n" + refusals_text(answer);
  return text;
}

namespace {

// "h100 at 7.58, tpu_v5p at 1.63": of the first and the second choice.
std::string tie_prices(const PlanAnswer& answer) {
  const std::string price = "USD per chip-hour of ";
  std::string text;
  for (const AssumptionSwing& swing : answer.swings) {
    if (!swing.what.starts_with(price) || !swing.flips_at) continue;
    const std::string chip =
        swing.what.substr(price.size(), swing.what.find(' ', price.size()) - price.size());
    text += (text.empty() ? "" : ", ") + chip + " at " + significant(*swing.flips_at, 3);
  }
  return text.empty() ? "-" : text;
}

}  // namespace

std::string equal_parts_table(const std::vector<EqualPart>& parts) {
  std::vector<std::vector<std::string>> rows = {{"model", "equal", "choice", "layout", "tokens/s", "USD/h",
                                                 "days (p10-p90)", "M USD (p10-p90)", "P(best)",
                                                 "they tie, USD/h"}};
  std::string refused;
  for (const EqualPart& part : parts) {
    for (const PlanRow& row : part.answer.rows) {
      const bool first = &row == &part.answer.rows.front();
      rows.push_back({first ? part.model : "", first ? part.measure : "", choice_of(row),
                      to_string(row.found.layout), significant(row.found.figures.tokens_per_s, 6),
                      significant(row.usd_per_hour(), 4), days_with_range(row), usd_with_range(row),
                      fixed(row.outcome.best, 2), first ? tie_prices(part.answer) : ""});
    }
    for (const PlanRefusal& refusal : part.answer.refused)
      refused += "  " + part.model + ", " + part.measure + ": " + refusal.what + ": " + refusal.why + "\n";
  }
  const EqualPart& first = parts.front();
  return significant(first.question.tokens / 1e12, 4) + "T tokens" +
         (over_failures(first.answer) ? ", over failures" : ", without failures") +
         (parts.back().question.most_days
              ? "; deadline " + significant(*parts.back().question.most_days, 4) + " days"
              : "") +
         "\n\n" + align(rows) + (refused.empty() ? "" : "\nNot equal:\n" + refused);
}

std::string equal_parts_json(const std::vector<EqualPart>& parts) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const EqualPart& part : parts) {
    auto json = nlohmann::ordered_json::parse(plan_json(part.question, part.answer, "equal " + part.measure));
    json["model"] = part.model;
    json["equal"] = part.measure;
    all.push_back(json);
  }
  return all.dump(2) + "\n";
}

std::string equal_parts_csv(const std::vector<EqualPart>& parts) {
  std::string text;
  for (const EqualPart& part : parts) {
    const std::string csv = plan_csv(part.question, part.answer);
    std::size_t begin = 0;
    for (std::size_t end = csv.find('\n'); end != std::string::npos; end = csv.find('\n', begin)) {
      const bool header = begin == 0;
      if (!header || text.empty())
        text += (header ? "model,equal" : csv_text_cell(part.model) + "," + part.measure) + "," +
                csv.substr(begin, end + 1 - begin);
      begin = end + 1;
    }
  }
  return text;
}

}  // namespace podsim
