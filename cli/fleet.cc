// podsim fleet: several runs over a year on one fleet, or on fleets of several chips, and what they serve.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/inference.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "economics/portfolio.h"
#include "planner/plan/plan_weeks.h"
#include "proto/catalog/chip_prices.h"
#include "proto/scenario/write_layout.h"
#include "proto/text/quantities.h"
#include "proto/text/question_digest.h"
#include "proto/text/read_file.h"
#include "proto/writing/figure_json.h"
#include "proto/writing/result_json.h"
#include "report/text.h"
#include "report/write.h"

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

// Chips of one kind, and what they do.
struct Fleet {
  int chips = 0;
  std::vector<FleetRun> runs;  // those that serve first, for all days
  std::vector<FleetSlot> slots;
  std::vector<FleetLevel> levels;
  Price price;                                  // of its first scenario, which says whose prices hold
  double on_demand_usd = 0, committed_usd = 0;  // 0 = no such price
  FleetCost commitment;                         // the cheapest
};

// Days until so many tokens are trained: the median over failures where the scenario has a block reliability.
std::optional<double> days_of(const Spec& spec, const std::string& file, double tokens, const FleetVerb& verb,
                              const Catalog& catalog) {
  if (!spec.asks_weeks) {
    const Report report = predict_all(std::span(&spec, 1), verb.run).front().report;
    constexpr double kSecondsPerDay = 86400;
    return tokens / report.tokens_per_s / kSecondsPerDay;
  }
  std::vector<Problem> problems;
  const auto input = read_input(file, problems);
  print_problems(problems);
  const auto overrides = verb.load.overrides();
  if (!input || !overrides) return std::nullopt;
  std::string why;
  const WeeksWish wish{input->name, scenario_with_overrides(input->text, *overrides), tokens};
  const auto weeks = runs_of_weeks(wish, catalog, verb.run.threads, why);
  if (weeks) return weeks->figures.days.p50;
  spdlog::error("{}: {}", file, why);
  return std::nullopt;
}

// Of the list and the provider of the scenario; a price of its own is that of an hour on demand.
double price_of(const std::vector<PriceRow>& rows, const std::string& chip, const std::string& term,
                const Price& own) {
  const auto row = std::ranges::find_if(rows, [&](const PriceRow& each) {
    return each.chip == chip && each.term == term && each.list == own.name &&
           (own.provider.empty() || each.provider == own.provider);
  });
  if (row != rows.end()) return row->usd_per_chip_hour;
  return term == "on_demand" ? own.usd_per_chip_hour : 0;
}

Fleet& fleet_of(const Spec& spec, std::map<std::string, Fleet>& fleets) {
  const auto [fleet, is_new] = fleets.try_emplace(spec.cluster.chip.name);
  if (is_new) fleet->second.price = spec.cluster.price;
  return fleet->second;
}

// Runs in their places and the cheapest commitment; false where a run is larger than its fleet.
bool settle(std::map<std::string, Fleet>& fleets, const FleetVerb& verb,
            const std::vector<PriceRow>& prices) {
  for (auto& [chip, fleet] : fleets) {
    int serving = 0, largest = 0;
    for (const FleetRun& run : fleet.runs) {
      if (run.days == verb.days && run.name.starts_with("serve "))
        serving += run.chips;
      else
        largest = std::max(largest, run.chips);
    }
    fleet.chips = verb.chips > 0 ? verb.chips : serving + largest;
    if (serving + largest > fleet.chips) {
      spdlog::error("the fleet has {} {}: {} serve, and a run takes {}", fleet.chips, chip, serving, largest);
      return false;
    }
    fleet.slots = place_runs(fleet.runs, fleet.chips);
    fleet.levels = levels_of(fleet.runs, fleet.slots, verb.days);
    fleet.on_demand_usd = price_of(prices, chip, "on_demand", fleet.price);
    fleet.committed_usd = price_of(prices, chip, "committed_1y", fleet.price);
    fleet.commitment = cheapest_commitment(fleet.levels, fleet.committed_usd > 0 ? fleet.committed_usd : 1e9,
                                           fleet.on_demand_usd);
  }
  return true;
}

double use_of(const Fleet& fleet, double days) { return chip_days(fleet.levels) / (fleet.chips * days); }
double usd_with(const Fleet& fleet, int committed) {
  return cost_of_fleet(fleet.levels, committed, fleet.committed_usd, fleet.on_demand_usd).usd;
}

std::string fleet_text(const std::map<std::string, Fleet>& fleets, double days) {
  std::vector<std::vector<std::string>> runs = {{"run", "chips", "from day", "to day", ""}};
  std::vector<std::vector<std::string>> costs = {{"fleet", "used", "on demand, M USD", "all committed, M USD",
                                                  "worth committing", "then, M USD", "committed pays from"}};
  const auto millions = [](double usd) { return significant(usd / 1e6, 4); };
  for (const auto& [chip, fleet] : fleets) {
    for (std::size_t i = 0; i < fleet.runs.size(); ++i)
      runs.push_back({fleet.runs[i].name, std::to_string(fleet.runs[i].chips) + " " + chip,
                      fixed(fleet.slots[i].begin, 1), fixed(fleet.slots[i].end, 1),
                      fleet.slots[i].end > days ? "ends after the term" : ""});
    const bool commits = fleet.committed_usd > 0;
    costs.push_back({std::to_string(fleet.chips) + " " + chip, percent(use_of(fleet, days)),
                     millions(usd_with(fleet, 0)), commits ? millions(usd_with(fleet, fleet.chips)) : "-",
                     std::to_string(fleet.commitment.committed_chips) + " chips",
                     millions(fleet.commitment.usd),
                     commits ? percent(fleet.committed_usd / fleet.on_demand_usd) + " use" : "-"});
  }
  return significant(days, 4) + " days\n\n" + align(runs) + "\n" + align(costs);
}

std::string fleet_json(const std::map<std::string, Fleet>& fleets, double days, const std::string& sha256) {
  std::vector<Figure> list;
  for (const auto& [chip, fleet] : fleets) {
    std::vector<Figure> runs;
    for (std::size_t i = 0; i < fleet.runs.size(); ++i)
      runs.push_back(Figure::group("", {{"name", fleet.runs[i].name},
                                        {"chips", fleet.runs[i].chips},
                                        {"begin_day", fleet.slots[i].begin},
                                        {"end_day", fleet.slots[i].end}}));
    list.push_back(Figure::group("", {{"chip", chip},
                                      {"chips", fleet.chips},
                                      {"used", use_of(fleet, days)},
                                      {"on_demand_usd_per_chip_hour", fleet.on_demand_usd},
                                      {"committed_usd_per_chip_hour", fleet.committed_usd},
                                      {"on_demand_usd", usd_with(fleet, 0)},
                                      {"committed_usd", usd_with(fleet, fleet.chips)},
                                      {"best_committed_chips", fleet.commitment.committed_chips},
                                      {"best_usd", fleet.commitment.usd},
                                      Figure::list("runs", std::move(runs))}));
  }
  return json_text(result_figure(sha256, {{"days", days}, Figure::list("fleets", std::move(list))}),
                   JsonNumbers::kWithPoint);
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

// What is served, in replicas that never rest.
bool add_served(const std::vector<Spec>& specs, const FleetVerb& verb, std::map<std::string, Fleet>& fleets) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto report = inference_of(specs[i], verb.inference);
    if (!report) return false;
    fleet_of(specs[i], fleets)
        .runs.push_back({"serve " + specs[i].name, chips_to_serve(*report, verb.serve_rates[i]), verb.days});
  }
  return true;
}

int fleet(const FleetVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  if (!asks_for_a_fleet(verb)) return kInputError;
  const auto catalog = open_catalog(verb.load.catalog_directories);
  const auto runs = load_scenarios(verb.files, verb.load);
  const auto served = load_scenarios(verb.serve, verb.load);
  if (!catalog || !runs || !served || !have_one_job(*runs, "fleet") || !have_one_job(*served, "fleet"))
    return kInputError;
  std::map<std::string, Fleet> fleets;
  if (!add_served(*served, verb, fleets)) return kInfeasible;
  std::string sha256;
  for (std::size_t i = 0; i < runs->size(); ++i) {
    const Spec& spec = (*runs)[i];
    const double tokens = verb.tokens.size() == 1 ? verb.tokens.front() : verb.tokens[i];
    const auto days = days_of(spec, verb.files[i], tokens, verb, *catalog);
    if (!days) return kInputError;
    fleet_of(spec, fleets).runs.push_back({spec.name, spec.cluster.fabric.chips, *days});
    sha256 += spec.sha256 + " " + shortest(tokens) + " ";
  }
  for (std::size_t i = 0; i < served->size(); ++i)
    sha256 += (*served)[i].sha256 + " " + shortest(verb.serve_rates[i]) + " ";
  if (!settle(fleets, verb, price_rows(*catalog))) return kInfeasible;
  emit(verb.output.format == "json"
           ? fleet_json(fleets, verb.days, question_sha256("fleet " + shortest(verb.days), {sha256}))
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
  verb.add_option("--tokens", options->tokens, "Tokens to be trained: one number, or one for each file")
      ->delimiter(',');
  verb.add_option("--serve", options->serve, "Scenario files of models that are served all the time");
  verb.add_option("--tokens-per-s", options->serve_rates, "Output tokens a second, for each file of --serve")
      ->delimiter(',');
  real_number(verb.add_option("--days", options->days, "How long the fleet is held")->capture_default_str(),
              1.0, 36500.0);
  whole_number(verb.add_option("--chips", options->chips,
                               "Chips of each kind; missing = what is served and the largest run"),
               1, 10'000'000);
  add_inference_options(verb, options->inference);
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "Scenarios on one kind of chip share a fleet; a run waits until enough of it is free. Days are medians "
      "over failures "
      "where\na scenario has a block reliability. Prices are those on demand and for one year of the list "
      "and "
      "the provider of the first scenario on a chip.\n"
      "Examples:\n"
      "  podsim fleet scenarios/llama3_70b_512_h100.textproto scenarios/mixtral_8x7b_64_h100.textproto "
      "--tokens "
      "2e12,1e12\n"
      "  podsim fleet scenarios/llama3_70b_512_v5p.textproto --tokens 2e12 --serve "
      "scenarios/inference/llama2_70b_8_l40s.textproto --tokens-per-s 20000");
  verb.callback([options, &exit_code] { exit_code = fleet(*options); });
}

}  // namespace podsim
