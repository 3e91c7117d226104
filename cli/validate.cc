// podsim validate: predicts a table of measurements and says how far off it is.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "planner/validate_collectives.h"
#include "proto/read_file.h"
#include "report/text.h"
#include "report/write.h"

namespace podsim {
namespace {

struct ValidateVerb {
  std::string file;
  std::string fabric;
  std::string only;
  std::string kind = "all-reduce";
  int gpus = 0;
  int nodes = 0;
  std::vector<std::string> catalog_directories;
  OutputOptions output;
};

using Rows = std::vector<PredictedCollective>;

std::string signed_percent(double error) { return (error < 0 ? "" : "+") + fixed(100 * error, 1); }

std::string row_table(const Rows& rows) {
  std::vector<std::vector<std::string>> table = {{"system, network", "GPUs", "bytes", "measured us",
                                                  "predicted us", "error %", "measured", "algorithm"}};
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    table.push_back({of.system.empty() ? row.fabric : of.system + ", " + of.network, std::to_string(of.gpus),
                     fixed(of.collective.bytes.value, 0), fixed(of.time_s * 1e6, 1),
                     fixed(row.predicted_s * 1e6, 1), signed_percent(row.error()), of.algo,
                     std::string(to_string(row.algorithm))});
  }
  return align(table);
}

std::string summary_table(const std::vector<NamedSummary>& summaries) {
  std::vector<std::vector<std::string>> table = {
      {"absolute error %", "rows", "mean", "median", "p90", "max", "bias"}};
  for (const auto& [of, errors] : summaries)
    table.push_back({of, std::to_string(errors.rows), fixed(100 * errors.mean, 1),
                     fixed(100 * errors.median, 1), fixed(100 * errors.p90, 1), fixed(100 * errors.max, 1),
                     signed_percent(errors.bias)});
  return align(table);
}

std::string as_table(const Rows& rows) {
  std::string text = row_table(rows) + "\n" + summary_table(summarize(rows));
  for (const auto& row : rows)
    if (!row.measured.representative)
      text += "\nLeft out of the summary, because the table calls the system faulty: " + row.measured.id +
              " (" + signed_percent(row.error()) + " %).\n";
  return text;
}

nlohmann::ordered_json to_json(const ErrorSummary& errors) {
  return {{"rows", errors.rows},
          {"mean_error_pct", 100 * errors.mean},
          {"median_error_pct", 100 * errors.median},
          {"p90_error_pct", 100 * errors.p90},
          {"max_error_pct", 100 * errors.max},
          {"bias_pct", 100 * errors.bias}};
}

std::string as_json(const Rows& rows) {
  auto array = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    array.push_back({{"id", of.id},
                     {"measured_time_s", of.time_s},
                     {"predicted_time_s", row.predicted_s},
                     {"error_pct", 100 * row.error()},
                     {"system", of.system},
                     {"network", of.network},
                     {"fabric", row.fabric},
                     {"gpus", of.gpus},
                     {"collective", std::string(to_string(of.collective.kind))},
                     {"bytes", of.collective.bytes.value},
                     {"measured_algorithm", of.algo},
                     {"algorithm", std::string(to_string(row.algorithm))},
                     {"representative", of.representative},
                     {"source", of.source}});
  }
  nlohmann::ordered_json summary = nlohmann::ordered_json::object();
  for (const auto& [of, errors] : summarize(rows)) summary[of] = to_json(errors);
  return nlohmann::ordered_json{{"rows", array}, {"summary", summary}}.dump(2) + "\n";
}

std::string in_quotes(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

std::string as_csv(const Rows& rows) {
  std::string text =
      "id,fabric,gpus,bytes,measured_time_s,predicted_time_s,error_pct,algorithm,representative\n";
  for (const auto& row : rows) {
    const MeasuredCollective& of = row.measured;
    text += in_quotes(of.id) + ',' + row.fabric + ',' + std::to_string(of.gpus) + ',' +
            shortest(of.collective.bytes.value) + ',' + shortest(of.time_s) + ',' +
            shortest(row.predicted_s) + ',' + shortest(100 * row.error()) + ',' +
            std::string(to_string(row.algorithm)) + ',' + (of.representative ? "true" : "false") + '\n';
  }
  return text;
}

std::optional<std::string> text_of(const std::string& file) {
  if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::vector<Problem> problems;
  auto text = read_file(file, problems);
  print_problems(problems);
  return text;
}

// Nothing where the file is of no kind that can be validated; the reason is on standard error.
std::optional<MeasuredCollectives> read_measurements(const ValidateVerb& verb, const std::string& text) {
  if (is_nccl_tests_output(text)) {
    if (!verb.fabric.empty() && verb.gpus >= 2)
      return read_nccl_tests(verb.file, text, verb.gpus, verb.nodes,
                             value_named(verb.kind, CollectiveKind::kBarrier));
    spdlog::error("{} is the output of nccl-tests: say where it ran with --fabric NAME --gpus N", verb.file);
    return std::nullopt;
  }
  if (is_collective_table(text)) return read_collective_table(verb.file, text, !verb.fabric.empty());
  spdlog::error(
      "{} is neither a table of collectives (columns system,gpus,nodes,network,collective,algo,bytes,"
      "time_us,busbw_GBps,source) nor the output of nccl-tests",
      verb.file);
  return std::nullopt;
}

void keep_only(const std::string& part, std::vector<MeasuredCollective>& rows) {
  std::erase_if(rows, [&](const auto& row) { return row.id.find(part) == std::string::npos; });
}

int validate(const ValidateVerb& verb) {
  const auto catalog = open_catalog(verb.catalog_directories);
  const auto text = catalog ? text_of(verb.file) : std::nullopt;
  auto measured = text ? read_measurements(verb, *text) : std::nullopt;
  if (!measured) return kInputError;
  print_problems(measured->problems);
  keep_only(verb.only, measured->rows);
  if (measured->rows.empty() && measured->problems.empty())
    spdlog::error("{} has no row{}", verb.file, verb.only.empty() ? "" : " with \"" + verb.only + '"');
  if (measured->rows.empty() || !measured->problems.empty()) return kInputError;
  const CollectiveValidation made = validate_collectives(measured->rows, *catalog, verb.fabric);
  print_problems(made.problems);
  if (!made.problems.empty()) return kInputError;
  const std::string& format = verb.output.format;
  emit(format == "json"  ? as_json(made.rows)
       : format == "csv" ? as_csv(made.rows)
                         : as_table(made.rows),
       verb.output.out);
  return kDone;
}

}  // namespace

void add_validate(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand("validate", "Predict a table of measurements and print the errors");
  const auto options = std::make_shared<ValidateVerb>();
  verb.add_option("file", options->file,
                  "Table of measured collectives, output of nccl-tests, or - to read it")
      ->required()
      ->type_name("FILE");
  verb.add_option("--fabric", options->fabric,
                  "Fabric of all rows; by default the one that names their system")
      ->type_name("NAME");
  verb.add_option("--gpus", options->gpus, "GPUs, for the output of nccl-tests")->type_name("N");
  verb.add_option("--nodes", options->nodes, "Nodes, likewise; as few as hold the GPUs by default")
      ->type_name("N");
  verb.add_option("--kind", options->kind, "Collective, for output of nccl-tests that does not say it")
      ->check(CLI::IsMember(names_up_to(CollectiveKind::kBarrier), hyphenated))
      ->capture_default_str();
  verb.add_option("--only", options->only, "Rows whose id contains this")->type_name("TEXT");
  add_catalog_option(verb, options->catalog_directories);
  add_output_options(verb, options->output, {"table", "json", "csv"});
  verb.footer(
      "docs/validation-format.md has the columns.\n"
      "Examples:\n"
      "  podsim validate scenarios/measurements/nccl_allreduce.csv\n"
      "  podsim validate my_table.csv --fabric dgx_h100 --only all-gather\n"
      "  podsim validate all_reduce_perf.log --fabric dgx_h200 --gpus 16 --format json");
  verb.callback([options, &exit_code] { exit_code = validate(*options); });
}

}  // namespace podsim
