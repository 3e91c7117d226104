// podsim shard: the cheapest collectives for each case of a file of sharding questions.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/networks/network.h"
#include "cli/networks/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/question.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "engine/spelling.h"
#include "proto/cases/load_shard_cases.h"
#include "proto/text/question_digest.h"
#include "proto/writing/write_shard_plans.h"
#include "report/text/align.h"
#include "report/text/text.h"
#include "scheduler/placement/fabric_cost.h"
#include "workload/cases/plan_case.h"

namespace podsim {
namespace {

struct ShardVerb {
  std::vector<std::string> files;
  std::vector<std::string> categories, ids;
  NetworkOptions network;  // no fabric: bytes decide
  double tflops = 400;     // of one chip
  std::vector<std::string> catalog_directories;
  OutputOptions output;
};

// All cases of all files, those with problems, which are printed to standard error, as ones that have no
// plan; `clean` tells whether there are none. Nothing where no case of some file can be read.
std::optional<std::vector<ShardCase>> cases_of_files(const std::vector<std::string>& files, bool& clean) {
  std::vector<ShardCase> cases;
  bool all_have_some = true;
  for (const std::string& file : files) {
    LoadShardCasesResult loaded = load_shard_cases_file(file);
    print_problems(loaded.problems);
    clean &= loaded.cases.has_value();
    const std::vector<ShardCase>& read = loaded.cases ? *loaded.cases : loaded.readable;
    all_have_some &= loaded.cases || std::any_of(read.begin(), read.end(), [](const ShardCase& each) {
                       return !std::holds_alternative<Unplanned>(each.question);
                     });
    cases.insert(cases.end(), read.begin(), read.end());
  }
  if (!all_have_some) return std::nullopt;
  return cases;
}

// Whether each wanted name occurs; the first that does not is said, with the nearest that does.
bool all_known(const std::vector<std::string>& wanted, const std::set<std::string>& known,
               const std::string& what) {
  for (const std::string& name : wanted) {
    if (known.count(name) > 0) continue;
    const std::string close = closest_name(name, {known.begin(), known.end()});
    spdlog::error("no case has the {} \"{}\"{}", what, name,
                  close.empty() ? "" : "; did you mean \"" + close + "\"?");
    return false;
  }
  return true;
}

std::optional<std::vector<ShardCase>> choose(std::vector<ShardCase> cases, const ShardVerb& verb) {
  std::set<std::string> categories, ids;
  for (const ShardCase& c : cases) {
    categories.insert(c.category);
    ids.insert(c.id);
  }
  if (!all_known(verb.categories, categories, "category") || !all_known(verb.ids, ids, "id"))
    return std::nullopt;
  const auto left_out = [](const std::vector<std::string>& wanted, const std::string& name) {
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end();
  };
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [&](const ShardCase& c) {
                               return left_out(verb.categories, c.category) || left_out(verb.ids, c.id);
                             }),
              cases.end());
  return cases;
}

std::string compared(const PlannedCase& planned) {
  if (!planned.plan.error.empty() || !planned.question.expected) return "";
  const auto sent = static_cast<double>(sent_in_all(planned.plan));
  const double expected = planned.question.expected->send_bytes;
  return sent < expected - 1 ? "fewer" : sent > expected + 1 ? "more" : "equal";
}

// Of each category: how many cases have a plan, and how it compares with the expected bytes.
std::string score(const std::vector<PlannedCase>& cases) {
  struct Count {
    int cases = 0, planned = 0, fewer = 0, equal = 0, more = 0;
  };
  std::map<std::string, Count> counts;
  for (const PlannedCase& planned : cases) {
    Count& count = counts[planned.question.category];
    const std::string against = compared(planned);
    ++count.cases;
    count.planned += planned.plan.error.empty();
    count.fewer += against == "fewer";
    count.equal += against == "equal";
    count.more += against == "more";
  }
  std::vector<std::vector<std::string>> rows = {
      {"category", "cases", "planned", "fewer bytes", "equal", "more"}};
  for (const auto& [category, count] : counts)
    rows.push_back({category, std::to_string(count.cases), std::to_string(count.planned),
                    std::to_string(count.fewer), std::to_string(count.equal), std::to_string(count.more)});
  return align(rows);
}

std::string cases_table(const std::vector<PlannedCase>& cases) {
  std::vector<std::vector<std::string>> rows = {
      {"case", "op", "collectives", "bytes sent", "expected", "", "FLOPs"}};
  for (const PlannedCase& planned : cases) {
    const CasePlan& plan = planned.plan;
    const auto& expected = planned.question.expected;
    if (plan.error.empty()) {
      rows.push_back({planned.question.id, planned.question.op, std::to_string(executions(plan)),
                      std::to_string(sent_in_all(plan)), expected ? fixed(expected->send_bytes, 0) : "",
                      compared(planned), fixed(plan.flops, 0)});
    } else {
      rows.push_back({planned.question.id, planned.question.op, "-", "-", "-", "-", "not planned"});
    }
  }
  return align(rows) + "\n" + score(cases);
}

// One case: each step on a line of its own.
std::string as_steps(const PlannedCase& planned) {
  const Mesh& mesh = planned.question.mesh;
  const CasePlan& plan = planned.plan;
  std::string text = planned.question.id + ": " + planned.question.op + "\n\n";
  if (!plan.error.empty()) return text + "not planned: " + plan.error + "\n";
  for (const Annotation& annotation : plan.propagated) text += to_string(mesh, annotation) + "\n";
  std::vector<std::vector<std::string>> rows = {{"tensor", "step", "axes", "after", "times", "bytes sent"}};
  for (const CaseStep& s : plan.steps) {
    const PlanStep& step = s.step;
    std::string name = step_name(step.kind);
    if (step.kind == StepKind::kHalo)
      name += std::string(step.halo_left ? " from left" : " from right") + ", width " +
              std::to_string(step.halo_width) + " of dimension " + std::to_string(step.halo_dim);
    rows.push_back({s.tensor, name, step.kind == StepKind::kCompute ? "" : to_string(mesh, step.axes),
                    to_string(mesh, step.after), std::to_string(step.count),
                    std::to_string(step.count * whole_bytes(step.sent))});
  }
  if (!plan.steps.empty()) text += align(rows);
  text += "\nbytes sent " + std::to_string(sent_in_all(plan)) + ", FLOPs " + fixed(plan.flops, 0);
  if (planned.seconds) text += ", predicted time " + fixed(*planned.seconds * 1e6, 1) + " us";
  return text + "\n";
}

// By time on the fabric, which each mesh has to fill; nothing where one does not.
std::optional<std::vector<PlannedCase>> plan_on(const FabricSpec& network,
                                                const std::vector<ShardCase>& cases, double tflops) {
  const Fabric fabric = build_fabric(network);
  std::vector<PlannedCase> planned;
  for (const ShardCase& question : cases) {
    if (std::holds_alternative<Unplanned>(question.question)) {
      planned.push_back({question, plan_case(question, SentBytes())});
      continue;
    }
    if (question.mesh.devices() != fabric.chips) {
      spdlog::error("case {} has a mesh of {} devices, but the fabric has {} chips", question.id,
                    question.mesh.devices(), fabric.chips);
      return std::nullopt;
    }
    const Placement placement = place(fabric, question.mesh, {});
    const FabricCost cost(fabric, question.mesh, placement, FlopRate{tflops * 1e12});
    planned.push_back({question, plan_case(question, cost)});
    planned.back().seconds = seconds_of(planned.back().plan, cost);
  }
  return planned;
}

std::optional<std::vector<PlannedCase>> plan_all(const ShardVerb& verb, const Catalog& catalog,
                                                 const std::vector<ShardCase>& cases) {
  if (!verb.network.fabric.empty()) {
    const auto network = choose_network(catalog, verb.network);
    return network ? plan_on(*network, cases, verb.tflops) : std::nullopt;
  }
  const SentBytes cost;
  std::vector<PlannedCase> planned;
  for (const ShardCase& question : cases) planned.push_back({question, plan_case(question, cost)});
  return planned;
}

// Whether every case that asks something has a plan; says which has none.
bool all_answered(const std::vector<PlannedCase>& cases) {
  bool all = true;
  for (const PlannedCase& planned : cases) {
    const auto* unplanned = std::get_if<Unplanned>(&planned.question.question);
    if (planned.plan.error.empty() || (unplanned != nullptr && unplanned->asks_nothing)) continue;
    spdlog::error("case {} is not planned: {}", planned.question.id, planned.plan.error);
    all = false;
  }
  return all;
}

std::string cases_digest(const ShardVerb& verb, const LookedUpEntries& entries) {
  std::string words = "shard " + question_words(verb.network) + " " + shortest(verb.tflops);
  for (const std::string& category : verb.categories) words += " --only " + category;
  for (const std::string& id : verb.ids) words += " --case " + id;
  return entries.digest(sha256_of_files(words, verb.files));
}

int shard(const ShardVerb& verb) {
  const LookedUpEntries entries;
  if (verb.network.fabric.empty() && names_network(verb.network)) {
    spdlog::error("--chips, --shape and what else describes a network need --fabric");
    return kInputError;
  }
  const auto catalog = open_catalog(verb.catalog_directories);
  if (!catalog) return kInputError;
  bool clean = true;
  auto loaded = cases_of_files(verb.files, clean);
  const auto cases = loaded ? choose(*std::move(loaded), verb) : std::nullopt;
  const auto chosen = cases ? plan_all(verb, *catalog, *cases) : std::nullopt;
  if (!chosen) return kInputError;
  const std::vector<PlannedCase>& planned = *chosen;
  emit(verb.output.format == "json" ? write_shard_plans(planned, cases_digest(verb, entries))
       : planned.size() == 1        ? as_steps(planned.front())
                                    : cases_table(planned),
       verb.output.out);
  return all_answered(planned) && clean ? kDone : kInputError;
}

}  // namespace

void add_shard(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "shard", "Plan resharding and sharded operations: which collectives, and how many bytes they send");
  const auto options = std::make_shared<ShardVerb>();
  verb.add_option("FILE", options->files, "Files of cases, JSON; - is standard input")->required();
  verb.add_option("--only", options->categories, "Cases of this category")->type_name("CATEGORY");
  verb.add_option("--case", options->ids, "The case of this id; a table of one case lists its steps")
      ->type_name("ID");
  add_network_options(verb, options->network);
  real_number(verb.add_option("--tflops", options->tflops, "What one chip computes, on a fabric"), 1e-3, 1e6)
      ->capture_default_str()
      ->type_name("TFLOP/s");
  add_catalog_option(verb, options->catalog_directories);
  verb.add_option("--format", options->output.format, "How to write the plans")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  verb.add_option("--out", options->output.out, "Write to this file")->type_name("FILE");
  verb.footer(
      "A case names no fabric: the plan that sends the fewest bytes wins, then the one with fewer FLOPs, "
      "then\n"
      "the one with fewer steps. With --fabric the mesh lies on its chips, and predicted time decides. "
      "docs/reference/sharding-cases.md describes cases and plans.\n"
      "Exit code 0: all cases planned that state sizes; 2: a file or an option must be changed, where the "
      "other\n"
      "cases of a file with a mistake are planned all the same.\n"
      "Examples:\n"
      "  podsim shard scenarios/sharding/gspmd_cases.json\n"
      "  podsim shard scenarios/sharding/gspmd_cases.json --only conv\n"
      "  podsim shard scenarios/sharding/gspmd_cases.json --case xla-conv-halo-reshard\n"
      "  podsim shard scenarios/sharding/fabric_choices.json --case long_contraction --fabric dgx_h100 "
      "--chips "
      "16\n"
      "  podsim shard scenarios/sharding/gspmd_cases.json --format json --out plans.json");
  verb.callback([options, &exit_code] { exit_code = shard(*options); });
}

}  // namespace podsim
