// Puts a plan on panels: clusters by days and dollars, where their steps go, and what each lacks against the
// first.
#include "cli/plan/plan_page.h"

#include <algorithm>
#include <cmath>

#include "cli/answers/page_parts.h"
#include "cli/plan/plan_text.h"
#include "cli/search/choice_plane.h"
#include "report/pictures/run_pictures.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string name_of(const PlanRow& row) { return std::to_string(row.chips) + " " + row.chip + row.torus; }

double memory_left(const PlanRow& row) {
  const double capacity = row.memory_capacity.value;
  return capacity > 0 ? 1 - row.found.memory.value / capacity : 0;
}

// Why not this one: what it takes more, or less, than the first.
std::string against_first(const PlanRow& row, const PlanRow& first) {
  const std::string name = name_of(row) + ", " + row.price_term;
  if (&row == &first) return name + " is the first choice.";
  const auto more = [](double value, double than, const std::string& what) {
    return percent(std::abs(value / than - 1)) + (value < than ? " less " : " more ") + what;
  };
  return name + " takes " + more(row.days, first.days, "time") + " and " + more(row.usd, first.usd, "money") +
         " than the first choice: " + significant(row.days, 4) + " days and " + significant(row.usd, 4) +
         " USD.";
}

Picture clusters_picture(const PlanQuestion& question, const PlanAnswer& answer) {
  const PlanRow& best = answer.rows.front();
  std::vector<PlaneChoice> choices;
  for (const PlanRow& row : answer.rows) {
    const std::string text = name_of(row) + ", " + row.precision + ", " + row.price_term + ": " +
                             significant(row.days, 4) + " days, " + significant(row.usd, 4) + " USD, " +
                             percent(memory_left(row)) + " of memory free; " + to_string(row.found.layout) +
                             "; " + buckets_text(row.found.figures);
    choices.push_back({row.chip, row.chips, row.days, row.usd, memory_left(row), std::to_string(row.chips),
                       text, name_of(row), against_first(row, best)});
  }
  Picture plane{.id = "clusters", .title = "Days and dollars", .summary = ""};
  plane.summary = "The first choice takes " + significant(best.days, 4) + " days and " +
                  significant(best.usd, 4) + " USD.";
  plane.x = {"days", "", {}, true};
  plane.y = {"USD", "", {}, true};
  plane.series = plane_series(choices);
  if (question.most_days) plane.lines.push_back({true, *question.most_days, "deadline"});
  if (question.most_usd) plane.lines.push_back({false, *question.most_usd, "budget"});
  return plane;
}

PageTable cluster_table(const PlanQuestion& question, const PlanAnswer& answer) {
  PageTable table{"", {"choice", "term", "days", "USD", "MWh", "step, s", "GiB", "meets the limits"}, {}};
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const PlanRow& row = answer.rows[i];
    const std::string key = "rows" + at_index(i);
    table.rows.push_back({{name_of(row)},
                          {row.price_term},
                          {significant(row.days, 4), key + "days"},
                          {significant(row.usd, 4), key + "cost_usd"},
                          {significant(row.mwh, 4), key + "energy_mwh"},
                          {fixed(row.found.figures.step_time.in_seconds(), 4), key + "step_time_s"},
                          {fixed(row.found.figures.memory_gib, 1), key + "memory_gib"},
                          {row.meets(question) ? "yes" : "no", key + "meets"}});
  }
  return table;
}

// Of the first rows with different steps: terms of a cluster share theirs.
Picture steps_of(const PlanAnswer& answer) {
  std::vector<Report> steps;
  for (const PlanRow& row : answer.rows) {
    const std::string name = name_of(row) + ", " + to_string(row.found.layout);
    const bool known = std::ranges::any_of(steps, [&](const Report& each) { return each.scenario == name; });
    if (!known && steps.size() < kMostBars) steps.push_back(bar_of(row.found, name));
  }
  return bars_of_found(steps);
}

}  // namespace

Page plan_page(const PlanQuestion& question, const PlanAnswer& answer) {
  Page page{.title = "Clusters for " + significant(question.tokens / 1e12, 4) + "T tokens"};
  page.json = plan_json(question, answer);
  const PlanRow& best = answer.rows.front();
  page.figures = {{"first choice", {name_of(best), "rows[0].chips"}, best.price_term},
                  {"days", {significant(best.days, 4), "rows[0].days"}},
                  {"USD", {significant(best.usd, 4), "rows[0].cost_usd"}},
                  {"energy, MWh", {significant(best.mwh, 4), "rows[0].energy_mwh"}}};
  PagePanel panel{"clusters", "Days and dollars"};
  panel.pictures.push_back(clusters_picture(question, answer));
  page.answer = panel.pictures.front().summary;
  panel.tables.push_back(cluster_table(question, answer));
  PagePanel where{"steps", "Where their steps go"};
  where.pictures.push_back(steps_of(answer));
  page.panels = {std::move(panel), std::move(where), text_panel(plan_table(question, answer))};
  return page;
}

}  // namespace podsim
