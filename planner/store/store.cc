// A queue of rows, and the thread that writes it.
#include "planner/store/store.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "planner/store/schema.h"

namespace podsim {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kRowsTogether = 100;
constexpr auto kLongestWait = 500ms;

struct Row {
  StoredScenario scenario;
  MainFigures figures;
  std::string report;
  std::int64_t cpu_us = 0;
};

}  // namespace

const char* to_string(StudyState state) {
  static constexpr const char* kNames[] = {"running", "stopped", "done"};
  return kNames[static_cast<int>(state)];
}

class Store::Writer {
 public:
  Writer(const std::string& path, const std::string& version)
      : version_(version),
        database_(open_store(path, Database::Access::kWrite)),
        rows_(*database_),
        thread_([this] { write_groups(); }) {}

  ~Writer() {
    try {
      close();
    } catch (const std::exception&) {  // who wants to know has closed it before
    }
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    rethrow();
  }

  void add(Row row) {
    const std::lock_guard lock(mutex_);
    rethrow();
    const auto known = waiting_.find(row.scenario.key);
    if (known != waiting_.end())
      return check_same(database_->path(), row.scenario.key, known->second.figures, row.figures);
    waiting_.emplace(row.scenario.key, std::move(row));
    changed_.notify_all();
  }

  // What waits is as good as written.
  template <class OfRow, class OfStatement>
  auto find(const std::string& key, const std::string& sql, OfRow&& of_row, OfStatement&& of_statement)
      -> std::optional<decltype(of_row(std::declval<const Row&>()))> {
    const std::lock_guard lock(mutex_);
    const auto waiting = waiting_.find(key);
    if (waiting != waiting_.end()) return of_row(waiting->second);
    Statement statement = database_->prepare(sql);
    if (!statement.with(key, version_).step()) return std::nullopt;
    return of_statement(statement);
  }

  // At once, with all rows that wait.
  template <class Write>
  void together(Write&& write) {
    const std::lock_guard lock(mutex_);
    rethrow();
    write_waiting([&] { write(*database_); });
  }

 private:
  void write_groups() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
      changed_.wait_for(lock, kLongestWait, [&] { return closing_ || waiting_.size() >= kRowsTogether; });
      try {
        write_waiting([] {});
      } catch (...) {
        failure_ = std::current_exception();
        return;
      }
      if (closing_) return;
    }
  }

  // REQUIRES: mutex_ is held.
  template <class More>
  void write_waiting(More&& more) {
    database_->execute("BEGIN IMMEDIATE");
    try {
      for (const auto& [key, row] : waiting_) {
        rows_.scenario(key, row.scenario.text, row.scenario.name);
        rows_.result(key, version_, row.figures, row.cpu_us);
        rows_.report(key, version_, row.report);
      }
      more();
      database_->execute("COMMIT");
    } catch (...) {
      try {
        database_->execute("ROLLBACK");
      } catch (const StoreFailure&) {  // the first failure is the one to tell
      }
      throw;
    }
    waiting_.clear();
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  const std::string version_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::unique_ptr<Database> database_;
  ResultWriter rows_;
  std::map<std::string, Row> waiting_;  // [key]
  std::exception_ptr failure_;
  bool closing_ = false;
  std::thread thread_;
};

Store::Store(const std::string& path, std::string version)
    : version_(std::move(version)), writer_(std::make_unique<Writer>(path, version_)) {}
Store::~Store() = default;

std::optional<MainFigures> Store::figures(const std::string& key) const {
  return writer_->find(
      key, "SELECT " + std::string(kFigureColumns) + " FROM result WHERE key = ? AND version = ?",
      [](const Row& row) { return row.figures; },
      [](const Statement& statement) { return read_figures(statement, 0); });
}

std::optional<std::string> Store::report(const std::string& key) const {
  return writer_->find(
      key, "SELECT body FROM report WHERE key = ? AND version = ?", [](const Row& row) { return row.report; },
      [](const Statement& statement) { return statement.text(0); });
}

void Store::keep(const StoredScenario& scenario, const MainFigures& figures, const std::string& report,
                 std::int64_t cpu_us) {
  writer_->add({scenario, figures, report, cpu_us});
}

void Store::write_now() {
  writer_->together([](Database&) {});
}

std::int64_t Store::begin_study(const StudyName& name) {
  std::int64_t id = 0;
  writer_->together([&](Database& database) {
    Statement known = database.prepare(
        "SELECT id FROM study WHERE question = ? AND version = ? AND shard = ? AND shards = ?");
    if (known.with(name.question, version_, name.shard, name.shards).step()) {
      id = known.integer(0);
      return;
    }
    database
        .prepare(
            "INSERT INTO study(command, question, version, shard, shards, state, gap) "
            "VALUES(?, ?, ?, ?, ?, ?, 1.0)")
        .with(name.command, name.question, version_, name.shard, name.shards,
              std::string(to_string(StudyState::kRunning)))
        .run();
    id = database.last_row();
  });
  return id;
}

void Store::end_study(std::int64_t study, StudyState state, double gap, const std::vector<StudyRow>& rows) {
  writer_->together([&](Database& database) {
    database.prepare("UPDATE study SET state = ?, gap = ? WHERE id = ?")
        .with(std::string(to_string(state)), gap, study)
        .run();
    database.prepare("DELETE FROM study_result WHERE study = ?").with(study).run();
    Statement insert = database.prepare("INSERT INTO study_result VALUES(?, ?, ?, ?)");
    for (std::size_t i = 0; i < rows.size(); ++i)
      insert.with(study, static_cast<std::int64_t>(i + 1), rows[i].key, rows[i].label).run();
  });
}

void Store::close() { writer_->close(); }

}  // namespace podsim
