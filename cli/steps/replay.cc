// podsim replay: what slow workers and operations cost a training run of which a trace was recorded.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/answers/page_output.h"
#include "cli/answers/page_parts.h"
#include "cli/answers/trace_output.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/scenarios/question.h"
#include "cli/steps/verbs.h"
#include "cli/steps/what_if_json.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "proto/pages/run_page.h"
#include "proto/text/quantities.h"
#include "proto/traces/trace_file.h"
#include "report/pictures/run_pictures.h"
#include "report/tables/what_if_text.h"
#include "report/text/text.h"
#include "report/tracks/replay_tracks.h"
#include "scheduler/replay/replay_graph.h"

namespace podsim {
namespace {

struct ReplayVerb {
  std::string trace, meta, steps, html;
  TraceFiles traces;
  OutputOptions output;
};

std::string heading(const ReplayVerb& verb, const WhatIf& result) {
  std::string text = verb.trace + ": " + std::to_string(result.data_ranks()) + " data ranks x " +
                     std::to_string(result.stages()) + " stages, " + std::to_string(result.steps.size()) +
                     " steps\n";
  for (const std::string& note : result.notes) text += "note: " + note + "\n";
  return text + "\n";
}

// The steps of --steps, none without it; nothing where it is wrong, which is said.
std::optional<std::vector<std::int32_t>> chosen_steps(const std::string& text) {
  if (text.empty()) return std::vector<std::int32_t>{};
  const auto listed = parse_index_list(text);
  const bool steps =
      listed && std::ranges::all_of(*listed, [](std::int64_t step) { return step <= INT32_MAX; });
  if (!steps) {
    spdlog::error("--steps \"{}\": expected steps such as 16,21 or 100..120", text);
    return std::nullopt;
  }
  return std::vector<std::int32_t>(listed->begin(), listed->end());
}

std::string trace_digest(const ReplayVerb& verb) {
  std::vector<std::string> files = {verb.trace};
  if (!verb.meta.empty()) files.push_back(verb.meta);
  return sha256_of_files("replay " + verb.steps, files);
}

Page replay_page(const std::string& name, const WhatIf& result, const std::string& json) {
  Page page{.title = name + ": who was slow"};
  page.json = json;
  page.answer = "Likely cause: " + result.likely_cause + ".";
  page.figures = {{"slowdown", {fixed(result.S.mean, 4), "S"}, "of a step, against the ideal one"}};
  PagePanel workers{"workers", "Who makes others wait"};
  workers.pictures.push_back(heat_picture(result));
  workers.tables.push_back(worker_table(result));
  page.panels = {std::move(workers), text_panel(what_if_text(result))};
  return page;
}

int replay(const ReplayVerb& verb) {
  const auto steps = chosen_steps(verb.steps);
  const auto part = trace_excerpt(verb.traces);
  if (!steps || !part) return kInputError;
  if (verb.trace == "-" || verb.meta == "-") {
    spdlog::error("replay reads its trace and what describes the run from files, not from standard input");
    return kInputError;
  }
  std::vector<Problem> problems;
  const auto trace = read_trace(verb.trace, verb.meta, problems);
  print_problems(problems);
  if (!trace) return kInputError;
  try {
    const WhatIf result = what_if(*trace, *steps);
    if (!verb.html.empty())
      write_page(replay_page(verb.trace, result, what_if_json(result, trace_digest(verb))), std::nullopt,
                 verb.html);
    if (verb.traces.any() &&
        !write_trace_files(replay_tracks(verb.trace, *trace, result.steps.front()), verb.traces, *part))
      return kInputError;
    emit(verb.output.format == "json" ? what_if_json(result, trace_digest(verb))
                                      : heading(verb, result) + what_if_text(result),
         verb.output.out);
  } catch (const ReplayError& error) {
    spdlog::error("{}: {}", verb.trace, error.what());
    return kInputError;
  }
  return kDone;
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "replay", "Tell from a recorded trace of a training run who was slow and what that cost");
  const auto options = std::make_shared<ReplayVerb>();
  verb.add_option("FILE", options->trace, "Trace: operations of sampled steps, plain or compressed by gzip")
      ->required();
  verb.add_option("--meta", options->meta, "What describes the run; without it nothing shares a data rank")
      ->type_name("META.yaml");
  verb.add_option("--steps", options->steps, "Only these steps of the trace: 16,21 or 100..120")
      ->type_name("STEPS");
  add_output_options(verb, options->output, {"table", "json"});
  add_html_option(verb, options->html);
  add_trace_options(
      verb,
      "the first of the steps as a trace to look at in Perfetto: each worker as it was recorded, and "
      "as it would be if every operation took its ideal time",
      options->traces);
  verb.footer(
      "Columns, figures and JSON keys: docs/theory/stragglers.md.\n"
      "Examples:\n"
      "  podsim replay trace.csv.gz --meta meta.yaml\n"
      "  podsim replay trace.csv.gz --meta meta.yaml --steps 100 --perfetto step100.pftrace\n"
      "  podsim replay trace.csv --steps 100..120 --format json --out what_if.json");
  verb.callback([options, &exit_code] { exit_code = replay(*options); });
}

}  // namespace podsim
