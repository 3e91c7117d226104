// Tables of comma-separated values whose cells know their place, so that a wrong one can be pointed at.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"

namespace podsim {

constexpr std::size_t kMostProblems = 20;  // of a table; after them the rest is not read

struct CsvCell {
  std::string text;  // without quotes and outer blanks
  int column = 1;    // in the line, from 1
};

struct CsvRow {
  int line = 0;  // in the file, from 1
  std::string source;
  std::vector<CsvCell> cells;
};

// What a cell may have.
enum class CsvNumber { kAny, kNotNegative, kPositive };

// INVARIANT: every row has as many cells as the header.
class CsvTable {
 public:
  // The first line that is neither blank nor a comment (#) is the header. Rows that cannot be read are left
  // out and told in problems(). Quoted cells may hold commas and doubled quotes, not line ends.
  CsvTable(std::string file, const std::string& text);

  bool has(const std::string& column) const { return index_of(column) >= 0; }
  const CsvRow& header() const { return header_; }
  const std::vector<CsvRow>& rows() const { return rows_; }

  // An empty cell where the table has no such column.
  const CsvCell& cell(const CsvRow& row, const std::string& column) const;
  // The cell as a number; nothing, and one more problem, when it is none or not as asked.
  std::optional<double> number(const CsvRow& row, const std::string& column, CsvNumber which);

  // Adds a problem at a cell, or at the row where the table has no such column.
  void report(const CsvRow& row, const std::string& column, const std::string& message,
              const std::string& hint = "");
  // Tells of a column that must be there, with the nearest name that is. Returns whether it is.
  bool require(const std::string& column);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  int index_of(const std::string& column) const;
  void report_repeated_columns();
  std::optional<CsvRow> split(int line, const std::string& text);

  std::string file_;
  CsvRow header_;
  std::vector<CsvRow> rows_;
  std::vector<Problem> problems_;
};

}  // namespace podsim
