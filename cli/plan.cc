// podsim plan: on which cluster to train, how it is laid out there, what it costs and when it is done.
#include "planner/plan/plan.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/chip_terms.h"
#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/page_output.h"
#include "cli/parts.h"
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
  std::vector<std::string> files;
  double tokens = 0;
  double days = 0, budget = 0;
  double probability = 0;
  double site_kw = 0;
  ChipTermOptions terms;
  std::string counts = "256..2048x2", chip, precision, price_term = "on_demand", objective = "usd";
  std::string gap = "1%", out, store, html;
  PartOptions parts;
  std::string format = "table", color = "auto";
  LoadOptions load;
  int threads = 0;
  bool pareto = false, quiet = false;
};

std::vector<std::string> names(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  for (const std::string& word : split(list, ',')) words.push_back(trim(word));
  return words;
}

// A file with the chips that it may run on; tells what is wrong with its name or with the chips.
std::optional<PlanScenario> scenario_of(const PlanVerb& verb, const std::string& file,
                                        const Catalog& catalog) {
  const auto overrides = verb.load.overrides();
  std::vector<Problem> problems;
  const auto input = read_input(file, problems);
  print_problems(problems);
  if (!overrides || !input) return std::nullopt;
  PlanScenario scenario{input->name, input->text, *overrides, names(verb.chip), {}};
  if (scenario.chips.empty()) scenario.chips = {cluster_words(scenario.text, scenario.overrides).chip};
  for (const std::string& chip : scenario.chips) {
    if (catalog.canonical(Catalog::Section::kChips, chip)) continue;
    spdlog::error("--chip: the catalogue has no chip \"{}\"; {}", chip,
                  catalog.hint(Catalog::Section::kChips, chip));
    return std::nullopt;
  }
  return scenario;
}

// Tells what is wrong with the words of the command, if anything is.
std::optional<PlanQuestion> question_of(const PlanVerb& verb, const Catalog& catalog) {
  PlanQuestion question;
  if (verb.files.size() > 1 && !verb.chip.empty()) {
    spdlog::error("--chip goes with one scenario: of several each has its own chip");
    return std::nullopt;
  }
  if (verb.probability > 0 && verb.days == 0 && verb.budget == 0) {
    spdlog::error("--probability is that of --days and --budget: give one of them");
    return std::nullopt;
  }
  for (const std::string& file : verb.files) {
    auto scenario = scenario_of(verb, file, catalog);
    if (!scenario) return std::nullopt;
    question.scenarios.push_back(*std::move(scenario));
  }
  question.tokens = verb.tokens;
  if (verb.probability > 0) question.probability = verb.probability;
  const auto counts = parse_count_range(verb.counts);
  if (!counts || counts->back() > kMaxChips) {
    spdlog::error(
        "--chips \"{}\": expected a range such as 64..4096x2 or 64..512+64, or a list such as 64,96,128",
        verb.counts);
    return std::nullopt;
  }
  for (PlanScenario& scenario : question.scenarios) scenario.counts.assign(counts->begin(), counts->end());
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
  question.pareto = verb.pareto;
  if (verb.site_kw > 0) question.most_kw = verb.site_kw;
  auto terms = chip_terms_of(verb.terms, catalog);
  if (!terms) return std::nullopt;
  question.terms = *std::move(terms);
  return question;
}

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
  const auto catalog = open_catalog(verb.load.catalog_directories);
  if (!catalog) return kInputError;
  const auto question = question_of(verb, *catalog);
  if (!question) return kInputError;
  const auto part = part_of(verb.parts);
  if (!part) return kInputError;
  if (const auto code = run_by_engine(verb.parts, {verb.files, verb.load.catalog_directories, verb.store}))
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
    write_page(plan_page(*question, answer), PageSources{verb.files, verb.load}, verb.html);
  emit(verb.format == "json"  ? plan_json(*question, answer)
       : verb.format == "csv" ? plan_csv(*question, answer)
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
  verb.add_option("FILE", options->files,
                  "Scenario file: the job, and what may vary of its layout; of several each has its own chip")
      ->required();
  real_number(verb.add_option("--tokens", options->tokens, "To be trained: 15e12")->required(), 1.0, 1e18)
      ->type_name("N");
  real_number(verb.add_option("--days", options->days, "Deadline"), 0.001, 36500.0)->type_name("DAYS");
  real_number(verb.add_option("--budget", options->budget, "What may be spent: 30e6"), 1.0, 1e12)
      ->type_name("USD");
  real_number(
      verb.add_option("--probability", options->probability,
                      "With which the deadline and the budget are to hold: 0.9; without it as if all came as "
                      "predicted"),
      0.01, 0.99)
      ->type_name("P");
  verb.add_option("--chip", options->chip, "Kinds of chips: h100,tpu_v5p; without it that of the scenario")
      ->type_name("NAME,...");
  verb.add_option("--chips", options->counts, "How many: 256..16384x2, 512..1024+128 or 512,768")
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
  real_number(verb.add_option("--site-kw", options->site_kw,
                              "Power that a site can draw: clusters that draw more are left out"),
              0.01, 1e9)
      ->type_name("KW");
  add_chip_term_options(verb, options->terms);
  verb.add_flag("--pareto", options->pareto, "Only rows that no other beats in chips, days and USD");
  verb.add_option("--out", options->out,
                  "Write the first row as a scenario to this file; to a folder, FOLDER/, every row")
      ->type_name("FILE");
  add_store_option(verb, options->store);
  add_part_options(verb, options->parts);
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
      "Not known are the time of a step (its error band, one for each kind of chip and stack), failures, and "
      "the price (the range of the offers): of each row the range of eight outcomes in ten, the probability "
      "to "
      "turn out best, and what it costs in the mean that another would have been; then what the first row "
      "hangs "
      "on.\n"
      "Exit code 3: no choice meets the deadline and the budget; the first row comes nearest.\n"
      "Examples:\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --days 60 --chips 8..32x2\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chip h100,h200 --chips 8,16 --days "
      "60 --probability 0.9\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --budget 1e6 --minimise "
      "days "
      "--format csv\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chips 8,16 --store runs.db\n"
      "  podsim plan scenarios/qwen3_14b_8_h100.textproto --tokens 1e11 --chip h100,h200 --chips 8,16 "
      "--from-day h200=14 --most-chips h100=8 --one-off-usd h200=5e3");
  verb.callback([options, &exit_code] { exit_code = plan(*options); });
}

}  // namespace podsim
