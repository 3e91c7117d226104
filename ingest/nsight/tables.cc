// Reads only, and trusts nothing that the database says of itself.
#include "ingest/nsight/tables.h"

#include <sqlite3.h>

#include "engine/check.h"
#include "engine/words.h"

namespace podsim::nsight {
namespace {

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

void refuse(const std::string& file, const std::string& why, std::vector<Problem>& problems) {
  problems.push_back({file, 0, 0, "the database cannot be read: " + why, "",
                      "a whole file that nsys export --type sqlite has written"});
}

}  // namespace

std::optional<std::int64_t> Row::integer(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::string> Row::text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) return std::nullopt;
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

void Tables::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

std::optional<Tables> Tables::open(const std::string& file, std::string_view bytes,
                                   std::vector<Problem>& problems) {
  Tables tables;
  tables.file_ = file;
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
  tables.handle_.reset(handle);
  // Read-only: SQLite does not write to the bytes.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (code == SQLITE_OK)
    code = sqlite3_deserialize(handle, "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) {
    refuse(file, sqlite3_errstr(code), problems);
    return std::nullopt;
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  const auto whole = [&](const Row& row) {
    const std::string said = row.text(0).value_or("");
    if (said != "ok") refuse(file, said, problems);
    return said == "ok";
  };
  if (!tables.run("PRAGMA cell_size_check = ON", whole, problems) ||
      !tables.run("PRAGMA quick_check(1)", whole, problems) || !tables.count_rows(problems))
    return std::nullopt;
  return tables;
}

// Tables alone: a view, or a table that a function makes, could be anything.
bool Tables::count_rows(std::vector<Problem>& problems) {
  const auto name = [&](const Row& row) {
    rows_[row.text(0).value_or("")] = 0;
    return true;
  };
  if (!run("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' "
           "AND sql NOT LIKE '%GENERATED%' AND name NOT LIKE 'sqlite_%'",
           name, problems))
    return false;
  for (auto& [table, rows] : rows_) {
    const auto count = [&in_table = rows](const Row& row) {
      in_table = row.integer(0).value_or(0);
      return true;
    };
    if (!run("SELECT count(*) FROM " + quoted(table), count, problems)) return false;
  }
  return true;
}

bool Tables::has(const std::string& table, const std::string& column) const {
  return has(table) &&
         sqlite3_table_column_metadata(handle_.get(), "main", table.c_str(), column.c_str(), nullptr, nullptr,
                                       nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool Tables::each(const std::string& table, const std::vector<std::string>& columns,
                  const std::function<bool(const Row&)>& told, std::vector<Problem>& problems) const {
  PODSIM_CHECK(has(table), "the table is there");
  const std::string list = separated(columns, ", ", [&](const std::string& column) {
    return has(table, column) ? quoted(column) : std::string("NULL");
  });
  return run("SELECT " + list + " FROM " + quoted(table), told, problems);
}

bool Tables::run(const std::string& sql, const std::function<bool(const Row&)>& told,
                 std::vector<Problem>& problems) const {
  const std::size_t had = problems.size();
  sqlite3_stmt* made = nullptr;
  int code = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &made, nullptr);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(made, sqlite3_finalize);
  if (code == SQLITE_OK) {
    std::int64_t number = 0;
    while ((code = sqlite3_step(made)) == SQLITE_ROW)
      if (!told(Row(made, ++number))) return problems.size() == had;
  }
  if (code == SQLITE_OK || code == SQLITE_DONE) return true;
  refuse(file_, sqlite3_errmsg(handle_.get()), problems);
  return false;
}

}  // namespace podsim::nsight
