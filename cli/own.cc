// podsim own: what a job's chips cost when they are bought, against rents; power and carbon.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/own_text.h"
#include "cli/verbs.h"
#include "prediction/owning.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

struct OwnVerb {
  std::string file, region = "world";
  Ownership own = usual_ownership();
  std::optional<double> chip_usd, host_usd, network_usd, hall_usd, idle_pue, pue, kg_per_kwh, embodied_kg,
      site_kw;
  LoadOptions load;
  RunOptions run;
  OutputOptions output;
};

// What the user gives, else what is known of the chip. False, and a message, where nobody knows its price.
bool set_capital(const OwnVerb& verb, const std::string& chip, OwningQuestion& question) {
  const auto known = known_capital(chip);
  if (!known && !verb.chip_usd) {
    spdlog::error(
        "no price of a {} that is bought is known: give it as --chip-usd, and --host-usd, --network-usd "
        "and --hall-usd for its share of the rest",
        chip);
    return false;
  }
  const Capital capital = known.value_or(Capital{});
  question.own.chip_usd = verb.chip_usd.value_or(capital.chip_usd);
  question.own.host_usd = verb.host_usd.value_or(capital.host_usd);
  question.own.network_usd = verb.network_usd.value_or(capital.network_usd);
  question.own.hall_usd = verb.hall_usd.value_or(capital.hall_usd);
  question.embodied_kg = verb.embodied_kg.value_or(capital.embodied_kg);
  return true;
}

int own(const OwnVerb& verb) {
  if (verb.run.quiet) spdlog::set_level(spdlog::level::err);
  const auto specs = load_scenarios({verb.file}, verb.load);
  if (!specs || !have_one_job(*specs, "own")) return kInputError;
  const auto grid = grid_kg_per_kwh(verb.region);
  if (!grid) {
    spdlog::error("--region: no grid \"{}\"; {}", verb.region, unknown_grid_hint(verb.region));
    return kInputError;
  }
  const auto catalog = open_catalog(verb.load.catalog_directories);
  if (!catalog) return kInputError;
  const Spec& spec = specs->front();
  OwningQuestion question;
  question.own = verb.own;
  const double pue = spec.cluster.price.pue;
  question.own.busy_pue = verb.pue.value_or(pue);
  question.own.idle_pue = verb.idle_pue.value_or(question.own.busy_pue);
  question.carbon_kg_per_kwh = verb.kg_per_kwh.value_or(*grid);
  question.site_kw = verb.site_kw;
  if (!set_capital(verb, spec.cluster.chip.name, question)) return kInputError;
  const Report report = predict_all(*specs, verb.run).front().report;
  const OwningReport answer = owning(report, spec.cluster.chip, spec.cluster.fabric.chips_per_host, pue,
                                     question, price_rows(*catalog));
  emit(verb.output.format == "json" ? owning_json(answer) : owning_table(answer), verb.output.out);
  return kDone;
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
  real_number(verb.add_option("--years", options.own.years, "In use")->capture_default_str(), 0.1, 50.0);
  real_number(
      verb.add_option("--interest", options.own.interest, "A year, as a share")->capture_default_str(), 0.0,
      1.0);
  real_number(verb.add_option("--residual", options.own.residual_share,
                              "What chip, host and network are worth at the end, as a share")
                  ->capture_default_str(),
              0.0, 1.0);
  real_number(verb.add_option("--operation", options.own.operation_share_per_year,
                              "Staff, spares and maintenance a year, as a share of the capital")
                  ->capture_default_str(),
              0.0, 1.0);
  real_number(
      verb.add_option("--usd-per-kwh", options.own.usd_per_kwh, "Price of power")->capture_default_str(), 0.0,
      100.0);
  real_number(verb.add_option("--utilisation", options.own.utilisation,
                              "Share of the hours in which the chips are used")
                  ->capture_default_str(),
              0.001, 1.0);
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
      ->capture_default_str();
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
      "Capital, grids and terms that are known: scenarios/economics/; each figure has its source there.\n"
      "Examples:\n"
      "  podsim own scenarios/llama3_70b_512_h100.textproto --region us\n"
      "  podsim own scenarios/llama3_70b_512_h100.textproto --utilisation 0.5 --years 5 --residual 0.1\n"
      "  podsim own scenarios/llama3_70b_512_v5p.textproto --chip-usd 12000 --hall-usd 6000 --format json\n"
      "  podsim own scenarios/llama3_70b_512_h100.textproto --site-kw 5000 --pue 1.1 --idle-pue 1.4");
  verb.callback([options, &exit_code] { exit_code = own(*options); });
}

}  // namespace podsim
