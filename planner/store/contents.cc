// Reads, joins and checks whole stores.
#include "planner/store/contents.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "planner/store/schema.h"

namespace podsim {
namespace {

constexpr auto kRead = Database::Access::kRead;

StoredStudy read_study(const Statement& row) {
  return {row.integer(0),
          row.text(1),
          row.text(2),
          row.text(3),
          row.text(4),
          static_cast<int>(row.integer(5)),
          static_cast<int>(row.integer(6)),
          row.real(7),
          row.integer(8)};
}

std::vector<StoredStudy> studies_of(Database& database) {
  Statement each = database.prepare(
      "SELECT id, command, question, version, state, shard, shards, gap, "
      "(SELECT COUNT(*) FROM study_result WHERE study = id) FROM study ORDER BY id");
  std::vector<StoredStudy> studies;
  while (each.step()) studies.push_back(read_study(each));
  return studies;
}

StoredResult read_result(const Statement& row) {
  constexpr int kFigures = 3, kCpu = 16;
  return {row.text(0), row.text(1), row.text(2), read_figures(row, kFigures), row.integer(kCpu)};
}

const std::string kResults = "SELECT result.key, result.version, name, " + std::string(kFigureColumns) +
                             ", cpu_us FROM result JOIN scenario ON scenario.key = result.key";

constexpr int kPlaceColumn = 17;  // behind those of read_result

struct PlacedRow {
  std::int64_t place = 0;
  StoredResult row;
};

std::vector<PlacedRow> rows_of_study(Database& database, const StoredStudy& study) {
  Statement each = database.prepare(
      "SELECT result.key, version, label, " + std::string(kFigureColumns) +
      ", cpu_us, place FROM study_result JOIN result ON result.key = study_result.key AND version = ? "
      "WHERE study = ? ORDER BY place");
  each.with(study.version, study.id);
  std::vector<PlacedRow> rows;
  while (each.step()) rows.push_back({each.integer(kPlaceColumn), read_result(each)});
  return rows;
}

// Those of several shards as one answer, of which the longest shard has so many.
std::vector<StoredResult> joined(std::vector<PlacedRow> rows, std::size_t longest) {
  std::ranges::stable_sort(rows, {}, &PlacedRow::place);
  if (std::ranges::adjacent_find(rows, {}, &PlacedRow::place) != rows.end()) {
    std::ranges::stable_sort(rows, {}, [](const PlacedRow& each) { return each.row.figures.step_time; });
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(longest), rows.end());
  }
  std::vector<StoredResult> answer;
  for (PlacedRow& each : rows) answer.push_back(std::move(each.row));
  return answer;
}

bool same_question(const StoredStudy& a, const StoredStudy& b) {
  return a.question == b.question && a.version == b.version && a.shards == b.shards;
}

int progress_of(const std::string& state) {
  return state == to_string(StudyState::kComplete) ? 2 : state == to_string(StudyState::kStopped) ? 1 : 0;
}

// What is further on stays.
void merge_study(Database& into, const StoredStudy& study, Database& from) {
  Statement known = into.prepare(
      "SELECT id, state FROM study WHERE question = ? AND version = ? AND shard = ? AND shards = ?");
  std::int64_t id = 0;
  if (known.with(study.question, study.version, study.shard, study.shards).step()) {
    id = known.integer(0);
    if (progress_of(known.text(1)) >= progress_of(study.state)) return;
    into.prepare("DELETE FROM study WHERE id = ?").with(id).run();
    into.prepare("DELETE FROM study_result WHERE study = ?").with(id).run();
  }
  into.prepare(
          "INSERT INTO study(command, question, version, shard, shards, state, gap) VALUES(?, ?, ?, ?, ?, ?, "
          "?)")
      .with(study.command, study.question, study.version, study.shard, study.shards, study.state, study.gap)
      .run();
  id = into.last_row();
  Statement insert = into.prepare("INSERT INTO study_result VALUES(?, ?, ?, ?)");
  Statement rows = from.prepare("SELECT place, key, label FROM study_result WHERE study = ?");
  rows.with(study.id);
  while (rows.step()) insert.with(id, rows.integer(0), rows.text(1), rows.text(2)).run();
}

void merge_store(Database& into, Database& from, MergeCounts& counts) {
  ResultWriter writer(into);
  Statement scenario = from.prepare("SELECT key, text, name FROM scenario");
  while (scenario.step()) writer.scenario(scenario.text(0), scenario.text(1), scenario.text(2));
  const std::int64_t before = into.integer("SELECT COUNT(*) FROM result");
  std::int64_t read = 0;
  Statement result = from.prepare(kResults);
  for (; result.step(); ++read) {
    const StoredResult row = read_result(result);
    writer.result(row.key, row.version, row.figures, row.cpu_us);
  }
  Statement report = from.prepare("SELECT key, version, body FROM report");
  while (report.step()) writer.report(report.text(0), report.text(1), report.text(2));
  for (const StoredStudy& study : studies_of(from)) merge_study(into, study, from);
  counts.results += read;
  counts.known += read - (into.integer("SELECT COUNT(*) FROM result") - before);
}

}  // namespace

StoreContents contents_of(const std::string& path) {
  const auto database = open_store(path, kRead);
  StoreContents contents;
  contents.scenarios = database->integer("SELECT COUNT(*) FROM scenario");
  Statement versions = database->prepare(
      "SELECT version, COUNT(*), SUM(cpu_us) FROM result GROUP BY version ORDER BY version");
  while (versions.step())
    contents.versions.push_back({versions.text(0), versions.integer(1), 1e-6 * versions.real(2)});
  contents.studies = studies_of(*database);
  return contents;
}

void each_result(const std::string& path, const std::function<void(const StoredResult&)>& told) {
  const auto database = open_store(path, kRead);
  Statement each = database->prepare(kResults + " ORDER BY result.key, version");
  while (each.step()) told(read_result(each));
}

std::vector<StoredResult> newest_results(const std::string& path, std::size_t most) {
  const auto database = open_store(path, kRead);
  Statement each =
      database->prepare(kResults +
                        " JOIN report ON report.key = result.key AND report.version = result.version "
                        "ORDER BY report.rowid DESC LIMIT ?");
  each.with(static_cast<std::int64_t>(most));
  std::vector<StoredResult> newest;
  while (each.step()) newest.push_back(read_result(each));
  return newest;
}

std::vector<StoredReports> stored_reports(const std::string& path, const std::string& key_prefix) {
  const auto database = open_store(path, kRead);
  Statement each = database->prepare(
      "SELECT key, text, name FROM scenario WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key");
  each.with(key_prefix);
  std::vector<StoredReports> found;
  while (each.step()) {
    StoredReports& one = found.emplace_back();
    one.scenario = {each.text(0), each.text(1), each.text(2)};
    Statement report = database->prepare("SELECT version, body FROM report WHERE key = ? ORDER BY version");
    report.with(one.scenario.key);
    while (report.step()) one.reports.push_back({report.text(0), report.text(1)});
  }
  return found;
}

std::optional<NewestReport> newest_report(const std::string& path, const std::string& key) {
  const auto database = open_store(path, kRead);
  Statement row = database->prepare(
      "SELECT scenario.key, text, name, version, body FROM scenario LEFT JOIN report ON report.key = "
      "scenario.key WHERE scenario.key = ? ORDER BY report.rowid DESC LIMIT 1");
  row.with(key);
  if (!row.step()) return std::nullopt;
  return NewestReport{{row.text(0), row.text(1), row.text(2)}, row.text(3), row.text(4)};
}

StudyAnswer answer_of(const std::string& path, std::int64_t study) {
  const auto database = open_store(path, kRead);
  const std::vector<StoredStudy> all = studies_of(*database);
  const auto asked = std::ranges::find(all, study, &StoredStudy::id);
  if (asked == all.end()) throw StoreFailure(path + " has no study " + std::to_string(study));
  StudyAnswer answer{*asked, {}, {}};
  std::set<int> done;
  std::vector<PlacedRow> all_rows;
  std::size_t longest = 0;
  answer.study.gap = 0;
  for (const StoredStudy& each : all) {
    if (!same_question(each, *asked)) continue;
    std::vector<PlacedRow> rows = rows_of_study(*database, each);
    longest = std::max(longest, rows.size());
    std::ranges::move(rows, std::back_inserter(all_rows));
    answer.study.gap = std::max(answer.study.gap, each.gap);
    if (each.state == to_string(StudyState::kComplete)) done.insert(each.shard);
  }
  for (int shard = 1; shard <= asked->shards; ++shard)
    if (done.count(shard) == 0) answer.missing.push_back(shard);
  answer.rows = joined(std::move(all_rows), longest);
  return answer;
}

MergeCounts merge_stores(const std::string& into, const std::vector<std::string>& from) {
  MergeCounts counts;
  const auto target = open_store(into, Database::Access::kWrite);
  for (const std::string& path : from) {
    const auto source = open_store(path, kRead);
    target->execute("BEGIN IMMEDIATE");
    try {
      merge_store(*target, *source, counts);
      target->execute("COMMIT");
    } catch (const StoreFailure&) {
      target->execute("ROLLBACK");
      throw;
    }
  }
  return counts;
}

std::vector<std::string> damage_of(const std::string& path) {
  const auto database = open_store(path, kRead);
  std::vector<std::string> damage;
  const auto add = [&](const std::string& sql, const std::string& words) {
    Statement each = database->prepare(sql);
    while (each.step()) damage.push_back(words + each.text(0));
  };
  add("SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "");
  add("SELECT key FROM result WHERE key NOT IN (SELECT key FROM scenario)",
      "a result without its scenario: ");
  add("SELECT key FROM result WHERE NOT EXISTS (SELECT 1 FROM report WHERE report.key = result.key AND "
      "report.version = result.version)",
      "a result without its report: ");
  add("SELECT label FROM study_result JOIN study ON id = study WHERE NOT EXISTS (SELECT 1 FROM result WHERE "
      "result.key = study_result.key AND result.version = study.version)",
      "a row of a study without its result: ");
  return damage;
}

}  // namespace podsim
