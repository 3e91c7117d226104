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

  // Where the row stands in its table, and in which column of the line a cell begins; nowhere for rows that
  // are made otherwise.
  void stands_at(const std::string& file, int line, const std::string& source) {
    file_ = file, line_ = line, source_ = source;
  }
  void begins_at(const std::string& column, int place) { places_[column] = place; }
  // What is wrong with a cell, at its place.
  Problem problem_at(const std::string& column, const std::string& message, const std::string& hint) const;

 private:
  std::map<std::string, std::string> cells_;
  std::string file_, source_;
  int line_ = 0;
  std::map<std::string, int> places_;
};

struct RunTable {
  std::vector<RunRow> rows;  // each has "id" and "family"
  std::vector<Problem> problems;
};

// The text as CsvTable takes it: the header of one published table begins with "# GPUs", which is no comment.
std::string with_header(const std::string& text);

// By which reports and calibration know a table: of "tables/gpu_runs.csv" this is "gpu_runs".
std::string table_name(const std::string& file);

// Whether the header has the columns of runs.
bool is_run_table(const std::string& text);

// Any of the names that a column goes by is read; an empty cell is no cell. Rows without an id are numbered,
// and a table without families is one family, named after the file.
RunTable read_run_table(const std::string& file, const std::string& text);

}  // namespace podsim
