// Rows are written when they come; those of several threads together.
#include "planner/store/store.h"

#include <map>
#include <mutex>
#include <utility>

#include "planner/store/schema.h"

namespace podsim {
namespace {

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
      : version_(version), database_(open_store(path, Database::Access::kWrite)), rows_(*database_) {}

  // Whoever comes first writes what has come meanwhile, too, so that many threads share a transaction.
  void add(Row row) {
    const std::string key = row.scenario.key;
    {
      const std::lock_guard lock(coming_);
      const auto [known, is_new] = waiting_.try_emplace(key, std::move(row));
      if (!is_new) check_same(database_->path(), key, known->second.figures, row.figures);
    }
    together([](Database&) {});
  }

  template <class OfStatement>
  auto find(const std::string& key, const std::string& sql, OfStatement&& of_statement)
      -> std::optional<decltype(of_statement(std::declval<const Statement&>()))> {
    const std::lock_guard lock(writing_);
    Statement statement = database_->prepare(sql);
    if (!statement.with(key, version_).step()) return std::nullopt;
    return of_statement(statement);
  }

  // With all rows that wait.
  template <class Write>
  void together(Write&& write) {
    const std::lock_guard lock(writing_);
    std::map<std::string, Row> rows;
    {
      const std::lock_guard come(coming_);
      rows.swap(waiting_);
    }
    database_->execute("BEGIN IMMEDIATE");
    try {
      for (const auto& [key, row] : rows) {
        rows_.scenario(key, row.scenario.text, row.scenario.name);
        rows_.result(key, version_, row.figures, row.cpu_us);
        rows_.report(key, version_, row.report);
      }
      write(*database_);
      database_->execute("COMMIT");
    } catch (...) {
      try {
        database_->execute("ROLLBACK");
      } catch (const StoreFailure&) {  // the first failure is the one to tell
      }
      const std::lock_guard come(coming_);
      waiting_.merge(rows);  // so that those who wait with them learn of it
      throw;
    }
  }

 private:
  const std::string version_;
  std::mutex writing_;  // of the database
  std::unique_ptr<Database> database_;
  ResultWriter rows_;
  std::mutex coming_;
  std::map<std::string, Row> waiting_;  // [key]
};

Store::Store(const std::string& path, std::string version)
    : version_(std::move(version)), writer_(std::make_unique<Writer>(path, version_)) {}
Store::~Store() = default;

std::optional<MainFigures> Store::figures(const std::string& key) const {
  return writer_->find(key,
                       "SELECT " + std::string(kFigureColumns) + " FROM result WHERE key = ? AND version = ?",
                       [](const Statement& statement) { return read_figures(statement, 0); });
}

std::optional<std::string> Store::report(const std::string& key) const {
  return writer_->find(key, "SELECT body FROM report WHERE key = ? AND version = ?",
                       [](const Statement& statement) { return statement.text(0); });
}

void Store::keep(const StoredScenario& scenario, const MainFigures& figures, const std::string& report,
                 std::int64_t cpu_us) {
  writer_->add({scenario, figures, report, cpu_us});
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

std::optional<Store::Answer> Store::answer(const StudyName& name) const {
  std::optional<Answer> found;
  writer_->together([&](Database& database) {
    Statement study = database.prepare(
        "SELECT id, gap FROM study WHERE question = ? AND version = ? AND shard = ? AND shards = ? AND state "
        "= ?");
    const std::string done = to_string(StudyState::kComplete);
    if (!study.with(name.question, version_, name.shard, name.shards, done).step()) return;
    found.emplace().gap = study.real(1);
    Statement rows = database.prepare("SELECT key, label FROM study_result WHERE study = ? ORDER BY place");
    rows.with(study.integer(0));
    while (rows.step()) found->rows.push_back({rows.text(0), rows.text(1)});
  });
  return found;
}

void Store::end_study(std::int64_t study, StudyState state, double gap, const std::vector<StudyRow>& rows) {
  writer_->together([&](Database& database) {
    database.prepare("UPDATE study SET state = ?, gap = ? WHERE id = ?")
        .with(std::string(to_string(state)), gap, study)
        .run();
    database.prepare("DELETE FROM study_result WHERE study = ?").with(study).run();
    Statement insert = database.prepare("INSERT INTO study_result VALUES(?, ?, ?, ?)");
    for (std::size_t i = 0; i < rows.size(); ++i)
      insert
          .with(study, rows[i].place > 0 ? rows[i].place : static_cast<std::int64_t>(i + 1), rows[i].key,
                rows[i].label)
          .run();
  });
}

}  // namespace podsim
