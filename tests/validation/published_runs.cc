// Runs the published scenarios and writes what docs/validation.md says of them.
#include "tests/validation/published_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "planner/predict.h"
#include "proto/load.h"

namespace podsim::testing {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The value of a header line "# key: value".
std::string header(const std::string& text, const std::string& key) {
  const std::string start = "# " + key + ": ";
  const std::size_t at = text.find(start);
  if (at == std::string::npos) throw std::runtime_error("no header line " + start);
  const std::size_t begin = at + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

PublishedRun predict(const std::filesystem::path& path, const Catalog& catalog) {
  const std::string text = read(path);
  LoadResult loaded = load_scenario(path.string(), text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  PublishedRun run;
  run.row = header(text, "row");
  run.file = path.filename().string();
  run.source = header(text, "source");
  run.assumptions = header(text, "assumptions");
  run.measured_s = std::stod(header(text, "measured_step_time_s"));
  run.chip = loaded.spec->cluster.chip.name;
  run.chips = loaded.spec->cluster.fabric.chips;
  run.model = loaded.spec->job.model.name;
  run.precision = to_string(loaded.spec->job.precision.dtype);
  run.predicted_s = predict_step(*loaded.spec, {}).report.step_time.in_seconds();
  return run;
}

std::string format(const char* pattern, auto... values) {
  char buffer[1024];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

std::string summary_line(const ErrorSummary& s) {
  return format("| %s | %d | %.1f | %.1f | %.1f | %.1f | %+.1f |\n", s.of.c_str(), s.runs, 100 * s.median,
                100 * s.mean, 100 * s.p90, 100 * s.max, 100 * s.bias);
}

}  // namespace

std::vector<PublishedRun> predict_published_runs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PODSIM_SOURCE_DIR "/scenarios/validation"))
    if (entry.path().extension() == ".textproto") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  const Catalog catalog;
  std::vector<PublishedRun> runs;
  for (const auto& path : paths) runs.push_back(predict(path, catalog));
  return runs;
}

ErrorSummary summarize_errors(const std::string& of, const std::vector<PublishedRun>& runs) {
  ErrorSummary summary{of, static_cast<int>(runs.size())};
  if (runs.empty()) return summary;
  std::vector<double> errors;
  for (const PublishedRun& run : runs) {
    errors.push_back(std::fabs(run.error()));
    summary.bias += run.error() / static_cast<double>(runs.size());
    summary.mean += errors.back() / static_cast<double>(runs.size());
  }
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  summary.median = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
  summary.p90 = errors[(9 * n + 9) / 10 - 1];
  summary.max = errors.back();
  return summary;
}

std::string validation_document(const std::vector<PublishedRun>& runs) {
  std::string out =
      "# Validation: published runs and what podsim predicts for them\n\n"
      "Written by `tests/validation/update`; a test fails when this page is not what podsim predicts now. "
      "Every scenario of\n"
      "`scenarios/validation` is listed, the bad ones too. The runs were chosen before any of them was "
      "simulated (the rule is in\n"
      "`scenarios/validation/README.md`), and no number was fitted to these errors.\n\n"
      "This is not a blind prediction: shares of peak, traffic and overlap in the chip and stack files come "
      "from public studies\n"
      "of published runs, among them sources that are listed here (each number says where it comes from). "
      "What the table tests is\n"
      "that one file per chip and one per software stack, with no parameter per model, scale or row, carry "
      "over from run to run.\n\n"
      "Errors are (predicted - measured) / measured step time, in percent; the columns of the first table "
      "are of absolute errors\n"
      "except for the bias.\n\n"
      "## Summary\n\n"
      "| runs of | runs | median | mean | p90 | worst | bias |\n|---|---:|---:|---:|---:|---:|---:|\n";
  std::map<std::string, std::vector<PublishedRun>> by_chip;
  std::vector<PublishedRun> gpu, tpu;
  for (const PublishedRun& run : runs) {
    by_chip[run.chip].push_back(run);
    (run.chip.starts_with("tpu") ? tpu : gpu).push_back(run);
  }
  out += summary_line(summarize_errors("all", runs)) + summary_line(summarize_errors("GPUs", gpu)) +
         summary_line(summarize_errors("TPUs", tpu));
  for (const auto& [chip, of_chip] : by_chip) out += summary_line(summarize_errors(chip, of_chip));

  out +=
      "\n## Every run, worst first\n\n"
      "| row | model | chips | precision | measured s | predicted s | error % "
      "|\n|---|---|---|---|---:|---:|---:|\n";
  std::vector<PublishedRun> sorted = runs;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return std::fabs(a.error()) > std::fabs(b.error()); });
  for (const PublishedRun& run : sorted)
    out += format("| [%s](../scenarios/validation/%s) | %s | %d %s | %s | %.4g | %.4g | %+.1f |\n",
                  run.row.c_str(), run.file.c_str(), run.model.c_str(), run.chips, run.chip.c_str(),
                  run.precision.c_str(), run.measured_s, run.predicted_s, 100 * run.error());

  out += "\n## Sources and assumptions\n\n";
  for (const PublishedRun& run : runs)
    out += "- **" + run.row + "**: " + run.source + ". Assumed: " + run.assumptions + ".\n";
  return out;
}

}  // namespace podsim::testing
