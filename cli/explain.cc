// podsim explain: why a job is partitioned as it is.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/explain_text.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "proto/scenario/load.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

struct ExplainVerb {
  std::string file, op;
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
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  spdlog::error("no operation is called \"{}\"; there are: {}", op, list);
  return false;
}

int explain(const ExplainVerb& verb) {
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
  verb.add_option("FILE", options->file, "Scenario file; - is standard input")->required();
  verb.add_option("--op", options->op, "Only operations whose name contains this")->type_name("NAME");
  add_load_options(verb, options->load);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "A sharding such as [{data,fsdp},{},{tensor}] lists the mesh axes on each dimension, major to minor;\n"
      "beside it stands where it came from. Times are those of each collective alone on the fabric.\n"
      "Examples:\n"
      "  podsim explain scenarios/llama3_70b_512_h100.textproto --op \"ffn up\"\n"
      "  podsim explain scenarios/llama3_70b_512_v5p.textproto --format json --out plan.json\n"
      "Exit codes: 0 done, 1 podsim failed, 2 the input must be changed.");
  verb.callback([options, &exit_code] { exit_code = explain(*options); });
}

}  // namespace podsim
