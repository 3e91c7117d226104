// podsim fleet: several runs over a year on one fleet, or on fleets of several chips, and what they serve.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "cli/costs/fleet_text.h"
#include "cli/costs/inference.h"
#include "cli/costs/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "economics/steady_run.h"
#include "engine/unit_factors.h"
#include "planner/plan/plan_weeks.h"
#include "proto/catalog/chip_prices.h"
#include "proto/scenario/load.h"
#include "proto/writing/result_json.h"
#include "report/summary/document_rate.h"
#include "report/text/text.h"
#include "scheduler/question/plan_limits.h"

namespace podsim {
namespace {

struct FleetVerb {
  std::vector<std::string> files, serve;
  std::vector<double> tokens, serve_rates;
  double days = 365;
  int chips = 0;
  InferenceOptions inference;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

// What has been read: scenarios with the texts that they are of.
struct FleetScenarios {
  Catalog catalog;
  std::vector<Override> overrides;
  std::vector<Spec> runs, served;
  std::vector<InputText> run_texts, served_texts;
};

constexpr int kMostFleetChips = 10'000'000;

double tokens_of(const FleetVerb& verb, std::size_t run) {
  return verb.tokens.size() == 1 ? verb.tokens.front() : verb.tokens[run];
}

// A run of weeks of it, or of steps where it has no block reliability.
struct Trained {
  double days = 0, mwh = 0;
  int spare_chips = 0;
  bool fits = true;
};

// Medians over failures where the scenario has a block reliability.
std::optional<Trained> trained(const Spec& spec, const InputText& text, double tokens,
                               const FleetScenarios& loaded, const FleetVerb& verb) {
  if (!spec.asks_weeks) {
    const Report report = predict_all(std::span(&spec, 1), verb.run).front().report;
    const SteadyRun run = steady_run(steady_step(report), tokens, spec.cluster.price);
    return Trained{run.days, run.mwh, 0, report.memory.fits};
  }
  std::string why;
  const WeeksWish wish{
      .file = text.name, .scenario = text.text, .tokens = tokens, .overrides = loaded.overrides};
  const auto weeks = runs_of_weeks(wish, loaded.catalog, verb.run.threads, why);
  if (weeks)
    return Trained{weeks->figures.days.p50, weeks->figures.energy_mwh.p50, weeks->spare_chips,
                   weeks->fits_in_memory};
  spdlog::error("{}: {}", text.name, why);
  return std::nullopt;
}

// Of the scenario's list and provider, with its factors; nothing where they have none. A price of its own is
// that of an hour on demand.
std::optional<Price> price_of(const InputText& text, const std::string& term, const FleetScenarios& loaded) {
  std::vector<Override> overrides = loaded.overrides;
  overrides.push_back({"cluster.price_term", term});
  const LoadResult priced = load_scenario(text.name, text.text, loaded.catalog, overrides);
  if (!priced.spec) return std::nullopt;
  const Price& price = priced.spec->cluster.price;
  if (price.name == kOwnPrice && term != kOnDemandTerm) return std::nullopt;
  return price;
}

// The fleet of the scenario's chip: the first scenario on it says whose prices hold. Null, and a message,
// where there is no price on demand.
Fleet* fleet_of(const Spec& spec, const InputText& text, const FleetScenarios& loaded,
                std::map<std::string, Fleet>& fleets) {
  const auto [fleet, is_new] = fleets.try_emplace(spec.cluster.chip.name);
  if (!is_new) return &fleet->second;
  const auto on_demand = price_of(text, kOnDemandTerm, loaded),
             committed = price_of(text, "committed_1y", loaded);
  if (!on_demand) {
    spdlog::error("{}: {} has no price of {} on demand: give cluster.usd_per_chip_hour", text.name,
                  spec.cluster.price.name, spec.cluster.chip.name);
    return nullptr;
  }
  fleet->second.on_demand_usd = on_demand->usd_per_chip_hour;
  fleet->second.usd_per_kwh = on_demand->usd_per_kwh;
  fleet->second.carbon = spec.cluster.carbon;
  if (committed) fleet->second.committed_usd = committed->usd_per_chip_hour;
  return &fleet->second;
}

// Runs in their places and the cheapest commitment; false where a run is larger than its fleet.
bool settle(std::map<std::string, Fleet>& fleets, const FleetVerb& verb) {
  for (auto& [chip, fleet] : fleets) {
    std::int64_t serving = 0, largest = 0;
    for (std::size_t i = 0; i < fleet.runs.size(); ++i) {
      const std::int64_t chips = fleet.runs[i].chips;
      if (static_cast<int>(i) < fleet.serving)
        serving += chips;
      else
        largest = std::max(largest, chips);
    }
    const std::int64_t most = verb.chips > 0 ? verb.chips : kMostFleetChips;
    if (serving + largest > most) {
      spdlog::error("the fleet has {} {}: {} serve, and a run takes {}", most, chip, serving, largest);
      return false;
    }
    fleet.chips = verb.chips > 0 ? verb.chips : static_cast<int>(serving + largest);
    fleet.slots = place_runs(fleet.runs, fleet.chips);
    fleet.levels = levels_of(fleet.runs, fleet.slots, verb.days);
    const double kwh = kwh_of_fleet(fleet.runs, fleet.slots, verb.days);
    fleet.energy_usd = kwh * fleet.usd_per_kwh;
    if (fleet.carbon)
      fleet.carbon_t = fleet.carbon->kg(kwh, chip_days(fleet.levels) * kHoursPerDay) / kKgPerTonne;
    fleet.commitment = cheapest_commitment(fleet.levels, fleet.committed_usd, fleet.on_demand_usd);
  }
  return true;
}

bool asks_for_a_fleet(const FleetVerb& verb) {
  if (verb.files.empty() && verb.serve.empty()) {
    spdlog::error("a fleet has at least one run, or something to --serve");
  } else if (!verb.files.empty() && verb.tokens.size() != 1 && verb.tokens.size() != verb.files.size()) {
    spdlog::error("--tokens: one number for all runs, or one for each of the {}", verb.files.size());
  } else if (verb.serve.size() != verb.serve_rates.size()) {
    spdlog::error("--serve and --tokens-per-s go together: a rate for each file that is served");
  } else {
    return true;
  }
  return false;
}

// What is served, in replicas that never rest. The exit code.
int add_served(const FleetScenarios& loaded, const FleetVerb& verb, std::map<std::string, Fleet>& fleets) {
  for (std::size_t i = 0; i < loaded.served.size(); ++i) {
    const Spec& spec = loaded.served[i];
    int exit_code = kDone;
    const auto report = inference_of(spec, verb.inference, exit_code);
    if (!report) return exit_code;
    Fleet* fleet = fleet_of(spec, loaded.served_texts[i], loaded, fleets);
    if (fleet == nullptr) return kInputError;
    const double rate = verb.serve_rates[i];
    const std::int64_t chips = chips_to_serve(*report, rate);
    if (chips > kMostFleetChips) {
      spdlog::error("--tokens-per-s {}: {} would take {} {}, and a fleet has {} at most", shortest(rate),
                    spec.name, chips, report->chip, kMostFleetChips);
      return kInputError;
    }
    const double kwh = report->j_per_token * rate * verb.days * kSecondsPerDay / kJoulesPerKwh;
    fleet->runs.push_back({"serve " + spec.name, static_cast<int>(chips), verb.days, 0, kwh});
    ++fleet->serving;
  }
  return kDone;
}

// What is trained, in the order of the files. The exit code, of what fits in memory too.
int add_trained(const FleetScenarios& loaded, const FleetVerb& verb, std::map<std::string, Fleet>& fleets) {
  int exit_code = kDone;
  for (std::size_t i = 0; i < loaded.runs.size(); ++i) {
    const Spec& spec = loaded.runs[i];
    const auto run = trained(spec, loaded.run_texts[i], tokens_of(verb, i), loaded, verb);
    Fleet* fleet = run ? fleet_of(spec, loaded.run_texts[i], loaded, fleets) : nullptr;
    if (fleet == nullptr) return kInputError;
    if (!run->fits) exit_code = judge_fits({{spec.name, false}});
    fleet->runs.push_back({spec.name, spec.cluster.fabric.chips + run->spare_chips, run->days,
                           run->spare_chips, run->mwh * kKwhPerMwh});
  }
  return exit_code;
}

std::string fleet_question(const FleetScenarios& loaded, const FleetVerb& verb) {
  std::string asked;
  for (std::size_t i = 0; i < loaded.runs.size(); ++i)
    asked += loaded.runs[i].sha256 + " " + shortest(tokens_of(verb, i)) + " ";
  for (std::size_t i = 0; i < loaded.served.size(); ++i)
    asked += loaded.served[i].sha256 + " " + shortest(verb.serve_rates[i]) + " ";
  std::string words = "fleet " + shortest(verb.days);
  if (verb.chips > 0) words += " --chips " + std::to_string(verb.chips);
  if (!loaded.served.empty()) words += " " + inference_words(verb.inference);
  return question_sha256(words, {asked});
}

std::optional<FleetScenarios> read_fleet(const FleetVerb& verb) {
  auto catalog = open_catalog(verb.load.catalog_directories);
  const auto overrides = verb.load.overrides();
  if (!catalog || !overrides) return std::nullopt;
  FleetScenarios loaded{std::move(*catalog), *overrides, {}, {}, {}, {}};
  auto runs = load_scenarios(verb.files, verb.load, loaded.run_texts);
  auto served = load_scenarios(verb.serve, verb.load, loaded.served_texts);
  if (!runs || !served || !have_one_job(*runs, "fleet") || !have_one_job(*served, "fleet"))
    return std::nullopt;
  loaded.runs = *std::move(runs);
  loaded.served = *std::move(served);
  return loaded;
}

int fleet(const FleetVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  if (!asks_for_a_fleet(verb)) return kInputError;
  const auto loaded = read_fleet(verb);
  if (!loaded) return kInputError;
  std::map<std::string, Fleet> fleets;
  if (const int wrong = add_served(*loaded, verb, fleets); wrong != kDone) return wrong;
  if (const int wrong = add_trained(*loaded, verb, fleets); wrong != kDone) return wrong;
  if (!settle(fleets, verb)) return kInfeasible;
  emit(verb.output.format == "json" ? fleet_json(fleets, verb.days, fleet_question(*loaded, verb))
                                    : fleet_text(fleets, verb.days),
       verb.output.out);
  return kDone;
}

}  // namespace

void add_fleet(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "fleet",
      "Put several runs on a fleet over a year: when each ends, how much is used, what to commit to");
  const auto options = std::make_shared<FleetVerb>();
  verb.add_option("FILE", options->files, "Scenario files of runs, in the order in which they get chips");
  real_number(
      verb.add_option("--tokens", options->tokens, "Tokens to be trained: one number, or one for each file")
          ->delimiter(','),
      kPlanTokens.least, kPlanTokens.most);
  verb.add_option("--serve", options->serve, "Scenario files of models that are served all the time");
  real_number(verb.add_option("--tokens-per-s", options->serve_rates,
                              "Output tokens a second, for each file of --serve")
                  ->delimiter(','),
              0.001, 1e12);
  real_number(verb.add_option("--days", options->days, "How long the fleet is held")->capture_default_str(),
              1.0, kPlanDays.most);
  whole_number(verb.add_option("--chips", options->chips,
                               "Chips of each kind; missing = what is served and the largest run"),
               1, kMostFleetChips);
  add_inference_options(verb, options->inference);
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "Scenarios on one kind of chip share a fleet; a run waits until enough of it is free. Days are medians "
      "over failures "
      "where\na scenario has a block reliability. Chips of a run are with its spares. Prices are those on "
      "demand and for one year of the list "
      "and\nthe provider of the first scenario on a chip, and energy by the kWh where it says usd_per_kwh.\n"
      "Examples:\n"
      "  podsim fleet scenarios/llama3_70b_512_h100.textproto scenarios/mixtral_8x7b_64_h100.textproto "
      "--tokens "
      "2e12,1e12\n"
      "  podsim fleet scenarios/llama3_70b_512_v5p.textproto --tokens 2e12 --serve "
      "scenarios/inference/llama2_70b_8_l40s.textproto --tokens-per-s 20000");
  verb.callback([options, &exit_code] { exit_code = fleet(*options); });
}

}  // namespace podsim
