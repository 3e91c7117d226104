// podsim plan: on which cluster to train, how it is laid out there, what it costs and when it is done.
#include "planner/plan/plan.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/answers/page_output.h"
#include "cli/answers/render.h"
#include "cli/options/numbers.h"
#include "cli/options/store_option.h"
#include "cli/parts/parts.h"
#include "cli/plan/plan_page.h"
#include "cli/plan/plan_text.h"
#include "cli/plan/plan_words.h"
#include "cli/plan/verbs.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "engine/parallel_for.h"
#include "planner/plan/ask.h"
#include "report/text/text.h"

namespace podsim {
namespace {

struct PlanVerb {
  PlanOptionWords words;
  std::string out, store, html;
  PartOptions parts;
  std::string format = "table", color = "auto";
  int threads = 0;
  bool pareto = false, quiet = false;
};

// The first row to a file, or all to a folder.
void write_rows(const PlanVerb& verb, const PlanAnswer& answer) {
  if (verb.out.empty()) return;
  if (!is_folder(verb.out)) return write_whole(verb.out, answer.rows.front().scenario);
  std::vector<NamedContent> files;
  for (std::size_t i = 0; i < answer.rows.size(); ++i)
    files.push_back({std::to_string(i + 1) + "_" + std::to_string(answer.rows[i].chips) + "_" +
                         answer.rows[i].chip + "_" + answer.rows[i].price_term,
                     answer.rows[i].scenario});
  emit_each(files, "textproto", verb.out);
}

// Searches the clusters of a part, for the store: a choice is among all of them.
int plan_part(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options) {
  const PlanAnswer answer = clusters_of(question, catalog, options);
  emit("part " + std::to_string(options.shard) + " of " + std::to_string(options.shards) + ": " +
           std::to_string(answer.rows.size()) + " rows of " + std::to_string(answer.clusters) +
           " clusters, the choice is among those of all parts\n" + refusals_text(answer),
       "");
  return answer.stopped ? kInternalError : kDone;
}

int plan(const PlanVerb& verb) {
  if (verb.quiet) spdlog::set_level(spdlog::level::err);
  const auto catalog = open_catalog(verb.words.load.catalog_directories);
  if (!catalog) return kInputError;
  auto question = read_plan_question(verb.words, *catalog);
  if (!question) return kInputError;
  question->pareto = verb.pareto;
  const auto part = part_of(verb.parts);
  if (!part) return kInputError;
  if (const auto code =
          run_by_engine(verb.parts, {verb.words.files, verb.words.load.catalog_directories, verb.store}))
    return *code;
  const Interrupt interrupt;
  PlanOptions options;
  options.shard = part->number;
  options.shards = part->of;
  options.threads = threads_or_cores(verb.threads);
  options.stop = &interrupt.asked();
  const auto store = open_result_store(verb.store);
  options.store = store.get();
  if (part->of > 1) return plan_part(*question, *catalog, options);
  const PlanAnswer answer = plan_training(*question, *catalog, options);
  if (answer.clusters_known > 0)
    spdlog::info("the best layouts of {} of {} clusters were in {}", answer.clusters_known, answer.clusters,
                 verb.store);
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
  write_rows(verb, answer);
  if (!verb.html.empty())
    write_page(plan_page(*question, answer), PageSources{verb.words.files, verb.words.load}, verb.html);
  emit(
      answer_text(verb.format,
                  {[&] { return plan_table(*question, answer); },
                   [&] { return plan_json(*question, answer); }, [&] { return plan_csv(*question, answer); }},
                  "PlanAnswer"),
      "");
  if (verb.format == "table" && answer.rows.size() > 1 && draws_plots(verb.color))
    emit_plot(plan_page(*question, answer).panels.front().pictures.front(), verb.color);
  return answer.rows.front().meets(*question) ? kDone : kInfeasible;
}

void add_what_is_chosen_from(CLI::App& verb, PlanOptionWords& words) {
  verb.add_option("FILE", words.files,
                  "Scenario file: the job, and what may vary of its layout; of several each has its own chip")
      ->required();
  real_number(verb.add_option("--tokens", words.tokens,
                              "To be trained: 15e12; without it the scenario's target_tokens"),
              kPlanTokens.least, kPlanTokens.most)
      ->type_name("N");
  real_number(verb.add_option("--days", words.days, "Deadline"), kPlanDays.least, kPlanDays.most)
      ->type_name("DAYS");
  real_number(verb.add_option("--budget", words.budget, "What may be spent: 30e6"), kPlanUsd.least,
              kPlanUsd.most)
      ->type_name("USD");
  real_number(
      verb.add_option("--probability", words.probability,
                      "With which the deadline and the budget are to hold: 0.9; without it as if all came as "
                      "predicted"),
      kPlanProbability.least, kPlanProbability.most)
      ->type_name("P");
  verb.add_option("--chip", words.chip, "Kinds of chips: h100,tpu_v5p; without it that of the scenario")
      ->type_name("NAME,...");
  verb.add_option("--chips", words.counts, "How many: 256..16384x2, 512..1024+128 or 512,768")
      ->default_str("256..2048x2")
      ->type_name("RANGE");
  verb.add_option("--precision", words.precision, "Recipes of the stack: bf16,fp8; without it the scenario's")
      ->type_name("NAME,...");
  verb.add_option(
          "--price-term", words.price_term,
          "Contracts: on_demand,committed_1y,spot; without it the scenario's price_term, or on_demand")
      ->type_name("TERM,...");
  verb.add_option(
          "--minimise", words.objective,
          "What to minimise: usd, days, energy, carbon, chips or regret; of several the others decide "
          "among equals")
      ->default_str("usd")
      ->type_name("NAME,...");
  verb.add_option("--batch-tokens", words.batch_tokens,
                  "Tokens of a step: 4e6..16e6, 4e6..16e6+1e6 or 4e6,8e6; without it the scenario's batch")
      ->type_name("RANGE");
}

void add_what_is_held(CLI::App& verb, PlanOptionWords& words) {
  verb.add_option("--gap", words.gap, "A layout is good enough where none is faster by more than this")
      ->default_str(fixed(100 * kUsualPlanGap, 0) + "%")
      ->type_name("SHARE");
  real_number(
      verb.add_option("--search-seconds", words.search_seconds,
                      "For all searches, each of which has an even share; without it they end by themselves"),
      kPlanSearchSeconds.least, kPlanSearchSeconds.most)
      ->type_name("S");
  verb.add_option("--vary", words.vary,
                  "A number of the scenario that is not known, from its 10th to its 90th percentile: "
                  "cluster.usd_per_kwh=0.05..0.2, or 0.7..2.4x times what it says; may be repeated")
      ->type_name("PATH=LOW..HIGH");
  verb.add_option("--draws", words.draws, "Of what is not known")
      ->check(CLI::Range(static_cast<int>(kPlanDraws.least), static_cast<int>(kPlanDraws.most)))
      ->default_str(std::to_string(kUsualPlanDraws))
      ->type_name("N");
  verb.add_option("--top", words.top, "Rows of the answer; without it all")
      ->check(CLI::Range(static_cast<int>(kPlanRows.least), static_cast<int>(kPlanRows.most)))
      ->type_name("N");
  real_number(verb.add_option("--site-kw", words.site_kw,
                              "Power that a site can draw: clusters that draw more are left out"),
              0.01, 1e9)
      ->type_name("KW");
  verb.add_option(
          "--at-most", words.at_most,
          "Limits on other figures of a row, or of the report of its run: power_kw=4000,carbon_t=1500")
      ->type_name("KEY=NUMBER,...");
  verb.add_option("--at-least", words.at_least, "The same from below: mfu_causal=0.4")
      ->type_name("KEY=NUMBER,...");
  add_chip_term_options(verb, words.terms);
  add_load_options(verb, words.load);
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "plan", "Compare clusters for a training run: the fastest layout on each, days, dollars and energy");
  const auto options = std::make_shared<PlanVerb>();
  add_what_is_chosen_from(verb, options->words);
  add_what_is_held(verb, options->words);
  verb.add_flag("--pareto", options->pareto, "Only rows that no other beats in chips, days and USD");
  verb.add_option("--out", options->out,
                  "Write the first row as a scenario to this file; to a folder, FOLDER/, every row")
      ->type_name("FILE");
  add_store_option(verb, options->store);
  add_part_options(verb, options->parts);
  verb.add_option("--format", options->format, "Form of the answer")->check(CLI::IsMember(report_formats()));
  verb.add_option("--threads", options->threads, "Threads; without it as many as the machine has cores")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  verb.add_flag("-q,--quiet", options->quiet, "No warnings");
  add_html_option(verb, options->html);
  add_color_option(verb, options->color);
  verb.footer(
      "A chip of another kind than the scenario's has the usual fabric of the catalogue, and a generic stack "
      "where "
      "it lacks the kernels of the scenario's. Days and dollars count failures where the scenario has a "
      "block "
      "reliability; without it spot is refused.\n"
      "Not known are the time of a step (its error band, one for each kind of chip and stack), failures, and "
      "the price (the range of the offers): of each row the range of eight outcomes in ten, the probability "
      "to "
      "turn out best, and what it costs in the mean that another would have been; then what the first row "
      "hangs "
      "on.\n"
      "The block plan of a scenario says the same in a file: target_tokens, deadline, budget, limit, "
      "objective, "
      "and a choice for each cluster that may be bought, and beyond that own, carbon, reserve and layout; "
      "what is "
      "said here replaces it.\n"
      "Exit code 3: no choice meets the limits; the first row comes nearest.\n"
      "Examples:\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --days 60 --chips 8..32x2\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chip h100,h200 --chips 8,16 --days "
      "60 --probability 0.9\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --budget 1e6 --minimise "
      "days "
      "--format csv\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --store runs.db\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chip h100,h200 --chips 8,16 "
      "--from-day h200=14 --most-chips h100=8 --one-off-usd h200=5e3\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --batch-tokens 1e5..4e5 "
      "--vary "
      "cluster.usd_per_chip_hour=0.7..1.5x --top 3\n"
      "  podsim plan scenarios/plan/qwen3_14b_60_days.textproto --at-most power_kw=200");
  verb.callback([options, &exit_code] { exit_code = plan(*options); });
}

}  // namespace podsim
