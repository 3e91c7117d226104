// podsim validate: predicts a table of measurements and says how far off it is.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/answers/page_output.h"
#include "cli/options/names.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/anchored.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "cli/validation/claims_text.h"
#include "cli/validation/validate_output.h"
#include "cli/validation/validate_suite.h"
#include "cli/validation/validate_verb.h"
#include "cli/validation/validation_page.h"
#include "cli/validation/verbs.h"
#include "engine/spelling.h"
#include "proto/text/question_digest.h"
#include "proto/text/read_file.h"
#include "proto/writing/result_json.h"
#include "validation/run_condition.h"

namespace podsim {
namespace {

// Nothing for a file that cannot be read, which is said.
std::optional<InputText> text_of(const std::string& file) {
  std::vector<Problem> problems;
  auto input = read_input(file, problems, kMaxTableBytes);
  print_problems(problems);
  return input;
}

// "chip=h100" asks for rows of that chip, "dtype=" and "kernel=" likewise; any other text is of the shape.
bool is_wanted(const MeasuredKernel& row, const std::string& condition) {
  const std::string wanted = condition.substr(condition.find('=') + 1);
  if (condition.starts_with("chip=")) return row.chip == wanted;
  if (condition.starts_with("dtype=")) return row.dtype == wanted;
  if (condition.starts_with("kernel=")) return row.kernel() == wanted;
  return (row.shape() + ' ').find(condition + ' ') != std::string::npos;
}

int validate_kernel_tables(const ValidateVerb& verb, const std::vector<InputText>& files,
                           const Catalog& catalog) {
  const LookedUpEntries entries;
  std::vector<MeasuredKernel> rows;
  std::vector<std::string> asked;
  bool readable = true;
  for (const InputText& file : files) {
    MeasuredKernels measured = read_kernel_table(file.name, file.text);
    print_problems(measured.problems);
    readable = readable && measured.problems.empty();
    std::ranges::move(measured.rows, std::back_inserter(rows));
    asked.push_back(file.text);
  }
  if (!readable) return kInputError;
  std::string words = "validate kernels";
  for (const std::string& part : verb.only) {
    std::erase_if(rows, [&](const MeasuredKernel& row) { return !is_wanted(row, part); });
    words += " --only " + part;
  }
  if (rows.empty()) return no_rows(verb);
  const KernelValidation made = validate_kernels(std::move(rows), catalog);
  if (made.rows.empty()) {
    for (const LeftOutKernels& left : made.left_out)
      spdlog::error("{} rows from line {} on: {}", left.rows, left.first_line, left.reason);
    return kInputError;
  }
  emit(kernel_errors(made, verb.output.format, entries.digest(question_sha256(words, asked))),
       verb.output.out);
  return kDone;
}

// The column that a condition is about; without one the id is meant.
std::string column_of(const std::string& condition) {
  const std::size_t equals = condition.find('=');
  return equals == std::string::npos ? "id" : condition.substr(0, equals);
}

// "family=mosaic" asks for rows whose family has this text, "id=g1" for the row of that name.
bool is_wanted(const RunScenario& run, const std::string& condition) {
  const std::size_t equals = condition.find('=');
  const std::string value = run_field(run, column_of(condition)).value_or("");
  const std::string wanted = equals == std::string::npos ? condition : condition.substr(equals + 1);
  return condition.starts_with("id=") ? value == wanted : value.find(wanted) != std::string::npos;
}

bool knows_columns(const std::vector<std::string>& conditions) {
  const std::vector<std::string>& names = run_field_names();
  for (const std::string& condition : conditions) {
    const std::string column = column_of(condition);
    if (std::ranges::find(names, column) != names.end()) continue;
    const std::string near = closest_name(column, names);
    spdlog::error("--only {}: runs have no \"{}\"{}", condition, column,
                  near.empty() ? "" : "; did you mean \"" + near + "\"?");
    return false;
  }
  return true;
}

// The rows that the user asks for, and how many of them are left out as not ready. A row asked for by its id
// need not be.
struct WantedRuns {
  std::vector<RunScenario> runs;
  int unready = 0;
};

std::optional<WantedRuns> wanted_runs(const ValidateVerb& verb, const std::vector<InputText>& files,
                                      const Catalog& catalog) {
  WantedRuns wanted;
  bool readable = true;
  for (const InputText& file : files) {
    const RunTable table = read_run_table(file.name, file.text);
    print_problems(table.problems);
    readable = readable && table.problems.empty();
    for (const RunRow& row : table.rows) {
      if (!verb.one_row().empty() && row.text("id") != verb.one_row()) continue;
      RunScenario run = run_scenario(row, builtin_run_rules(), catalog);
      if (!std::ranges::all_of(verb.only, [&](const auto& condition) { return is_wanted(run, condition); }))
        continue;
      if (verb.one_row().empty() && !verb.all && !run.ready)
        ++wanted.unready;
      else
        wanted.runs.push_back(std::move(run));
    }
  }
  if (!readable) return std::nullopt;
  return wanted;
}

int none_ready(int rows) {
  spdlog::error(
      "{} {} left out, without a measured step, a shape or a layout, or by sim_ready: --all takes them, and "
      "tells what is assumed",
      rows, rows == 1 ? "row is" : "rows are");
  return kInputError;
}

std::set<std::string> stacks_of(const std::vector<RunScenario>& runs) {
  std::set<std::string> stacks;
  for (const RunScenario& run : runs)
    if (run.skipped.empty()) stacks.insert(run.stack);
  return stacks;
}

RunValidation predict_wanted(const ValidateVerb& verb, std::vector<RunScenario> runs, const Catalog& catalog,
                             const Anchor& anchor) {
  RunValidation result;
  std::vector<RunScenario> simulated;
  for (RunScenario& run : runs)
    if (run.measured_s && anchor.is_measured(run_and_step(run.text, *run.measured_s)))
      run.skipped = "a measured step of --anchor: its error says nothing";
  for (RunScenario& run : runs) (run.skipped.empty() ? simulated : result.skipped).push_back(std::move(run));
  result.rows.resize(simulated.size());
  in_parallel(simulated.size(), verb.threads, verb.quiet, [&](std::size_t i) {
    result.rows[i] = predict_run(simulated[i], catalog, [&](const Spec& spec, const PredictOptions& options) {
      return anchor.predict(spec, options);
    });
  });
  return result;
}

int validate_run_tables(const ValidateVerb& verb, const std::vector<InputText>& files,
                        const Catalog& catalog) {
  if (!knows_columns(verb.only)) return kInputError;
  auto wanted = wanted_runs(verb, files, catalog);
  if (!wanted) return kInputError;
  std::vector<RunScenario>& runs = wanted->runs;
  if (runs.empty()) return wanted->unready > 0 ? none_ready(wanted->unready) : no_rows(verb);
  if (!verb.one_row().empty() && runs.size() > 1) {
    spdlog::error("{} rows have the id {}: only one can be told of; --only narrows them", runs.size(),
                  verb.one_row());
    return kInputError;
  }
  if (!verb.one_row().empty() && !runs.front().skipped.empty()) {
    spdlog::error("{} is not simulated: {}", verb.one_row(), runs.front().skipped);
    return kInputError;
  }
  if (!verb.scenario.empty()) {
    emit(runs.front().text, verb.output.out);
    return kDone;
  }
  const auto anchor = make_anchor(verb.anchor, "", verb.catalog_directories, verb.threads);
  if (!anchor || !moves_any(*anchor, stacks_of(runs))) return kInputError;
  const RunValidation made = predict_wanted(verb, std::move(runs), catalog, *anchor);
  for (const PredictedRun& row : made.rows)
    for (const Problem& told : row.contradictions()) spdlog::warn("{}", format_problem(told));
  if (!verb.html.empty()) write_page(validation_page(made), std::nullopt, verb.html);
  emit(verb.explain.empty() ? run_errors(made, verb.output.format) : run_explanation(made.rows.front()),
       verb.output.out);
  const bool any = std::ranges::any_of(made.rows, [](const auto& row) { return row.failure.empty(); });
  if (!any) spdlog::error("no row was simulated: the reasons stand in the result");
  return any ? kDone : kInputError;
}

// Rows of the suite that the user asks for by their ids, all without one.
std::optional<std::vector<SuiteRow>> wanted_rows(const ValidateVerb& verb, Suite suite) {
  for (const std::string& id : verb.only) {
    if (std::ranges::any_of(suite.rows, [&](const SuiteRow& row) { return row.id == id; })) continue;
    std::vector<std::string> ids;
    for (const SuiteRow& row : suite.rows) ids.push_back(row.id);
    const std::string near = closest_name(id, ids);
    spdlog::error("the suite has no row {}{}", id, near.empty() ? "" : "; did you mean " + near + "?");
    return std::nullopt;
  }
  if (!verb.only.empty())
    std::erase_if(suite.rows,
                  [&](const SuiteRow& row) { return std::ranges::count(verb.only, row.id) == 0; });
  return std::move(suite.rows);
}

// Exit code 2 where the rows tell nothing of podsim: none was run.
int judged(const std::vector<SuiteResult>& results) {
  const auto any = [&](Verdict verdict) {
    return std::ranges::any_of(results, [&](const SuiteResult& row) { return row.verdict == verdict; });
  };
  if (any(Verdict::kFail)) return kInternalError;
  if (any(Verdict::kPass) || any(Verdict::kOutside)) return kDone;
  spdlog::error("no row of the suite was run");
  return kInputError;
}

int validate_suite(const ValidateVerb& verb) {
  if (in_suite()) {
    spdlog::error("a suite cannot run a suite: --suite {}", verb.suite);
    return kInputError;
  }
  const auto file = find_suite(verb.suite);
  const auto text = file ? text_of(*file) : std::nullopt;
  if (!text) return kInputError;
  Suite suite = read_suite(text->name, text->text);
  print_problems(suite.problems);
  if (!suite.problems.empty()) return kInputError;
  const std::vector<SuiteRow> all = suite.rows;
  const auto rows = wanted_rows(verb, std::move(suite));
  if (!rows) return kInputError;
  const auto claims = claims_beside(*file, all, *rows);
  if (!claims) return kInputError;
  const std::vector<SuiteResult> results =
      run_suite(*rows, std::filesystem::path(*file).parent_path().string(), verb.run_command);
  const std::string& format = verb.output.format;
  std::string answer = suite_text(results, format, question_sha256("suite", {text->text}));
  if (!claims->empty() && format == "table") answer += "\n" + claims_table(*claims, results);
  if (!claims->empty() && format == "markdown")
    emit_claims(*claims, results, verb.output.out);
  else
    emit(answer, verb.output.out);
  return judged(results);
}

int validate(const ValidateVerb& verb) {
  if (!verb.suite.empty()) return validate_suite(verb);
  if (verb.files.empty()) {
    spdlog::error("give tables of measurements, or --suite NAME");
    return kInputError;
  }
  if (verb.output.format == "markdown") {
    spdlog::error("--format markdown is of suites: write table, json or csv");
    return kInputError;
  }
  const auto catalog = open_catalog(verb.catalog_directories);
  if (!catalog) return kInputError;
  std::vector<InputText> files;
  for (const std::string& name : verb.files) {
    auto input = text_of(name);
    if (!input) return kInputError;
    files.push_back(*std::move(input));
  }
  const auto odd = std::ranges::find_if(files, [](const auto& file) { return !is_run_table(file.text); });
  if (!verb.html.empty() && odd != files.end()) {
    spdlog::error("--html shows tables of training runs, and {} is none", odd->name);
    return kInputError;
  }
  if (std::ranges::all_of(files, [](const auto& file) { return is_kernel_table(file.text); }))
    return validate_kernel_tables(verb, files, *catalog);
  if (odd == files.end()) return validate_run_tables(verb, files, *catalog);
  if (files.size() == 1) return validate_collective_table(verb, *odd, *catalog);
  spdlog::error("{} is no table of training runs: only those are validated together", odd->name);
  return kInputError;
}

void add_run_table_options(CLI::App& verb, ValidateVerb& options) {
  verb.add_flag("--all", options.all, "Also runs whose table leaves something out, with what is assumed");
  verb.add_option("--explain", options.explain, "Tell of one run: assumptions, and where the time goes")
      ->type_name("ID");
  verb.add_option("--scenario", options.scenario, "Print the scenario of one run")
      ->type_name("ID")
      ->excludes("--explain");
  whole_number(
      verb.add_option("--threads", options.threads, "Runs at a time; as many as the machine has by default"),
      1, 1024)
      ->type_name("N");
  verb.add_flag("--quiet", options.quiet, "No progress on standard error");
}

}  // namespace

void add_validate(CLI::App& app, int& exit_code, RunCommand run_command) {
  CLI::App& verb = *app.add_subcommand("validate", "Predict a table of measurements and print the errors");
  const auto options = std::make_shared<ValidateVerb>();
  options->run_command = run_command;
  verb.add_option(
      "FILE", options->files,
      "Tables of measured runs, or of kernels, or one of collectives, or output of nccl-tests; plain or "
      "compressed by gzip; - reads it");
  verb.add_option("--suite", options->suite,
                  "Run the commands of scenarios/NAME/suite.csv, or of a file, and judge their figures")
      ->type_name("NAME|FILE.csv")
      ->excludes("FILE");
  verb.add_option("--fabric", options->fabric,
                  "Fabric of all collectives; by default the one that names their system")
      ->type_name("NAME");
  whole_number(
      verb.add_option("--gpus", options->gpus, "GPUs, for output of nccl-tests that does not list them"), 2,
      INT32_MAX)
      ->type_name("N");
  whole_number(
      verb.add_option("--nodes", options->nodes, "Nodes, likewise; as few as hold the GPUs by default"), 1,
      INT32_MAX)
      ->type_name("N");
  verb.add_option("--kind", options->kind, "Collective, for output of nccl-tests that does not say it")
      ->check(CLI::IsMember(names_up_to(CollectiveKind::kBarrier), hyphenated));
  verb.add_option(
          "--only", options->only,
          "Rows whose id contains this; of runs also family=, group=, chip=, fabric=, stack=, model=, "
          "arch=, precision=, parallelism=TEXT and id=ID; of kernels chip=, dtype=, kernel=NAME and "
          "words of the shape. Repeated: all of it. Of a suite: the rows of this id")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  add_run_table_options(verb, *options);
  add_anchor_options(verb, options->anchor);
  verb.get_option("--anchor")
      ->description(
          "Measured steps of your own, which move a few numbers of their stack: a table of runs. May be "
          "repeated");
  add_catalog_option(verb, options->catalog_directories);
  add_output_options(verb, options->output, {"table", "json", "csv", "markdown"});
  add_html_option(verb, options->html);
  verb.get_option("--html")->excludes("--suite");
  verb.footer(
      "docs/reference/validation-format.md has the columns.\n"
      "Exit codes: 0 done, 1 a row of a suite fails, 2 the input must be changed.\n"
      "Examples:\n"
      "  podsim validate scenarios/measurements/gpu_runs.csv scenarios/measurements/tpu_runs.csv --all\n"
      "  podsim validate scenarios/measurements/gpu_runs.csv --only family=mosaic --format json\n"
      "  podsim validate scenarios/measurements/gpu_runs.csv --explain g057\n"
      "  podsim validate scenarios/measurements/gpu_runs.csv --scenario g057 --out g057.textproto\n"
      "  podsim validate scenarios/measurements/nccl_allreduce.csv\n"
      "  podsim validate sweep_of_a_chip.csv.gz --format csv\n"
      "  podsim validate gemm.csv.gz attention_forward.csv.gz --only chip=h100 --only dtype=bfloat16\n"
      "  podsim validate my_table.csv --fabric dgx_h100 --only all-gather\n"
      "  podsim validate all_reduce_perf.log --fabric dgx_h200 --format json\n"
      "  podsim validate my_runs.csv --anchor one_of_them.csv\n"
      "  podsim validate --suite reliability --only R33 --only R34\n"
      "  podsim validate --suite claims --only A4");
  verb.callback([options, &exit_code] { exit_code = validate(*options); });
}

}  // namespace podsim
