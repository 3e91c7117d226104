// Makes, checks and fills the tables.
#include "planner/store/schema.h"

#include <array>
#include <memory>

#include "report/text/text.h"

namespace podsim {
namespace {

constexpr int kApplication = 0x706f6473;  // "pods"
constexpr int kForm = 1;                  // of the tables; a later podsim may raise it

constexpr const char* kTables = R"(
CREATE TABLE scenario(key TEXT PRIMARY KEY, text TEXT NOT NULL, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE result(key TEXT NOT NULL, version TEXT NOT NULL, step_ps INTEGER NOT NULL, compute_ps INTEGER NOT NULL,
  exposed_communication_ps INTEGER NOT NULL, pipeline_bubble_ps INTEGER NOT NULL, optimizer_ps INTEGER NOT NULL,
  skew_wait_ps INTEGER NOT NULL, memory_gib REAL NOT NULL, fits INTEGER NOT NULL, tokens_per_s REAL NOT NULL,
  tokens_per_s_per_chip REAL NOT NULL, mfu_causal REAL NOT NULL, cost_usd_per_million_tokens REAL NOT NULL,
  energy_j_per_token REAL NOT NULL, cpu_us INTEGER NOT NULL, PRIMARY KEY(key, version)) WITHOUT ROWID;
CREATE TABLE report(key TEXT NOT NULL, version TEXT NOT NULL, body TEXT NOT NULL, UNIQUE(key, version));
CREATE TABLE study(id INTEGER PRIMARY KEY, command TEXT NOT NULL, question TEXT NOT NULL, version TEXT NOT NULL,
  shard INTEGER NOT NULL, shards INTEGER NOT NULL, state TEXT NOT NULL, gap REAL NOT NULL,
  UNIQUE(question, version, shard, shards));
CREATE TABLE study_result(study INTEGER NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, label TEXT NOT NULL,
  PRIMARY KEY(study, place)) WITHOUT ROWID;
)";

void make_tables(Database& database) {
  database.log_ahead();
  database.execute("BEGIN IMMEDIATE");
  // Somebody else may have made them since.
  if (database.integer("PRAGMA user_version") == 0) {
    database.execute(kTables);
    database.execute("PRAGMA application_id = " + std::to_string(kApplication));
    database.execute("PRAGMA user_version = " + std::to_string(kForm));
  }
  database.execute("COMMIT");
}

}  // namespace

std::unique_ptr<Database> open_store(const std::string& path, Database::Access access) {
  auto database = std::make_unique<Database>(path, access);
  database->execute("BEGIN");  // or somebody else may make the tables between one look and the next
  const std::int64_t application = database->integer("PRAGMA application_id"),
                     form = database->integer("PRAGMA user_version"),
                     tables = database->integer("SELECT COUNT(*) FROM sqlite_master");
  database->execute("COMMIT");
  const bool is_empty = application == 0 && form == 0 && tables == 0;
  if (!is_empty && application != kApplication)
    throw StoreFailure(path + " is a database of another program, and is left as it is");
  if (form > kForm)
    throw StoreFailure(path + " was written by a newer podsim: its form is " + std::to_string(form) +
                       ", and this one knows " + std::to_string(kForm));
  if (is_empty && access == Database::Access::kRead)
    throw StoreFailure(path + " is no store of results: it is empty");
  if (is_empty) make_tables(*database);
  if (access == Database::Access::kWrite) {
    database->log_ahead();
    database->execute("PRAGMA synchronous = NORMAL");
  }
  return database;
}

MainFigures read_figures(const Statement& row, int first) {
  MainFigures figures;
  const auto time = [&](int column) { return Time{row.integer(first + column)}; };
  figures.step_time = time(0);
  figures.compute = time(1);
  figures.exposed_communication = time(2);
  figures.pipeline_bubble = time(3);
  figures.optimizer = time(4);
  figures.skew_wait = time(5);
  figures.memory_gib = row.real(first + 6);
  figures.fits = row.integer(first + 7) != 0;
  figures.tokens_per_s = row.real(first + 8);
  figures.tokens_per_s_per_chip = row.real(first + 9);
  figures.mfu_causal = row.real(first + 10);
  figures.cost_usd_per_million_tokens = row.real(first + 11);
  figures.energy_j_per_token = row.real(first + 12);
  return figures;
}

void check_same(const std::string& path, const std::string& key, const MainFigures& known,
                const MainFigures& other) {
  if (known == other) return;
  const auto words = [](const MainFigures& figures) {
    return "a step of " + exact_seconds(figures.step_time) + " s, " + shortest(figures.memory_gib) +
           " GiB, " + shortest(figures.cost_usd_per_million_tokens) + " USD per million tokens";
  };
  throw StoreFailure(path + " has another result of scenario " + key + " by the same version: " +
                     words(known) + " and not " + words(other) + "; one of them is wrong");
}

ResultWriter::ResultWriter(Database& database)
    : database_(database),
      scenario_(database.prepare("INSERT OR IGNORE INTO scenario VALUES(?, ?, ?)")),
      result_(database.prepare("INSERT OR IGNORE INTO result(key, version, " + std::string(kFigureColumns) +
                               ", cpu_us) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
      report_(database.prepare("INSERT OR IGNORE INTO report VALUES(?, ?, ?)")) {}

void ResultWriter::scenario(const std::string& key, const std::string& text, const std::string& name) {
  scenario_.with(key, text, name).run();
}

void ResultWriter::result(const std::string& key, const std::string& version, const MainFigures& figures,
                          std::int64_t cpu_us) {
  const MainFigures& f = figures;
  result_
      .with(key, version, f.step_time.ps, f.compute.ps, f.exposed_communication.ps, f.pipeline_bubble.ps,
            f.optimizer.ps, f.skew_wait.ps, f.memory_gib, f.fits, f.tokens_per_s, f.tokens_per_s_per_chip,
            f.mfu_causal, f.cost_usd_per_million_tokens, f.energy_j_per_token, cpu_us)
      .run();
  if (database_.changes() > 0) return;
  Statement known = database_.prepare("SELECT " + std::string(kFigureColumns) +
                                      " FROM result WHERE key = ? AND version = ?");
  if (known.with(key, version).step()) check_same(database_.path(), key, read_figures(known, 0), figures);
}

void ResultWriter::report(const std::string& key, const std::string& version, const std::string& body) {
  report_.with(key, version, body).run();
}

}  // namespace podsim
