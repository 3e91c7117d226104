// Reads the tables of capital, terms and grids that are part of the binary.
#include "proto/catalog/owning_tables.h"

#include "engine/spelling.h"
#include "engine/words.h"
#include "proto/catalog/builtin_capital.h"
#include "proto/catalog/builtin_grids.h"
#include "proto/catalog/builtin_table.h"
#include "proto/catalog/builtin_terms.h"

namespace podsim {

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

std::string unknown_grid_hint(const std::string& name) {
  const std::vector<std::string> names = grid_names();
  if (const std::string near = closest_name(name, names); !near.empty())
    return "did you mean \"" + near + "\"?";
  return "known are " + separated(names, ", ");
}

Ownership usual_ownership() {
  CsvTable table = table_of(builtin_term_files());
  Ownership own;
  own.years = value_of_term(table, "years");
  own.interest = value_of_term(table, "interest");
  own.operation_share_per_year = value_of_term(table, "operation");
  own.usd_per_kwh = value_of_term(table, "usd_per_kwh");
  own.utilisation = value_of_term(table, "utilisation");
  return own;
}

PowerTerms usual_power() {
  static const PowerTerms terms = [] {
    CsvTable table = table_of(builtin_term_files());
    return PowerTerms{value_of_term(table, "waiting_share"), value_of_term(table, "host_w"),
                      value_of_term(table, "host_share"), value_of_term(table, "power_range")};
  }();
  return terms;
}

BatchLaws usual_batch_laws() {
  CsvTable table = table_of(builtin_term_files());
  const auto term = [&](const char* name) { return value_of_term(table, name); };
  return {.kaplan_batch = term("kaplan_batch"),
          .kaplan_batch_exponent = term("kaplan_batch_exponent"),
          .kaplan_parameters = term("kaplan_parameters"),
          .kaplan_parameters_exponent = term("kaplan_parameters_exponent"),
          .kaplan_tokens = term("kaplan_tokens"),
          .kaplan_tokens_exponent = term("kaplan_tokens_exponent"),
          .deepseek_batch = term("deepseek_batch"),
          .deepseek_batch_exponent = term("deepseek_batch_exponent")};
}

ServingTerms usual_serving() {
  CsvTable table = table_of(builtin_term_files());
  return {value_of_term(table, "serving_share"), value_of_term(table, "serving_memory_share"),
          value_of_term(table, "serving_activation_bytes")};
}

}  // namespace podsim
