// podsim plan: on which cluster to train, how it is laid out there, what it costs and when it is done.
#include "planner/plan/plan.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/page_output.h"
#include "cli/plan_text.h"
#include "cli/quantities.h"
#include "cli/store_option.h"
#include "cli/terminal.h"
#include "cli/verb_pages.h"
#include "cli/verbs.h"
#include "engine/parallel_for.h"
#include "proto/text/read_file.h"

namespace podsim {
namespace {

struct PlanVerb {
  std::string file;
  double tokens = 0;
  double days = 0, budget = 0;
  std::string chips = "256..2048x2", chip, precision, price_term = "on_demand", objective = "usd";
  std::string gap = "1%", out, store, html;
  std::string format = "table", color = "auto";
  LoadOptions load;
  int threads = 0;
  bool quiet = false;
};

std::vector<std::string> names(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  for (const std::string& word : split(list, ',')) words.push_back(trim(word));
  return words;
}

// Tells what is wrong with the words of the command, if anything is.
std::optional<PlanQuestion> question_of(const PlanVerb& verb, const Catalog& catalog) {
  const auto overrides = verb.load.overrides();
  std::vector<Problem> problems;
  const auto input = read_input(verb.file, problems);
  print_problems(problems);
  if (!overrides || !input) return std::nullopt;
  PlanQuestion question;
  question.file = input->name;
  question.text = input->text;
  question.overrides = *overrides;
  question.tokens = verb.tokens;
  const auto counts = parse_count_range(verb.chips);
  if (!counts || counts->back() > kMaxChips) {
    spdlog::error(
        "--chips \"{}\": expected a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128",
        verb.chips);
    return std::nullopt;
  }
  for (const std::int64_t count : *counts) question.counts.push_back(static_cast<int>(count));
  question.chips = names(verb.chip);
  if (question.chips.empty()) question.chips = {cluster_words(question.text, question.overrides).chip};
  for (const std::string& chip : question.chips) {
    if (catalog.canonical(Catalog::Section::kChips, chip)) continue;
    spdlog::error("--chip: the catalogue has no chip \"{}\"; {}", chip,
                  catalog.hint(Catalog::Section::kChips, chip));
    return std::nullopt;
  }
  question.price_terms = names(verb.price_term);
  question.precisions = names(verb.precision);
  if (verb.days > 0) question.most_days = verb.days;
  if (verb.budget > 0) question.most_usd = verb.budget;
  question.objective = verb.objective == "days"     ? PlanObjective::kDays
                       : verb.objective == "energy" ? PlanObjective::kEnergy
                                                    : PlanObjective::kUsd;
  const auto gap = share_of(verb.gap);
  if (!gap) {
    spdlog::error("--gap \"{}\": expected a share such as 2% or 0.02", verb.gap);
    return std::nullopt;
  }
  question.gap = *gap;
  return question;
}

int plan(const PlanVerb& verb) {
  if (verb.quiet) spdlog::set_level(spdlog::level::err);
  const auto catalog = open_catalog(verb.load.catalog_directories);
  if (!catalog) return kInputError;
  const auto question = question_of(verb, *catalog);
  if (!question) return kInputError;
  const Interrupt interrupt;
  PlanOptions options;
  options.threads = threads_or_cores(verb.threads);
  options.stop = &interrupt.asked();
  const auto store = open_result_store(verb.store);
  options.store = store.get();
  const PlanAnswer answer = plan_training(*question, *catalog, options);
  if (store) store->close();
  if (answer.rows.empty()) {
    const std::string refusals = refusals_text(answer);
    if (answer.stopped) {
      spdlog::error("the plan was stopped before it had a cluster with a layout{}{}",
                    refusals.empty() ? "" : ":\n", refusals);
      return kInternalError;
    }
    spdlog::error("no cluster can train this:\n{}", refusals);
    return kInfeasible;
  }
  if (!verb.out.empty()) write_whole(verb.out, answer.rows.front().scenario);
  if (!verb.html.empty()) write_page(plan_page(*question, answer), verb.file, verb.html);
  emit(verb.format == "json"  ? plan_json(*question, answer)
       : verb.format == "csv" ? plan_csv(answer)
                              : plan_table(*question, answer),
       "");
  if (verb.format == "table" && answer.rows.size() > 1 && draws_plots(verb.color))
    emit_plot(plan_page(*question, answer).panels.front().pictures.front(), verb.color);
  return answer.rows.front().meets(*question) ? kDone : kInfeasible;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "plan", "Compare clusters for a training run: the fastest layout on each, days, dollars and energy");
  const auto options = std::make_shared<PlanVerb>();
  verb.add_option("FILE", options->file, "Scenario file: the job, and what may vary of its layout")
      ->required();
  verb.add_option("--tokens", options->tokens, "To be trained: 15e12")
      ->required()
      ->check(CLI::Range(1.0, 1e18))
      ->type_name("N");
  verb.add_option("--days", options->days, "Deadline")->check(CLI::Range(0.001, 36500.0))->type_name("DAYS");
  verb.add_option("--budget", options->budget, "What may be spent: 30e6")
      ->check(CLI::Range(1.0, 1e12))
      ->type_name("USD");
  verb.add_option("--chip", options->chip, "Kinds of chips: h100,tpu_v5p; without it that of the scenario")
      ->type_name("NAME,...");
  verb.add_option("--chips", options->chips, "How many: 256..16384x2, 512..1024+128 or 512,768")
      ->capture_default_str()
      ->type_name("RANGE");
  verb.add_option("--precision", options->precision,
                  "Recipes of the stack: bf16,fp8; without it the scenario's")
      ->type_name("NAME,...");
  verb.add_option("--price-term", options->price_term, "Contracts: on_demand,committed_1y,spot")
      ->capture_default_str()
      ->type_name("TERM,...");
  verb.add_option("--minimise", options->objective, "What to minimise")
      ->check(CLI::IsMember({"usd", "days", "energy"}))
      ->capture_default_str();
  verb.add_option("--gap", options->gap, "A layout is good enough where none is faster by more than this")
      ->capture_default_str()
      ->type_name("SHARE");
  verb.add_option("--out", options->out, "Write the first row as a scenario to this file")->type_name("FILE");
  add_store_option(verb, options->store);
  verb.add_option("--format", options->format, "Form of the answer")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  verb.add_option("--threads", options->threads, "Threads; without it as many as the machine has cores")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  verb.add_flag("-q,--quiet", options->quiet, "No warnings");
  add_load_options(verb, options->load);
  add_html_option(verb, options->html);
  add_color_option(verb, options->color);
  verb.footer(
      "A chip of another kind than the scenario's has the usual fabric of the catalogue, and a generic stack "
      "where "
      "it lacks the kernels of the scenario's. Days and dollars count failures where the scenario has a "
      "block "
      "reliability; without it spot is refused.\n"
      "Exit code 3: no choice meets the deadline and the budget; the first row comes nearest.\n"
      "Examples:\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --days 60 --chips 8..32x2\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chip h100,h200 --chips 8,16\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --budget 1e6 --minimise "
      "days "
      "--format csv\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --store runs.db");
  verb.callback([options, &exit_code] { exit_code = plan(*options); });
}

}  // namespace podsim
