// Reads what capital and grids are known and joins a step's power with a year of owning.
#include "prediction/owning.h"

#include <algorithm>

#include "engine/check.h"
#include "prediction/builtin_capital.h"
#include "prediction/builtin_grids.h"
#include "prediction/builtin_terms.h"
#include "proto/text/csv_table.h"

namespace podsim {
namespace {

// The table of the binary whose name ends so.
CsvTable table_of(std::span<const CatalogFile> files) {
  PODSIM_CHECK(files.size() == 1, "a table of the binary is one file");
  CsvTable table(std::string(files[0].name), std::string(files[0].text));
  PODSIM_CHECK(table.problems().empty(), "a table of the binary can be read");
  return table;
}

double number_in(CsvTable& table, const CsvRow& row, const char* column) {
  const auto number = table.number(row, column, -1);
  PODSIM_CHECK(number.has_value(), "a table of the binary has numbers");
  return *number;
}

}  // namespace

std::optional<Capital> known_capital(const std::string& chip) {
  CsvTable table = table_of(builtin_capital_files());
  for (const CsvRow& row : table.rows()) {
    if (table.cell(row, "chip").text != chip) continue;
    const auto number = [&](const char* column) { return number_in(table, row, column); };
    return Capital{number("chip_usd"), number("host_usd"),    number("network_usd"),
                   number("hall_usd"), number("embodied_kg"), table.cell(row, "source").text};
  }
  return std::nullopt;
}

std::vector<std::string> grid_names() {
  const CsvTable table = table_of(builtin_grid_files());
  std::vector<std::string> names;
  for (const CsvRow& row : table.rows()) names.push_back(table.cell(row, "region").text);
  return names;
}

std::optional<double> grid_kg_per_kwh(const std::string& region) {
  CsvTable table = table_of(builtin_grid_files());
  for (const CsvRow& row : table.rows())
    if (table.cell(row, "region").text == region) return number_in(table, row, "kg_per_kwh");
  return std::nullopt;
}

Ownership usual_ownership() {
  CsvTable table = table_of(builtin_term_files());
  const auto value_of = [&](const char* term) {
    for (const CsvRow& row : table.rows())
      if (table.cell(row, "term").text == term) return number_in(table, row, "value");
    PODSIM_CHECK(false, "the table of terms has each term");
    return 0.0;
  };
  Ownership own;
  own.years = value_of("years");
  own.interest = value_of("interest");
  own.operation_share_per_year = value_of("operation");
  own.usd_per_kwh = value_of("usd_per_kwh");
  own.utilisation = value_of("utilisation");
  return own;
}

OwningReport owning(const Report& report, const Chip& chip, double pue_of_report,
                    const OwningQuestion& question, const std::vector<PriceRow>& prices) {
  constexpr double kHoursPerYear = 8760;
  OwningReport answer;
  answer.scenario = report.scenario;
  answer.chip = report.chip;
  answer.chips = report.chips;
  answer.own = question.own;
  const Ownership& own = answer.own;
  answer.busy_w = report.power_kw * 1e3 / report.chips / pue_of_report;
  answer.idle_w = chip.power_idle_w + chip.power_overhead_w;
  answer.year = year_of_owning(own, answer.busy_w, answer.idle_w);
  for (const PriceRow& price : prices) {
    if (price.chip != report.chip) continue;
    answer.renting.push_back(
        {price, break_even_utilisation(own, answer.busy_w, answer.idle_w, price.usd_per_chip_hour)});
  }
  answer.power_kw = answer.busy_w * own.busy_pue * report.chips / 1e3;
  answer.tokens_per_j = report.tokens_per_s / (answer.power_kw * 1e3);
  answer.model_gflop_per_j = answer.tokens_per_j * report.model_flops_per_token_full / 1e9;
  answer.carbon_kg_per_kwh = question.carbon_kg_per_kwh;
  answer.embodied_kg = question.embodied_kg;
  answer.operational_kg_per_hour = answer.power_kw * question.carbon_kg_per_kwh;
  answer.embodied_kg_per_hour =
      report.chips * question.embodied_kg / (own.years * kHoursPerYear * own.utilisation);
  answer.kg_per_million_tokens =
      (answer.operational_kg_per_hour + answer.embodied_kg_per_hour) / (report.tokens_per_s * 3600) * 1e6;
  if (question.site_kw) {
    answer.site_kw = question.site_kw;
    answer.site_chips = chips_of_site(own, answer.busy_w, *question.site_kw);
  }
  return answer;
}

}  // namespace podsim
