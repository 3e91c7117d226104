// podsim explain: why a job is partitioned as it is.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/options/mesh_option.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/question.h"
#include "cli/steps/explain_text.h"
#include "cli/steps/verbs.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "engine/words.h"
#include "ingest/file_kind.h"
#include "ingest/partitioning/import_modules.h"
#include "ingest/partitioning/module_file.h"
#include "proto/scenario/load.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

struct ExplainVerb {
  std::string file, op;
  std::vector<std::string> mesh;
  LoadOptions load;
  OutputOptions output;
};

// Says which operations there are when none is meant.
bool has_operation(const Explanation& explanation, const std::string& op) {
  std::vector<std::string> names;
  for (const OperationRecord& record : explanation.trace.operations) {
    if (record.name.find(op) != std::string::npos) return true;
    if (std::find(names.begin(), names.end(), record.name) == names.end()) names.push_back(record.name);
  }
  if (names.empty()) {
    spdlog::error("measured layers have no operations to explain");
    return false;
  }
  spdlog::error("no operation is called \"{}\"; there are: {}", op, separated(names, ", "));
  return false;
}

// The text of a module of a compiler; nothing where the file is something else, or cannot be read.
std::optional<InputText> module_in(const std::string& file, std::vector<Problem>& problems) {
  auto text = file == "-" ? std::nullopt : read_file(file, problems, kMostImportBytes);
  if (!text) return std::nullopt;
  const FileKind* kind = file_kind(*text);
  if (kind == nullptr || !partitioning::is_module_kind(kind->name)) return std::nullopt;
  return InputText{file, *std::move(text)};
}

int explain_module(const ExplainVerb& verb, const InputText& file) {
  Stated stated;
  auto mesh = mesh_axes(verb.mesh);
  if (!mesh) return kInputError;
  stated.mesh = *std::move(mesh);
  std::vector<Problem> problems;
  auto explained = explain_modules(file, stated, verb.op, problems);
  print_problems(problems);
  if (!explained) return kInputError;
  std::string words = "explain " + verb.op;
  for (const std::string& axis : verb.mesh) words += " " + axis;
  std::vector<Figure> whole = {{"file", file.name}};
  append(whole, std::move(explained->figures));
  emit(verb.output.format == "json"
           ? json_text(result_figure(sha256_of_files(words, {file.name}), std::move(whole)),
                       JsonNumbers::kShortest)
           : explained->text,
       verb.output.out);
  return kDone;
}

int explain(const ExplainVerb& verb) {
  std::vector<Problem> unread;
  if (const auto module = module_in(verb.file, unread)) return explain_module(verb, *module);
  if (!verb.mesh.empty()) {
    print_problems(unread);
    if (unread.empty())
      spdlog::error("--mesh says nothing about {}, which is no module of a compiler", verb.file);
    return kInputError;
  }
  const auto specs = load_scenarios({verb.file}, verb.load);
  if (!specs || !have_one_job(*specs, "explain")) return kInputError;
  const Explanation explanation = explain_step(specs->front());
  if (!has_operation(explanation, verb.op)) return kInputError;
  emit(verb.output.format == "json" ? explanation_json(explanation, verb.op)
                                    : explanation_text(explanation, verb.op),
       verb.output.out);
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "explain", "Tell each operation's shardings, the collectives they need, and the plans that lost");
  const auto options = std::make_shared<ExplainVerb>();
  verb.add_option("FILE", options->file,
                  "Scenario file, - is standard input; or a module of HLO or StableHLO")
      ->required();
  verb.add_option("--op", options->op, "Only operations whose name contains this")->type_name("NAME");
  add_mesh_option(verb, options->mesh);
  add_load_options(verb, options->load);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "A sharding such as [{data,fsdp},{},{tensor}] lists the mesh axes on each dimension, major to minor;\n"
      "beside it stands where it came from. Times are those of each collective alone on the fabric, without "
      "the\n"
      "ramps by which smaller messages take longer: podsim collective and a run count these.\n"
      "Examples:\n"
      "  podsim explain scenarios/llama3_70b_512_h100.textproto --op \"ffn up\"\n"
      "  podsim explain scenarios/llama3_70b_512_v5p.textproto --format json --out plan.json\n"
      "  podsim explain step.mlir --mesh data=16,model=8\n"
      "Exit codes: 0 done, 1 podsim failed, 2 the input must be changed.");
  verb.callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace podsim
