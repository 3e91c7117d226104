// Reads comma-separated values and tells where they are wrong.
#include "proto/text/csv_table.h"

#include <algorithm>
#include <sstream>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "engine/words.h"

namespace podsim {
namespace {

constexpr std::string_view kAroundCells = " \t\r";

bool is(CsvNumber which, double value) {
  return which == CsvNumber::kAny || value > 0 || (which == CsvNumber::kNotNegative && value == 0);
}

}  // namespace

CsvTable::CsvTable(std::string file, const std::string& text) : file_(std::move(file)) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string content = trim(line, kAroundCells);
    if (content.empty() || content.front() == '#') continue;
    auto row = split(number, line);
    if (!row) continue;
    if (header_.line == 0) {
      header_ = *std::move(row);
      report_repeated_columns();
    } else if (row->cells.size() != header_.cells.size()) {
      report(*row, "",
             "the line has " + std::to_string(row->cells.size()) + " cells, the header " +
                 std::to_string(header_.cells.size()));
    } else {
      rows_.push_back(*std::move(row));
    }
  }
}

std::optional<CsvRow> CsvTable::split(int line, const std::string& text) {
  CsvRow row{line, trim(text, kAroundCells), {}};
  std::size_t at = 0;
  while (true) {
    CsvCell cell{"", static_cast<int>(at) + 1};
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin != std::string::npos && text[begin] == '"') {
      for (at = begin + 1; at < text.size(); ++at) {
        if (text[at] != '"') {
          cell.text += text[at];
        } else if (at + 1 < text.size() && text[at + 1] == '"') {
          cell.text += text[at++];
        } else {
          break;
        }
      }
      if (at >= text.size()) {
        row.cells.push_back(cell);
        report(row, "", "a quote is opened at column " + std::to_string(begin + 1) + " and not closed");
        return std::nullopt;
      }
      at = std::min(text.find(',', at), text.size());
    } else {
      const std::size_t end = std::min(text.find(',', at), text.size());
      cell.text = trim(text.substr(at, end - at), kAroundCells);
      at = end;
    }
    row.cells.push_back(std::move(cell));
    if (at >= text.size()) return row;
    ++at;
  }
}

void CsvTable::report_repeated_columns() {
  for (std::size_t i = 0; i < header_.cells.size(); ++i) {
    const CsvCell& cell = header_.cells[i];
    if (!cell.text.empty() && index_of(cell.text) != static_cast<int>(i))
      problems_.push_back({file_, header_.line, cell.column,
                           "column \"" + cell.text + "\" stands there twice", header_.source,
                           "which of the two counts?", cell.column});
  }
}

int CsvTable::index_of(const std::string& column) const {
  const auto found = std::ranges::find(header_.cells, column, &CsvCell::text);
  return found == header_.cells.end() ? -1 : static_cast<int>(found - header_.cells.begin());
}

const CsvCell& CsvTable::cell(const CsvRow& row, const std::string& column) const {
  static const CsvCell kNone;
  const int index = index_of(column);
  return index < 0 ? kNone : row.cells[static_cast<std::size_t>(index)];
}

std::optional<double> CsvTable::number(const CsvRow& row, const std::string& column, CsvNumber which) {
  const std::string& text = cell(row, column).text;
  const auto value = whole_text_as<double>(text);
  if (value && is(which, *value)) return value;
  report(row, column, column + " is \"" + text + "\"",
         which == CsvNumber::kPositive      ? "expected a number above 0"
         : which == CsvNumber::kNotNegative ? "expected a number, 0 or more"
                                            : "expected a number");
  return std::nullopt;
}

void CsvTable::report(const CsvRow& row, const std::string& column, const std::string& message,
                      const std::string& hint) {
  if (problems_.size() >= kMostProblems) return;
  // A line may have fewer cells than the header, and a header may have a cell without a name.
  const int index = column.empty() ? -1 : index_of(column);
  const bool there = index >= 0 && static_cast<std::size_t>(index) < row.cells.size();
  const int place = there ? row.cells[static_cast<std::size_t>(index)].column : 1;
  problems_.push_back({file_, row.line, place, message, row.source, hint, place});
}

bool CsvTable::require(const std::string& column) {
  if (has(column)) return true;
  std::vector<std::string> names;
  for (const CsvCell& cell : header_.cells) names.push_back(cell.text);
  const std::string close = closest_name(column, names);
  report(header_, "", "the table has no column \"" + column + "\"",
         close.empty() ? "" : "is it \"" + close + "\"?");
  return false;
}

}  // namespace podsim
