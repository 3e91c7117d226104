// Predicts the scenario and lays its times beside the recorded ones.
#include "cli/imports/import_beside.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>
#include <vector>

#include "cli/scenarios/batch.h"
#include "prediction/predict.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct BesideRow {
  const char* name;  // "computing"
  const char* key;   // "computing_s"
  Time recorded, predicted;

  double error() const { return predicted.in_seconds() / recorded.in_seconds() - 1; }
};

std::vector<std::string> beside_cells(const BesideRow& row) {
  const auto ms = [](Time time) { return fixed(time.in_seconds() * 1e3, 3); };
  const double error = 100 * row.error();
  return {row.name, ms(row.recorded), ms(row.predicted),
          row.recorded == Time{} ? "" : (error < 0 ? "" : "+") + fixed(error, 1) + " %"};
}

}  // namespace

std::optional<Imported> put_beside(const std::string& of, const Imported& imported,
                                   const std::string& scenario) {
  if (!imported.recorded) {
    spdlog::error("{}: no step is marked: have each ended by profiler.step()", of);
    return std::nullopt;
  }
  const auto specs = load_scenarios({scenario}, {});
  if (!specs || !have_one_job(*specs, "import --beside")) return std::nullopt;
  const Report report = predict_step(specs->front(), {}).report;
  if (report.chips != imported.ranks)
    spdlog::warn("{} was recorded on {} ranks, {} is of {} chips", of, imported.ranks, scenario,
                 report.chips);
  const RecordedStep& recorded = *imported.recorded;
  const std::vector<BesideRow> rows = {
      {"step", "step_s", recorded.step, report.step_time},
      {"computing", "computing_s", recorded.computing, report.compute + report.optimizer},
      {"exposed communication", "exposed_s", recorded.exposed, report.exposed_communication}};
  Imported answer;
  std::vector<std::vector<std::string>> lines = {{"ms", "recorded", "predicted", "error"}};
  std::vector<Figure> taken, expected;
  for (const BesideRow& row : rows) {
    lines.push_back(beside_cells(row));
    taken.emplace_back(row.key, row.recorded);
    expected.emplace_back(row.key, row.predicted);
  }
  answer.text = of + " beside " + scenario + "\n\n" + align(lines) + "\nRecorded: the middle one of " +
                std::to_string(recorded.steps) +
                (recorded.by_marks ? " marks of steps on the host, of all ranks: no step follows another.\n"
                                   : " intervals between steps, of all ranks.\n");
  if (recorded.unrecorded > 0)
    answer.text +=
        "Of " + count_text(recorded.unrecorded) +
        (recorded.unrecorded == 1 ? " rank that took part there is no profile"
                                  : " ranks that took part there is no profile") +
        ": what collectives waited for them, or for a\nslower network than the scenario's, is in the "
        "recorded step and not in the predicted one.\n";
  answer.figures = {{"scenario", scenario},
                    {"steps", recorded.steps},
                    Figure::group("recorded", std::move(taken)),
                    Figure::group("predicted", std::move(expected)),
                    {"step_error", rows.front().error()}};
  return answer;
}

}  // namespace podsim
