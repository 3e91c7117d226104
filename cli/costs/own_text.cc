// Owning against renting, with power and carbon.
#include "cli/costs/own_text.h"

#include <utility>

#include "proto/writing/figure_json.h"
#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string hours_table(const OwningReport& report) {
  const YearOfOwning& year = report.year;
  Lines rows = {{"of one chip", "USD a year", "USD per used hour"}};
  const auto row = [&](const char* name, double usd) {
    rows.push_back({name, significant(usd, 4), fixed(usd / year.used_hours, 3)});
  };
  row("capital and interest", year.capital_usd);
  row("operation", year.operation_usd);
  row("power at work", year.busy_energy_usd);
  row("power while it waits", year.idle_energy_usd);
  row("sum", year.usd());
  return align(rows);
}

std::string renting_table(const OwningReport& report) {
  Lines rows = {{"rented", "USD/chip-h", "buying is cheaper from"}};
  for (const Renting& rent : report.renting)
    rows.push_back({rent.price.term + (rent.price.provider.empty() ? "" : " of " + rent.price.provider),
                    significant(rent.price.usd_per_chip_hour, 4),
                    rent.break_even_utilisation ? percent(*rent.break_even_utilisation) + " use" : "never"});
  return align(rows);
}

std::string energy_table(const OwningReport& report) {
  Lines rows = {{"of the job while it trains", ""},
                {"power at the meter, kW", significant(report.power_kw, 4)},
                {"the same at least and at most, kW",
                 significant(report.power_kw * (1 - report.power_range), 4) + " to " +
                     significant(report.power_kw * (1 + report.power_range), 4)},
                {"tokens per J", significant(report.tokens_per_j, 4)},
                {"model GFLOP per J", significant(report.model_gflop_per_j, 4)},
                {"carbon of the power, kg CO2e per hour", significant(report.operational_kg_per_hour, 4)},
                {"carbon of making the chips, kg CO2e per hour", significant(report.embodied_kg_per_hour, 4)},
                {"kg CO2e per million tokens", significant(report.kg_per_million_tokens, 4)}};
  return align(rows);
}

}  // namespace

std::string owning_table(const OwningReport& report) {
  const Ownership& own = report.own;
  std::string text = report.scenario + ": " + significant(report.chips, 1) + " " + report.chip +
                     " bought, used " + percent(own.utilisation) + " of " + significant(own.years, 2) +
                     " years at " + percent(own.interest) + " interest\n";
  text += "capital of a chip, USD: chip " + significant(own.chip_usd, 1) + ", host " +
          significant(own.host_usd, 1) + ", network " + significant(own.network_usd, 1) + ", hall " +
          significant(own.hall_usd, 1) + "\n\n";
  text += hours_table(report) + "\n" + renting_table(report) + "\n" + energy_table(report);
  if (report.site_kw)
    text += "\nA site of " + significant(*report.site_kw, 1) + " kW feeds " +
            significant(*report.site_chips, 1) + " of these chips at work; " +
            significant(*report.site_chips / (1 + report.power_range), 1) + " if they draw " +
            percent(report.power_range) + " more.\n";
  return text;
}

std::string owning_json(const OwningReport& report, const std::string& sha256) {
  const YearOfOwning& year = report.year;
  std::vector<Figure> renting;
  for (const Renting& rent : report.renting)
    renting.push_back(Figure::group("", {{"term", rent.price.term},
                                         {"provider", rent.price.provider},
                                         {"usd_per_chip_hour", rent.price.usd_per_chip_hour},
                                         {"break_even_utilisation", known(rent.break_even_utilisation)}}));
  std::vector<Figure> parts = {{"scenario", report.scenario},
                               {"chip", report.chip},
                               {"chips", report.chips},
                               {"capital_usd_per_chip", report.own.capital_usd()},
                               {"utilisation", report.own.utilisation},
                               {"usd_per_used_chip_hour", year.usd_per_used_hour()},
                               Figure::group("usd_per_chip_year", {{"capital", year.capital_usd},
                                                                   {"operation", year.operation_usd},
                                                                   {"busy_energy", year.busy_energy_usd},
                                                                   {"idle_energy", year.idle_energy_usd},
                                                                   {"sum", year.usd()}}),
                               Figure::list("renting", std::move(renting)),
                               {"power_kw", report.power_kw},
                               {"power_low_kw", report.power_kw * (1 - report.power_range)},
                               {"power_high_kw", report.power_kw * (1 + report.power_range)},
                               {"low_usd_per_used_chip_hour", report.low_year.usd_per_used_hour()},
                               {"high_usd_per_used_chip_hour", report.high_year.usd_per_used_hour()},
                               {"tokens_per_j", report.tokens_per_j},
                               {"model_gflop_per_j", report.model_gflop_per_j},
                               {"carbon_kg_per_kwh", report.carbon_kg_per_kwh},
                               {"operational_kg_per_hour", report.operational_kg_per_hour},
                               {"embodied_kg_per_hour", report.embodied_kg_per_hour},
                               {"kg_per_million_tokens", report.kg_per_million_tokens}};
  if (report.site_chips) append(parts, {{"site_kw", *report.site_kw}, {"site_chips", *report.site_chips}});
  return json_text(result_figure(sha256, std::move(parts)), JsonNumbers::kWithPoint);
}

}  // namespace podsim
