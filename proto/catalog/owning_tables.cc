// Reads the tables of capital, terms and grids that are part of the binary.
#include "proto/catalog/owning_tables.h"

#include "engine/check.h"
#include "engine/spelling.h"
#include "proto/catalog/builtin_capital.h"
#include "proto/catalog/builtin_grids.h"
#include "proto/catalog/builtin_terms.h"
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

std::string unknown_grid_hint(const std::string& name) {
  const std::vector<std::string> names = grid_names();
  if (const std::string near = closest_name(name, names); !near.empty())
    return "did you mean \"" + near + "\"?";
  std::string all;
  for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
  return "known are " + all;
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

}  // namespace podsim
