// Tables of measured training runs, a row per run; columns are those of docs/reference/validation-format.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"

namespace podsim {

// What a table says of one run. A column that the table lacks or leaves empty is not there.
class RunRow {
 public:
  bool has(const std::string& column) const { return cells_.count(column) > 0; }
  std::string text(const std::string& column) const;  // empty where the table is silent
  // REQUIRES: where the column is there it holds a number (read_run_table sees to that).
  std::optional<double> number(const std::string& column) const;
  int whole(const std::string& column, int missing) const;

  void set(const std::string& column, const std::string& text) { cells_[column] = text; }

 private:
  std::map<std::string, std::string> cells_;
};

struct RunTable {
  std::vector<RunRow> rows;  // each has "id" and "family"
  std::vector<Problem> problems;
};

// The text as CsvTable takes it: the header of one published table begins with "# GPUs", which is no comment.
std::string with_header(const std::string& text);

// Whether the header has the columns of runs.
bool is_run_table(const std::string& text);

// Any of the names that a column goes by is read; an empty cell is no cell. Rows without an id are numbered,
// and a table without families is one family, named after the file.
RunTable read_run_table(const std::string& file, const std::string& text);

}  // namespace podsim
