// Numbers as text, the same on every machine, and cells of spreadsheets.
#pragma once

#include <string>
#include <vector>

#include "engine/units.h"

namespace podsim {

// "12.35"; with an exponent from 1e21 on, so that no number breaks a table.
std::string fixed(double value, int decimals);
// "1,234" or "0.01235"; with an exponent below 1e-12, and from 1e21 on.
std::string significant(double value, int digits);
std::string percent(double share);         // 0.4123 -> "41.2%"; never "-0.0%"
std::string hundredths(double share);      // 0.98765 -> "98.77%", of shares near one
std::string signed_percent(double share);  // 0.0123 -> "+1.2", in columns of percentages
std::string shortest(double value);        // the shortest text that reads back as the same number
std::string exact_seconds(Time time);      // twelve decimals: every picosecond
std::string binary_bytes(Bytes bytes);     // "64.0 MiB"
std::string gib(Bytes bytes);              // "71.25 GiB"

// A text, never a number, for a cell: with an apostrophe before =, +, -, @, tab and return, which would make
// a spreadsheet run what somebody else wrote as a formula.
std::string cell_text(const std::string& text);

// In quotes where a comma, a quote or a line break would end the cell (RFC 4180). Of names, paths and
// whatever else somebody wrote `csv_text_cell`: the cell of its cell_text.
std::string csv_cell(const std::string& value);
std::string csv_text_cell(const std::string& text);
// The same in quotes whether or not it needs them.
std::string quoted_csv_text(const std::string& text);

// A row of csv_cells, with its line break. Texts are cell_texts already.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace podsim
