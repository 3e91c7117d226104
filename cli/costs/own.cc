// podsim own: what a job's chips cost when they are bought, against rents; power and carbon.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/costs/own_text.h"
#include "cli/costs/verbs.h"
#include "cli/options/numbers.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/output.h"
#include "prediction/owning.h"
#include "proto/catalog/chip_prices.h"
#include "proto/scenario/owned_chips.h"
#include "proto/writing/result_json.h"
#include "report/text/text.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

// What is given here stands in the place of what the scenario says.
struct OwnVerb {
  std::string file;
  std::optional<std::string> region;
  std::optional<double> chip_usd, host_usd, network_usd, hall_usd, years, interest, residual_share,
      operation_share_per_year, usd_per_kwh, utilisation, idle_pue, pue, kg_per_kwh, embodied_kg, site_kw;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

constexpr const char* kUsualGrid = "world";

// Nothing, and a message, where nobody knows what the chip costs.
std::optional<Ownership> ownership(const OwnVerb& verb, const OwnedChips& chips, double pue) {
  if (!chips.known_capital && !verb.chip_usd) {
    spdlog::error(
        "no price of a {} that is bought is known: give it as --chip-usd, and --host-usd, --network-usd "
        "and --hall-usd for its share of the rest",
        chips.chip);
    return std::nullopt;
  }
  Ownership own = chips.own;
  own.chip_usd = verb.chip_usd.value_or(own.chip_usd);
  own.host_usd = verb.host_usd.value_or(own.host_usd);
  own.network_usd = verb.network_usd.value_or(own.network_usd);
  own.hall_usd = verb.hall_usd.value_or(own.hall_usd);
  own.years = verb.years.value_or(own.years);
  own.interest = verb.interest.value_or(own.interest);
  own.residual_share = verb.residual_share.value_or(own.residual_share);
  own.operation_share_per_year = verb.operation_share_per_year.value_or(own.operation_share_per_year);
  own.usd_per_kwh = verb.usd_per_kwh.value_or(own.usd_per_kwh);
  own.utilisation = verb.utilisation.value_or(own.utilisation);
  own.busy_pue = verb.pue.value_or(pue);
  own.idle_pue = verb.idle_pue.value_or(own.busy_pue);
  return own;
}

// Nothing, and a message, where there is no such grid.
std::optional<double> carbon_of_power(const OwnVerb& verb, const OwnedChips& chips) {
  if (verb.kg_per_kwh) return verb.kg_per_kwh;
  if (!verb.region && chips.kg_per_kwh) return chips.kg_per_kwh;
  const std::string region = verb.region.value_or(kUsualGrid);
  const auto grid = grid_kg_per_kwh(region);
  if (!grid) spdlog::error("--region: no grid \"{}\"; {}", region, unknown_grid_hint(region));
  return grid;
}

// As the scenario has the chip: under the name of the report, with its factor on the price. Of all lists, or
// of the sheet alone that stands in their place.
std::vector<PriceRow> rents_of(const OwnedChips& chips, const std::string& name, const Catalog& catalog,
                               const std::string& sheet) {
  std::vector<PriceRow> rents;
  for (PriceRow& row : price_rows(catalog)) {
    if (row.chip != chips.chip || (!sheet.empty() && row.list != sheet)) continue;
    row.chip = name;
    for (double* usd : {&row.usd_per_chip_hour, &row.low, &row.high}) *usd *= chips.price;
    rents.push_back(std::move(row));
  }
  return rents;
}

// The number of the question: of the scenario with all that is held of its chips, and their rents.
std::string sha256_of(const OwningQuestion& question, const OwningReport& answer, const Spec& spec) {
  const Ownership& own = question.own;
  std::string words = "own";
  for (const double number :
       {own.chip_usd, own.host_usd, own.network_usd, own.hall_usd, own.years, own.interest,
        own.residual_share, own.operation_share_per_year, own.usd_per_kwh, own.utilisation, own.busy_pue,
        own.idle_pue, question.embodied_kg, question.carbon_kg_per_kwh, question.site_kw.value_or(0)})
    words += " " + shortest(number);
  for (const Renting& rent : answer.renting)
    words += " " + rent.price.provider + " " + rent.price.term + " " + shortest(rent.price.usd_per_chip_hour);
  return question_sha256(words, {spec.sha256});
}

// First of them what the scenario says that an hour of its chips is rented for.
void add_own_rent(const Price& price, const std::string& chip, std::vector<PriceRow>& rents) {
  if (price.name != kOwnPrice) return;
  PriceRow row{kOwnPrice,
               chip,
               kOwnPrice,
               price.usd_per_chip_hour,
               price.low_usd_per_chip_hour,
               price.high_usd_per_chip_hour,
               price.minimum_days,
               "",
               "",
               "",
               "the scenario"};
  rents.insert(rents.begin(), std::move(row));
}

int own(const OwnVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  std::vector<InputText> texts;
  const auto specs = load_scenarios({verb.file}, verb.load, texts, {"cluster.owned", "cluster.embodied_kg"});
  if (!specs || !have_one_job(*specs, "own")) return kInputError;
  const auto catalog = open_catalog(verb.load.catalog_directories);
  const auto overrides = verb.load.overrides();
  if (!catalog || !overrides) return kInputError;
  const Spec& spec = specs->front();
  const OwnedChips chips = owned_chips(texts.front().text, *overrides, *catalog);
  const double pue = spec.cluster.price.pue;
  const auto terms = ownership(verb, chips, pue);
  const auto carbon = terms ? carbon_of_power(verb, chips) : std::nullopt;
  if (!carbon) return kInputError;
  const OwningQuestion question{*terms, verb.embodied_kg.value_or(chips.embodied_kg.value_or(0)), *carbon,
                                verb.site_kw};
  const Report report = predict_all(*specs, verb.run).front().report;
  std::vector<PriceRow> rents = rents_of(chips, report.chip, *catalog, verb.load.price_list());
  add_own_rent(spec.cluster.price, report.chip, rents);
  const OwningReport answer =
      owning(report, spec.cluster.chip, spec.cluster.fabric.chips_per_host, pue, question, rents);
  emit(verb.output.format == "json" ? owning_json(answer, sha256_of(question, answer, spec))
                                    : owning_table(answer),
       verb.output.out);
  return judge_fits(fits_of({&report, 1}));
}

void add_ownership(CLI::App& verb, OwnVerb& options) {
  constexpr double kLeastPriceUsd = 0.01, kMostPriceUsd = 1e9;
  const char* per_chip = "; missing = as known of the chip";
  real_number(verb.add_option("--chip-usd", options.chip_usd, std::string("Price of a chip") + per_chip),
              kLeastPriceUsd, kMostPriceUsd);
  real_number(
      verb.add_option("--host-usd", options.host_usd, std::string("Its share of the host") + per_chip), 0,
      kMostPriceUsd);
  real_number(verb.add_option("--network-usd", options.network_usd,
                              std::string("Its share of the network") + per_chip),
              0, kMostPriceUsd);
  real_number(verb.add_option("--hall-usd", options.hall_usd,
                              std::string("Its share of the hall with power and cooling") + per_chip),
              0, kMostPriceUsd);
  const Ownership usual = usual_ownership();
  const auto add = [&](const char* name, std::optional<double>& value, double otherwise, double least,
                       double most, const char* help) {
    real_number(verb.add_option(name, value, help)->default_str(shortest(otherwise)), least, most);
  };
  add("--years", options.years, usual.years, 0.1, 50, "In use");
  add("--interest", options.interest, usual.interest, 0, 1, "A year, as a share");
  add("--residual", options.residual_share, usual.residual_share, 0, 1,
      "What chip, host and network are worth at the end, as a share");
  add("--operation", options.operation_share_per_year, usual.operation_share_per_year, 0, 1,
      "Staff, spares and maintenance a year, as a share of the capital");
  add("--usd-per-kwh", options.usd_per_kwh, usual.usd_per_kwh, 0, 100, "Price of power");
  add("--utilisation", options.utilisation, usual.utilisation, 0.001, 1,
      "Share of the hours in which the chips are used");
  real_number(verb.add_option("--pue", options.pue,
                              "Power of the hall over that of machines at work; missing = of the price list"),
              1.0, 10.0);
  real_number(
      verb.add_option("--idle-pue", options.idle_pue, "The same of machines that wait; missing = --pue"), 1.0,
      100.0);
  real_number(verb.add_option("--site-kw", options.site_kw,
                              "Power that a site can draw: how many of these chips it feeds"),
              0.01, 1e9);
}

}  // namespace

void add_own(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand(
      "own",
      "Say what a job's chips cost when they are bought, from which use on that beats renting, and what "
      "power and carbon they take");
  const auto options = std::make_shared<OwnVerb>();
  verb.add_option("FILE", options->file, "Scenario file; - is standard input")->required();
  add_ownership(verb, *options);
  verb.add_option("--region", options->region, "Grid that the power is from: world, us, eu, sweden, ...")
      ->default_str(kUsualGrid);
  real_number(verb.add_option("--kg-per-kwh", options->kg_per_kwh,
                              "Its carbon, kg of CO2e per kWh, instead of the region's"),
              0.0, 10.0);
  real_number(verb.add_option("--embodied-kg", options->embodied_kg,
                              "Carbon of making a chip with its share of the host, kg of CO2e"),
              0, 1e9);
  add_load_options(verb, options->load);
  add_run_options(verb, options->run);
  add_output_options(verb, options->output, {"table", "json"});
  verb.footer(
      "What is not given here is as the scenario says it (cluster.owned, usd_per_kwh, grid, kg_per_kwh, "
      "embodied_kg,\nhypothetical), and else as is known of the chip and usual: scenarios/economics/ has "
      "each figure with its source.\n"
      "Examples:\n"
      "  podsim own scenarios/llama3_70b_512_h100.textproto --region us\n"
      "  podsim own scenarios/llama3_70b_512_h100.textproto --utilisation 0.5 --years 5 --residual 0.1\n"
      "  podsim own scenarios/llama3_70b_512_v5p.textproto --chip-usd 12000 --hall-usd 6000 --format json\n"
      "  podsim own scenarios/llama3_70b_512_h100.textproto --site-kw 5000 --pue 1.1 --idle-pue 1.4");
  verb.callback([options, &exit_code] { exit_code = own(*options); });
}

}  // namespace podsim
