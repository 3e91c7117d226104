// Wraps the C interface of SQLite.
#include "planner/store/database.h"

#include <sqlite3.h>

#include <utility>

namespace podsim {

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(std::string path, Access access) : path_(std::move(path)) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE |
                    (access == Access::kWrite ? SQLITE_OPEN_CREATE : 0);  // or read-only, if need be
  const int code = sqlite3_open_v2(path_.c_str(), &handle, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  handle_.reset(handle);
  check(code);
  constexpr int kWaitMs = 30'000;
  sqlite3_busy_timeout(handle, kWaitMs);
}

void Database::check(int code) const {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
}

void Database::fail(int code) const {
  const std::string why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw StoreFailure(path_ + " is no store of results: " + why);
    case SQLITE_CORRUPT:
      throw StoreFailure(path_ + " is damaged, and nothing more is written to it: " + why);
    case SQLITE_READONLY:
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw StoreFailure(path_ + " cannot be written to: " + why);
    default:
      throw StoreFailure(path_ + " cannot be used as a store: " + why);
  }
}

void Database::execute(const std::string& sql) {
  check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

void Database::log_ahead() {
  constexpr int kTries = 300, kPauseMs = 10;
  for (int tries = 1;; ++tries) {
    const int code = sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if ((code & 0xff) != SQLITE_BUSY || tries == kTries) return check(code);
    sqlite3_sleep(kPauseMs);
  }
}

Statement Database::prepare(const std::string& sql) { return {*this, sql}; }

std::int64_t Database::integer(const std::string& sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

int Database::changes() const { return sqlite3_changes(handle_.get()); }
std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }

Statement::Statement(Database& database, const std::string& sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  database.check(sqlite3_prepare_v2(database.handle_.get(), sql.c_str(), -1, &statement, nullptr));
  statement_.reset(statement);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  database_->check(code);
  return code == SQLITE_ROW;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind(int place, const std::string& value) {
  database_->check(sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8));
}
void Statement::bind(int place, std::int64_t value) {
  database_->check(sqlite3_bind_int64(statement_.get(), place, value));
}
void Statement::bind(int place, double value) {
  database_->check(sqlite3_bind_double(statement_.get(), place, value));
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return "";
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

}  // namespace podsim
