// A SQLite file and statements on it; what goes wrong is thrown as one sentence.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace podsim {

// The message names the file.
struct StoreFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Statement;

class Database {
 public:
  enum class Access { kRead, kWrite };
  // Write makes a file that is missing. Waits for other processes up to half a minute.
  Database(std::string path, Access access);

  void execute(const std::string& sql);
  // So that readers and a writer do not wait for each other. Of two that ask for it at once SQLite refuses
  // one without waiting: it asks again, for three seconds.
  void log_ahead();
  // May be kept and used again. REQUIRES: the database outlives it.
  Statement prepare(const std::string& sql);
  std::int64_t integer(const std::string& sql);  // first column of the first row
  int changes() const;                           // rows that the last statement wrote
  std::int64_t last_row() const;
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  void check(int code) const;
  [[noreturn]] void fail(int code) const;

  struct Close {
    void operator()(sqlite3* handle) const;
  };
  const std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement {
 public:
  // From the first parameter on, each at its place; what was bound before is forgotten.
  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  bool step();  // false after the last row
  void run() {
    while (step()) {
    }
    reset();
  }
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;

 private:
  friend class Database;
  Statement(Database& database, const std::string& sql);
  void reset();
  void bind(int place, const std::string& value);
  void bind(int place, std::int64_t value);
  void bind(int place, int value) { bind(place, static_cast<std::int64_t>(value)); }
  void bind(int place, bool value) { bind(place, static_cast<std::int64_t>(value)); }
  void bind(int place, double value);

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace podsim
