// Joins a step's power with a year of owning.
#include "prediction/owning.h"

#include "engine/unit_factors.h"
#include "report/summary/document_rate.h"

namespace podsim {

OwningReport owning(const Report& report, const Chip& chip, int chips_per_host, double pue_of_report,
                    const OwningQuestion& question, const std::vector<PriceRow>& prices) {
  OwningReport answer;
  answer.scenario = report.scenario;
  answer.chip = report.chip;
  answer.chips = report.chips;
  answer.own = question.own;
  const Ownership& own = answer.own;
  answer.busy_w = report.power_kw * 1e3 / report.chips / pue_of_report;
  answer.idle_w = with_host_w(chip, chip.power_idle_w, chips_per_host);
  answer.year = year_of_owning(own, answer.busy_w, answer.idle_w);
  answer.power_range = chip.power_range;
  const auto year_at = [&](double watts) {
    return year_of_owning(own, answer.busy_w * watts, answer.idle_w * watts);
  };
  answer.low_year = year_at(1 - chip.power_range);
  answer.high_year = year_at(1 + chip.power_range);
  for (const PriceRow& price : prices) {
    if (price.chip != report.chip) continue;
    answer.renting.push_back(
        {price, break_even_utilisation(own, answer.busy_w, answer.idle_w, price.usd_per_chip_hour)});
  }
  answer.power_kw = answer.busy_w * own.busy_pue * report.chips / 1e3;
  answer.tokens_per_j = document_tokens_per_s(report) / (answer.power_kw * 1e3);
  answer.model_gflop_per_j =
      report.tokens_per_s * report.model_flops_per_token_full / (answer.power_kw * 1e3) / 1e9;
  answer.carbon_kg_per_kwh = question.carbon_kg_per_kwh;
  answer.embodied_kg = question.embodied_kg;
  answer.operational_kg_per_hour = answer.power_kw * question.carbon_kg_per_kwh;
  answer.embodied_kg_per_hour = report.chips * question.embodied_kg / used_hours(own);
  answer.kg_per_million_tokens = (answer.operational_kg_per_hour + answer.embodied_kg_per_hour) /
                                 (document_tokens_per_s(report) * kSecondsPerHour) * 1e6;
  if (question.site_kw) {
    answer.site_kw = question.site_kw;
    answer.site_chips = chips_of_site(own, answer.busy_w, *question.site_kw);
  }
  return answer;
}

}  // namespace podsim
