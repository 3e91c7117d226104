// By closed form where nothing fails, else as podsim reliability has it.
#include "planner/plan/cluster_run.h"

#include "economics/bill.h"
#include "economics/steady_run.h"
#include "engine/unit_factors.h"
#include "planner/plan/plan_weeks.h"

namespace podsim {
namespace {

// Those that come to `usd` with the energy: over failures spares are among them, and not what is taken away.
double paid_chips(const RunInputs& inputs, double usd, const Price& price) {
  const double price_of_one = usd_of_run(1, inputs.days, price);
  return price_of_one > 0 ? (usd - inputs.mwh * kKwhPerMwh * inputs.usd_per_kwh) / price_of_one : 0;
}

// Of the tonnes of the run what is not of its energy, so that chips which are held count as they do there.
void add_carbon(const Carbon& carbon, double tonnes, RunInputs& inputs) {
  inputs.kg_per_kwh = carbon.kg_per_kwh;
  if (carbon.making_kg_per_chip_hour == 0) return;
  inputs.making_t_per_day = (tonnes - carbon.kg(inputs.mwh * kKwhPerMwh, 0) / kKgPerTonne) / inputs.days;
}

}  // namespace

std::optional<ClusterRun> run_on_cluster(const ClusterRunQuestion& question, const Spec& spec,
                                         const MainFigures& step, const Catalog& catalog, std::string& why) {
  const Price& price = spec.cluster.price;
  const SteadyRun steady =
      steady_run({static_cast<double>(spec.cluster.fabric.chips), step.tokens_per_s, step.energy_j_per_token},
                 question.tokens, price, spec.cluster.carbon);
  ClusterRun run;
  RunInputs& inputs = run.inputs;
  inputs.days = steady.days;
  inputs.mwh = steady.mwh;
  inputs.usd_per_chip_hour = price.usd_per_chip_hour;
  inputs.usd_per_kwh = price.usd_per_kwh;
  run.usd = steady.usd;
  run.carbon_t = steady.carbon_t;
  double usd = run.usd;
  if (question.weeks) {
    const auto weeks =
        runs_of_weeks({question.file, question.scenario, question.tokens, 1, question.overrides}, catalog,
                      question.threads, why);
    if (!weeks) return std::nullopt;
    const ReliabilityFigures& figures = weeks->figures;
    inputs.days = figures.days.p50;
    inputs.mwh = figures.energy_mwh.p50;
    run.usd = figures.cost_usd.p50;
    if (figures.carbon_t) run.carbon_t = figures.carbon_t->p50;
    run.run_low = figures.days.p10 / inputs.days;
    run.run_high = figures.days.p90 / inputs.days;
    // What leaves the provider is no chip-time: it does not follow the price of chips.
    for (const BillLine& line : weeks->bill)
      if (line.item == to_string(BillItem::kEgress)) inputs.one_off_usd = line.usd;
    usd = run.usd - inputs.one_off_usd;
  }
  inputs.paid_chips = paid_chips(inputs, usd, price);
  if (run.carbon_t) add_carbon(*spec.cluster.carbon, *run.carbon_t, inputs);
  return run;
}

}  // namespace podsim
