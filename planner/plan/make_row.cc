// Writes the scenario of the row, and reckons what it comes to.
#include "planner/plan/make_row.h"

#include <algorithm>
#include <set>
#include <utility>

#include "planner/plan/choice_course.h"
#include "planner/plan/cluster_run.h"
#include "planner/plan/plan_weeks.h"
#include "prediction/error_band.h"
#include "prediction/predict.h"
#include "proto/scenario/load.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/write_layout.h"
#include "report/figures/figures.h"
#include "report/text/text.h"
#include "workload/job/dtype.h"

namespace podsim {
namespace {

bool below_16_bits(const Job& job) {
  const auto narrow = [](const PrecisionRecipe& recipe) { return bytes_per_element(recipe.dtype) < 2; };
  return narrow(job.precision) || std::ranges::any_of(job.gemm_precision, [&](const GemmPrecision& one) {
           return narrow(one.recipe);
         });
}

// What spares can change: not the number of chips, so that the dollars decide, as among rows with as many.
double value_of(const ClusterRun& run, PlanObjective objective) {
  const PlanObjective changed = objective == PlanObjective::kChips ? PlanObjective::kUsd : objective;
  return course_with(run.inputs.days, run.usd, run.inputs.mwh, run.inputs.paid_chips, run.carbon_t)
      .of(changed);
}

class RowMaker {
 public:
  RowMaker(const RowParts& parts, const FoundLayout& layout, const std::string& term, const Catalog& catalog,
           const PlanOptions& options, std::string& why)
      : parts_(parts),
        question_(parts.question),
        scenario_(question_.scenarios[parts.of_scenario]),
        layout_(layout),
        term_(term),
        catalog_(catalog),
        options_(options),
        why_(why) {}

  std::optional<PlanRow> make() {
    if (term_ == "spot" && !parts_.weeks)
      return no_row("chips that can be taken away need a reliability block, which says how often");
    auto settings = settings_of_contract();
    if (!settings) return std::nullopt;
    const bool bought = term_ == kOwnedTerm;  // a price of rented chips says nothing of these
    row_.scenario =
        scenario_with_layout(bought ? scenario_at_list_price(parts_.text, {}) : parts_.text, *settings,
                             blocks_of(layout_.layout, context_preset(parts_.spec.job)), "");
    const LoadResult priced = load_scenario(scenario_.file, row_.scenario, catalog_, {});
    if (!priced.spec) return no_row(priced.problems.front().message);
    describe(*priced.spec);
    if (question_.most_kw && row_.power_kw > *question_.most_kw)
      return no_row("draws " + fixed(row_.power_kw, 0) + " kW at the meter, of which there are " +
                    fixed(*question_.most_kw, 0));
    const auto run = run_of(*priced.spec);
    if (!run) return std::nullopt;
    take_run(*run);
    if (question_.objective == PlanObjective::kCarbon && !row_.carbon_t)
      return no_row(
          "nobody says what carbon its power has: name cluster.grid, or plan { carbon { region } }");
    const std::string unknown = take_limited(*priced.spec);
    if (!unknown.empty()) return no_row("it has no figure " + unknown + " to hold against its limit");
    if (parts_.weeks) row_.scenario = scenario_of_weeks(row_.scenario, *priced.spec, question_.tokens);
    return std::move(row_);
  }

 private:
  std::nullopt_t no_row(const std::string& why) {
    why_ = why;
    return std::nullopt;
  }

  std::optional<std::vector<Override>> settings_of_contract() {
    std::vector<Override> settings = {{"cluster.price_term", term_}};
    if (term_ == "spot" && scenario_.preemption) add_preemption(*scenario_.preemption, settings);
    if (term_ != kOwnedTerm || !question_.own) return settings;
    const OwningTerms& own = *question_.own;
    for (const FieldSetting& each : own.settings) settings.push_back({each.path, each.value});
    if (own.chip_usd.empty()) return settings;
    const auto price = own.chip_usd.find(parts_.spec.cluster.chip.name);
    if (price == own.chip_usd.end()) return no_row("plan.own has no chip_usd of it");
    settings.push_back({"cluster.owned.chip_usd", shortest(price->second)});
    for (const char* share : {"host_usd", "network_usd", "hall_usd"})
      settings.push_back({std::string("cluster.owned.") + share, "0"});  // they are in that price
    return settings;
  }

  // Beside all else that fails: a block that lists a failure has no longer the mix of its fabric by itself.
  void add_preemption(const PreemptionTerms& terms, std::vector<Override>& settings) const {
    const std::string mix = mix_for_lack_of_failures(parts_.text, catalog_);
    if (!mix.empty()) settings.push_back({"reliability.failures", mix});
    const std::string failure = "reliability.failure[" + std::to_string(parts_.failures) + "].";
    settings.push_back({failure + "component", "preemption"});
    settings.push_back({failure + "per_1000_node_days", shortest(terms.per_1000_node_days)});
    if (terms.notice_s > 0) settings.push_back({failure + "notice_s", shortest(terms.notice_s)});
    settings.push_back({failure + "repair.mean_s", shortest(terms.wait_s)});
  }

  // All that does not hang on how long the run is.
  void describe(const Spec& spec) {
    row_.chip = spec.cluster.chip.name;
    row_.fabric = spec.cluster.fabric.name;
    row_.stack = spec.job.stack.name;
    row_.precision = spec.job.precision.name;
    row_.price_term = term_;
    row_.below_16_bits = below_16_bits(spec.job);
    row_.chips = spec.cluster.fabric.chips;
    row_.slices = spec.cluster.fabric.slices;
    if (const auto& torus = spec.cluster.fabric.torus)
      row_.slice_shape.assign(torus->shape.begin(), torus->shape.begin() + torus->dimensions);
    row_.torus = parts_.torus;
    row_.power_kw = layout_.figures.energy_j_per_token * layout_.figures.tokens_per_s / 1e3;
    row_.found = layout_;
    row_.batch_tokens = static_cast<double>(spec.job.global_batch) * spec.job.sequence;
    row_.memory_capacity = spec.cluster.chip.hbm_capacity;
    row_.of_scenario = parts_.of_scenario;
    row_.terms = terms_of(question_, scenario_, row_.chip, catalog_);
    ChoiceFacts& facts = row_.facts;
    facts.speed = row_.chip + " with " + row_.stack;
    facts.contract = row_.chip + " " + term_;
    facts.name = parts_.name + " " + term_;
    const Time step = layout_.figures.step_time;
    const auto band = builtin_step_time_band(step, kind_of(spec), "");
    if (band && question_.vary_step && parts_.step_error) facts.step = StepError(*band, step.in_seconds());
    facts.chip = row_.chip;
    facts.chips = row_.chips;
    facts.power_range = spec.cluster.chip.power_range;
    facts.price = spec.cluster.price;
  }

  ClusterRunQuestion question_of_row() const {
    return {scenario_.file, row_.scenario, {}, question_.tokens, parts_.weeks, options_.threads};
  }

  std::optional<ClusterRun> run_of(const Spec& spec) {
    if (parts_.weeks && question_.choose_spares) choose_spares(question_of_row(), spec);
    return run_on_cluster(question_of_row(), spec, layout_.figures, catalog_, why_);
  }

  // Of no spare node and powers of two the number that has the least of the objective, up to what makes up
  // for the nodes in repair 99.9 % of the time.
  void choose_spares(const ClusterRunQuestion& asked, const Spec& spec) {
    const auto with_spares = [&](std::int64_t nodes) {
      ClusterRunQuestion tried = asked;
      tried.overrides = {{"reliability.spares.nodes", std::to_string(nodes)}};
      return tried;
    };
    std::set<std::int64_t> counts = {0};
    std::string none;
    const ClusterRunQuestion without = with_spares(0);
    const auto weeks = runs_of_weeks({without.file, without.scenario, without.tokens, 1, without.overrides},
                                     catalog_, options_.threads, none);
    // Without spares a run may not end; with some it may.
    const std::int64_t most = weeks ? std::max<std::int64_t>(weeks->closed_forms.spares_99_9, 1) : 64;
    for (std::int64_t nodes = 1; nodes < most; nodes *= 2) counts.insert(nodes);
    counts.insert(most);
    std::optional<double> least;
    for (const std::int64_t nodes : counts) {
      ClusterRunQuestion tried = with_spares(nodes);
      const auto run = run_on_cluster(tried, spec, layout_.figures, catalog_, none);
      if (!run) continue;
      const double value = value_of(*run, question_.objective);
      if (least && value >= *least) continue;
      least = value;
      row_.spare_nodes = nodes;
    }
    if (!row_.spare_nodes) return;
    row_.scenario = scenario_with_overrides(
        row_.scenario, {{"reliability.spares.nodes", std::to_string(*row_.spare_nodes)}});
  }

  void take_run(const ClusterRun& run) {
    row_.days = run.inputs.days;
    row_.usd = run.usd;
    row_.mwh = run.inputs.mwh;
    row_.carbon_t = run.carbon_t;
    row_.over_failures = parts_.weeks;
    ChoiceFacts& facts = row_.facts;
    facts.days = run.inputs.days;
    facts.mwh = run.inputs.mwh;
    facts.paid_chips = run.inputs.paid_chips;
    facts.run_low = run.run_low;
    facts.run_high = run.run_high;
    if (run.carbon_t) facts.kg_per_kwh = run.inputs.kg_per_kwh;
    facts.making_t_per_day = run.inputs.making_t_per_day;
    facts.start_day = row_.terms.start_day();
    facts.one_off_usd = run.inputs.one_off_usd + row_.terms.one_off_usd;
    row_.days += facts.start_day;
    row_.usd += row_.terms.one_off_usd;
  }

  // The first figure with a limit that the row does not have; empty where it has all. The report of a run is
  // made only where a limit asks for it.
  std::string take_limited(const Spec& spec) {
    std::optional<std::vector<Figure>> report;
    for (const FigureLimit& limit : question_.limits) {
      std::optional<double> figure = row_.figure(question_, limit.key);
      if (std::ranges::find(kPlanFigures, limit.key) == kPlanFigures.end()) {
        if (!report) report = figures(predict_step(spec, {}).report);
        figure = number_at(*report, limit.key);
      }
      if (!figure) return limit.key;
      row_.limited.push_back(*figure);
      row_.facts.within_limits = row_.facts.within_limits && limit.overrun(*figure) == 0;
    }
    return "";
  }

  const RowParts& parts_;
  const PlanQuestion& question_;
  const PlanScenario& scenario_;
  const FoundLayout& layout_;
  const std::string& term_;
  const Catalog& catalog_;
  const PlanOptions& options_;
  std::string& why_;
  PlanRow row_;
};

}  // namespace

ChipTerms terms_of(const PlanQuestion& question, const PlanScenario& scenario, const std::string& chip,
                   const Catalog& catalog) {
  const auto name = catalog.canonical(Catalog::Section::kChips, chip);
  const auto known = question.terms.find(name.value_or(chip));
  return known == question.terms.end() ? scenario.terms : known->second;
}

std::optional<PlanRow> make_row(const RowParts& parts, const FoundLayout& layout, const std::string& term,
                                const Catalog& catalog, const PlanOptions& options, std::string& why) {
  return RowMaker(parts, layout, term, catalog, options, why).make();
}

}  // namespace podsim
