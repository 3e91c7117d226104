// Tables of an SQLite database whose bytes lie in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/problem.h"

struct sqlite3;
struct sqlite3_stmt;

namespace podsim::nsight {

// One row, its columns in the order in which they were asked for.
class Row {
 public:
  Row(sqlite3_stmt* statement, std::int64_t number) : statement_(statement), number_(number) {}

  std::int64_t number() const { return number_; }  // from 1, in the order of the table
  // Nothing where there is no whole number, or no text.
  std::optional<std::int64_t> integer(int column) const;
  std::optional<std::string> text(int column) const;

 private:
  sqlite3_stmt* statement_;
  std::int64_t number_;
};

class Tables {
 public:
  // Nothing, and a problem, where the bytes are no database or one that is damaged. REQUIRES: they outlive
  // it.
  static std::optional<Tables> open(const std::string& file, std::string_view bytes,
                                    std::vector<Problem>& problems);

  // [table] rows.
  const std::map<std::string, std::int64_t>& rows() const { return rows_; }
  bool has(const std::string& table) const { return rows_.count(table) != 0; }
  bool has(const std::string& table, const std::string& column) const;

  // Row by row, until `told` returns false; a column that the table lacks has nothing in any row. False
  // where the database turns out to be damaged, which is a problem. REQUIRES: the table is there.
  bool each(const std::string& table, const std::vector<std::string>& columns,
            const std::function<bool(const Row&)>& told, std::vector<Problem>& problems) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };

  bool count_rows(std::vector<Problem>& problems);
  bool run(const std::string& sql, const std::function<bool(const Row&)>& told,
           std::vector<Problem>& problems) const;

  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, std::int64_t> rows_;
};

}  // namespace podsim::nsight
