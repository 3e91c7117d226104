// Tables of the binary have been tested: what is wrong with one is a defect.
#include "proto/catalog/builtin_table.h"

#include <string>

#include "engine/check.h"

namespace podsim {

CsvTable table_of(std::span<const CatalogFile> files) {
  PODSIM_CHECK(files.size() == 1, "a table of the binary is one file");
  CsvTable table(std::string(files[0].name), std::string(files[0].text));
  PODSIM_CHECK(table.problems().empty(), "a table of the binary can be read");
  return table;
}

double number_in(CsvTable& table, const CsvRow& row, const char* column) {
  const auto number = table.number(row, column, CsvNumber::kNotNegative);
  PODSIM_CHECK(number.has_value(), "a table of the binary has numbers");
  return *number;
}

double value_of_term(CsvTable& table, std::string_view term) {
  for (const CsvRow& row : table.rows())
    if (table.cell(row, "term").text == term) return number_in(table, row, "value");
  PODSIM_CHECK(false, "a table of terms has each term");
  return 0;
}

}  // namespace podsim
