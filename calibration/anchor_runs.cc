// Reads tables of measured steps into specs.
#include "calibration/anchor_runs.h"

#include <algorithm>

#include "engine/spelling.h"
#include "proto/scenario/load.h"
#include "proto/text/csv_table.h"
#include "report/text/text.h"
#include "validation/run_rules.h"
#include "validation/run_scenario.h"
#include "validation/run_table.h"

namespace podsim {
namespace {

constexpr double kMostPercent = 100;  // of noise

class AnchorRunReader {
 public:
  AnchorRunReader(const std::string& file, const std::string& text, const Catalog& catalog,
                  const std::optional<InputText>& scenario)
      : file_(file), text_(with_header(text)), csv_(file, text_), catalog_(catalog), scenario_(scenario) {}

  AnchorRuns read() {
    if (is_run_table(text_)) {
      read_runs();
    } else if (fields_are_known()) {
      for (const CsvRow& row : csv_.rows()) read_fields(row);
    }
    AnchorRuns result{std::move(runs_), unread_.empty() ? csv_.problems() : unread_};
    if (result.problems.empty() && result.runs.empty()) result.problems.push_back(no_rows());
    return result;
  }

 private:
  Problem no_rows() const {
    Problem problem;
    problem.file = file_;
    problem.message = "has no row of a measured step";
    problem.hint = "expected a header and at least one row";
    return problem;
  }

  std::string column_of_step() const {
    for (const char* name : {"step_time_s", "step_time_ms", "iteration time (ms)", "tok_s_gpu"})
      if (csv_.has(name)) return name;
    return "tokens_per_s_per_chip";
  }

  void add(const CsvRow& row, const std::string& id, const LoadResult& loaded, double measured_s,
           const std::string& question) {
    if (!loaded.spec) {
      const Problem& first = loaded.problems.at(0);
      return csv_.report(row, "id", first.message, first.hint);
    }
    if (!loaded.spec->jobs.empty())
      return csv_.report(row, "id", "several jobs share the cluster", "expected a scenario with one job");
    if (measured_s < kShortestAnchorStep_s || measured_s > kLongestAnchorStep_s)
      return csv_.report(row, column_of_step(), "a step of " + significant(measured_s, 3) + " s",
                         "expected a measured step from 1e-9 to 1e6 s");
    AnchorRun run{id, *loaded.spec, measured_s, {}, run_and_step(question, measured_s)};
    if (!csv_.cell(row, "noise_pct").text.empty()) {
      const auto noise = csv_.number(row, "noise_pct", CsvNumber::kPositive);
      if (!noise) return;
      if (*noise > kMostPercent)
        return csv_.report(row, "noise_pct", "noise of more than the step itself",
                           "expected percent, up to 100");
      run.noise = *noise / 100;
      run.text += " " + shortest(*run.noise);
    }
    runs_.push_back(std::move(run));
  }

  void read_runs() {
    const RunTable table = read_run_table(file_, text_);
    unread_ = table.problems;
    if (!unread_.empty()) return;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const CsvRow& row = csv_.rows()[i];
      const RunScenario run = run_scenario(table.rows[i], builtin_run_rules(), catalog_);
      if (!run.skipped.empty()) {
        csv_.report(row, "id", "cannot be simulated: " + run.skipped);
      } else if (!run.measured_s || *run.measured_s <= 0) {
        csv_.report(row, "step_time_s", "the row has no measured step",
                    "expected a column step_time_s, step_time_ms or tok_s_gpu");
      } else {
        add(row, run.id, load_scenario(run.id, run.text, catalog_, {}), *run.measured_s, run.text);
      }
    }
  }

  bool fields_are_known() {
    if (!csv_.has("step_time_ms") && !csv_.require("step_time_s")) return false;
    bool known = true;
    if (csv_.has("step_time_s") && csv_.has("step_time_ms")) {
      csv_.report(csv_.header(), "step_time_ms", "step_time_s says it too", "expected one of them");
      known = false;
    }
    for (const CsvCell& cell : csv_.header().cells) {
      const std::vector<std::string> names = {"id",        "step_time_s", "step_time_ms",
                                              "noise_pct", "notes",       "source"};
      if (cell.text.find('.') != std::string::npos || std::ranges::count(names, cell.text) > 0) continue;
      const std::string near = closest_name(cell.text, names);
      csv_.report(csv_.header(), cell.text,
                  "\"" + cell.text + "\" is no column of measured steps, and no field of a scenario",
                  near.empty() ? "expected step_time_s, noise_pct, id, or a field such as job.mesh.data.size"
                               : "did you mean \"" + near + "\"?");
      known = false;
    }
    if (scenario_ || !known) return known;
    csv_.report(csv_.header(), column_of_step(), "no scenario is given whose step this is",
                "expected the columns of a table of runs, layers and global_batch_seqs among them");
    return false;
  }

  std::optional<double> step_s(const CsvRow& row) {
    if (csv_.has("step_time_s")) return csv_.number(row, "step_time_s", CsvNumber::kPositive);
    const auto milliseconds = csv_.number(row, "step_time_ms", CsvNumber::kPositive);
    return milliseconds ? std::optional(*milliseconds * 1e-3) : std::nullopt;
  }

  void read_fields(const CsvRow& row) {
    const auto measured = step_s(row);
    if (!measured) return;
    std::vector<Override> overrides;
    std::string question;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& path = csv_.header().cells[i].text;
      if (path.find('.') == std::string::npos || row.cells[i].text.empty()) continue;
      overrides.push_back({path, row.cells[i].text});
      question += path + "=" + row.cells[i].text + " ";
    }
    const std::string& id = csv_.cell(row, "id").text;
    add(row, id.empty() ? "line " + std::to_string(row.line) : id,
        load_scenario(scenario_->name, scenario_->text, catalog_, overrides), *measured, question);
  }

  std::string file_, text_;
  CsvTable csv_;
  const Catalog& catalog_;
  const std::optional<InputText>& scenario_;
  std::vector<AnchorRun> runs_;
  std::vector<Problem> unread_;  // what is wrong with the cells of a table of runs
};

}  // namespace

std::string run_and_step(const std::string& scenario_text, double measured_s) {
  return scenario_text + shortest(measured_s);
}

AnchorRuns read_anchor_runs(const std::string& file, const std::string& text, const Catalog& catalog,
                            const std::optional<InputText>& scenario) {
  return AnchorRunReader(file, text, catalog, scenario).read();
}

AnchorRuns anchor_on_scenario(const InputText& scenario, double step_time_s, const Catalog& catalog) {
  LoadResult loaded = load_scenario(scenario.name, scenario.text, catalog, {});
  AnchorRuns result{{}, std::move(loaded.problems)};
  if (loaded.spec && loaded.spec->jobs.empty())
    result.runs.push_back({loaded.spec->name, *loaded.spec, step_time_s, {}, run_and_step("", step_time_s)});
  return result;
}

}  // namespace podsim
