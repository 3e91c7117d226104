// Small tables that are part of the binary, read as CSV.
#pragma once

#include <span>
#include <string_view>

#include "proto/catalog/builtin_catalog.h"
#include "proto/text/csv_table.h"

namespace podsim {

// REQUIRES: one file, which can be read.
CsvTable table_of(std::span<const CatalogFile> files);

// REQUIRES: the cell is a number.
double number_in(CsvTable& table, const CsvRow& row, const char* column);

// The `value` of the row whose `term` is this. REQUIRES: there is one.
double value_of_term(CsvTable& table, std::string_view term);

}  // namespace podsim
