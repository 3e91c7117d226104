// Goes through the clusters, searches the layouts of each and puts a price on the best.
#include "planner/plan/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "economics/bill.h"
#include "planner/plan/plan_weeks.h"
#include "planner/search/layout_fate.h"
#include "planner/search/stored_steps.h"
#include "prediction/error_band.h"
#include "prediction/predict.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/scenario/load_space.h"
#include "proto/scenario/scenario_kind.h"
#include "proto/writing/result_json.h"
#include "report/figures.h"
#include "report/text.h"
#include "workload/job/dtype.h"

namespace podsim {
namespace {

constexpr double kSecondsPerDay = 86400, kJoulesPerMwh = 3.6e9, kBytesPerGib = 1024.0 * 1024 * 1024;

// Tried in this order where the chip lacks the kernels of the scenario's stack.
const std::vector<std::string> kOtherStacks = {"generic_megatron", "generic_eager", "generic_xla"};

std::vector<Override> with(std::vector<Override> overrides, const std::string& path,
                           const std::string& value) {
  overrides.push_back({path, value});
  return overrides;
}

bool below_16_bits(const Job& job) {
  const auto narrow = [](const PrecisionRecipe& recipe) { return bytes_per_element(recipe.dtype) < 2; };
  return narrow(job.precision) || std::ranges::any_of(job.gemm_precision, [&](const GemmPrecision& one) {
           return narrow(one.recipe);
         });
}

// The clusters of one scenario.
class Planner {
 public:
  Planner(const PlanQuestion& question, std::size_t of_scenario, const Catalog& catalog,
          const PlanOptions& options, PlanAnswer& answer)
      : question_(question),
        of_scenario_(of_scenario),
        scenario_(question.scenarios[of_scenario]),
        catalog_(catalog),
        options_(options),
        words_(cluster_words(scenario_.text, scenario_.overrides)),
        weeks_(scenario_kind(scenario_.file, scenario_.text).reliability),
        answer_(answer) {}

  void run() {
    if (question_.own_layouts && !take_own_layout()) return;
    std::vector<std::string> precisions = scenario_.precisions;
    if (precisions.empty()) precisions.emplace_back();
    for (const std::string& chip : scenario_.chips)
      for (const std::string& precision : precisions)
        for (const int count : scenario_.counts) {
          if (stopped()) break;
          plan_cluster(chip, precision, count);
        }
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // The scenario's layout, in words of a search.
  bool take_own_layout() {
    const LoadSearchResult loaded =
        load_search(scenario_.file, scenario_.text, catalog_, scenario_.overrides);
    if (!loaded.question) {
      refuse(scenario_.file, loaded.problems.front().message);
      return false;
    }
    const auto own = layout_of(loaded.question->spec);
    if (!own) {
      refuse(scenario_.file, "its layout is none that a search can write: let it be searched");
      return false;
    }
    LayoutSpace& only = only_.emplace();
    only.tensor = {own->tensor};
    only.context = {own->context};
    only.pipeline = {own->pipeline};
    only.expert = {own->expert};
    if (own->expert > 1) only.expert_tensor = {own->expert_tensor};
    only.microbatch = {own->microbatch};
    only.schedule = {own->schedule};
    only.chunks = {own->chunks};
    only.sharding = {own->sharding};
    if (own->sharding == StateSharding::kHsdp) only.fsdp_group = {own->group};
    only.recompute = {own->recompute};
    only.recompute_layers = {own->recompute_layers};
    only.memory_headroom_share = 0;
    return true;
  }

  ChipTerms terms_of(const std::string& chip) const {
    const auto name = catalog_.canonical(Catalog::Section::kChips, chip);
    const auto known = question_.terms.find(name.value_or(chip));
    return known == question_.terms.end() ? scenario_.terms : known->second;
  }

  // Where there are several scenarios, a choice says which it is of.
  std::string name_of_scenario() const {
    if (!scenario_.name.empty()) return scenario_.name + ": ";
    return question_.several_files() ? scenario_.file + ": " : "";
  }

  void refuse(const std::string& what, const std::string& why) { answer_.refused.push_back({what, why}); }

  // The scenario on that cluster, with a layout that it can have for certain, as text.
  struct Base {
    std::string text;
    SearchQuestion asked;
  };

  // Where another chip needs another fabric and another stack, those of the scenario are replaced.
  std::optional<Base> base_of(const std::string& chip, const std::string& precision, int count,
                              std::string& why) {
    std::vector<Override> overrides = with(scenario_.overrides, "cluster.chip", chip);
    overrides = with(overrides, "cluster.chips", std::to_string(count));
    if (!precision.empty()) overrides = with(overrides, "job.precision", precision);
    const auto same_chip = [&](const std::string& name) {
      return catalog_.canonical(Catalog::Section::kChips, name) ==
             catalog_.canonical(Catalog::Section::kChips, chip);
    };
    const std::vector<std::string> fabrics = catalog_.fabrics_of(chip);
    const bool own_fabric = same_chip(words_.chip) || std::ranges::count(fabrics, words_.fabric) > 0;
    if (!own_fabric) {
      if (fabrics.empty()) {
        why = "no fabric of the catalogue is built for it";
        return std::nullopt;
      }
      overrides = with(overrides, "cluster.fabric", fabrics.front());
    }
    // A pod may have fewer chips than that.
    const int slices = fewest_slices(catalog_, own_fabric ? words_.fabric : fabrics.front(), count);
    if (slices > 1 && words_.slices == 0)
      overrides = with(overrides, "cluster.slices", std::to_string(slices));
    auto base = on_some_stack(overrides, count, why);
    // The scenario's own contract may be none that a list of the user's has.
    for (std::size_t i = 0; !base && i < scenario_.price_terms.size(); ++i)
      base = on_some_stack(with(overrides, "cluster.price_term", scenario_.price_terms[i]), count, why);
    return base;
  }

  std::optional<Base> on_some_stack(const std::vector<Override>& overrides, int count,
                                    std::string& why) const {
    auto base = loaded(overrides, count, why);
    for (std::size_t i = 0; !base && !scenario_.only_its_stack && i < kOtherStacks.size(); ++i)
      base = loaded(with(overrides, "job.stack", kOtherStacks[i]), count, why);
    return base;
  }

  std::optional<Base> loaded(const std::vector<Override>& overrides, int count, std::string& why) const {
    const int data = std::gcd(std::max(words_.global_batch, 1), count);
    LayoutBlocks plain;
    plain.mesh = {{"spare", count / data}, {"data", data}};
    plain.sharding = {"data"};
    Base base{scenario_with_layout(scenario_.text, overrides, plain, "", KeepSpace::kYes), {}};
    LoadSearchResult result = load_search(scenario_.file, base.text, catalog_, {});
    if (!result.question) {
      if (why.empty()) why = result.problems.front().message;
      return std::nullopt;
    }
    base.asked = *std::move(result.question);
    return base;
  }

  void plan_cluster(const std::string& chip, const std::string& precision, int count) {
    const std::string what =
        name_of_scenario() + std::to_string(count) + " " + chip + (precision.empty() ? "" : " " + precision);
    if (answer_.clusters++ % options_.shards != options_.shard - 1) return;
    if (options_.searching) options_.searching(what);
    const ChipTerms terms = terms_of(chip);
    if (terms.most_chips && count > *terms.most_chips)
      return refuse(what, "no more than " + std::to_string(*terms.most_chips) + " are to be had");
    std::string why;
    const auto base = base_of(chip, precision, count, why);
    if (!base) return refuse(what, why);
    const Space space(base->asked.spec, only_ ? *only_ : base->asked.space);
    if (space.stems().empty())
      return refuse(what, "no layout of the space makes " + std::to_string(count) + " chips");
    const SearchAnswer found = found_in(space, *base, what);
    answer_.counts += found.counts;
    if (found.best.empty()) return refuse(what, why_none(found));
    for (const std::string& term : scenario_.price_terms) add_row(*base, found, term, what);
  }

  // The best layout of a cluster, from the store where it has been searched to the end before.
  SearchAnswer found_in(const Space& space, const Base& base, const std::string& what) {
    SearchOptions options;
    options.top = 1;
    options.gap = question_.gap;
    options.threads = options_.threads;
    options.stop = options_.stop;
    if (options_.store == nullptr) return search(space, options);
    Store& store = *options_.store;
    StoredLayouts stored(store, scenario_.file, base.text, no_overrides_, catalog_, base.asked.spec);
    options.evaluate = [&](const JobLayout& layout, const std::function<Report()>& simulate) {
      return stored.evaluate(layout, simulate);
    };
    const std::string words = "plan --gap " + shortest(question_.gap) + (only_ ? ", as it is" : "");
    const StudyName name{"best layout of " + what, question_sha256(words, {base.asked.spec.sha256})};
    if (const auto known = store.answer(name)) {
      const auto layout = known->rows.size() == 1 ? layout_named(space, known->rows[0].label) : std::nullopt;
      const auto figures = layout ? store.figures(known->rows[0].key) : std::nullopt;
      if (figures) {
        SearchAnswer answer;
        answer.best = {{*layout, *figures, Bytes{figures->memory_gib * kBytesPerGib}}};
        ++answer_.clusters_known;
        answer.gap = known->gap;
        answer.proven = true;
        return answer;
      }
    }
    const SearchAnswer answer = search(space, options);
    if (answer.best.empty() || !answer.proven) return answer;
    const JobLayout& best = answer.best.front().layout;
    store.end_study(store.begin_study(name), StudyState::kComplete, answer.gap,
                    {{stored.scenario_of(best).key, to_string(best)}});
    return answer;
  }

  static std::optional<JobLayout> layout_named(const Space& space, const std::string& name) {
    for (const JobLayout& stem : space.stems())
      for (const JobLayout& leaf : space.leaves(stem))
        if (to_string(leaf) == name) return leaf;
    return std::nullopt;
  }

  static std::string why_none(const SearchAnswer& found) {
    if (found.miss)
      return "does not fit: " + to_string(found.miss->layout) + " comes nearest and lacks " +
             gib(found.miss->needed - found.miss->room);
    if (!found.proven) return "the search was stopped before any layout was simulated";
    return "no layout of the space has a schedule that its microbatches allow";
  }

  void add_row(const Base& base, const SearchAnswer& found, const std::string& term,
               const std::string& what) {
    if (term == "spot" && !weeks_)
      return refuse(what + " " + term,
                    "chips that can be taken away need a reliability block, which says how often");
    const FoundLayout& best = found.best.front();
    PlanRow row;
    row.scenario = scenario_with_layout(base.text, {{"cluster.price_term", term}},
                                        blocks_of(best.layout, context_preset(base.asked.spec.job)), "");
    const LoadResult priced = load_scenario(scenario_.file, row.scenario, catalog_, {});
    if (!priced.spec) return refuse(what + " " + term, priced.problems.front().message);
    const Spec& spec = *priced.spec;
    row.chip = spec.cluster.chip.name;
    row.fabric = spec.cluster.fabric.name;
    row.stack = spec.job.stack.name;
    row.precision = spec.job.precision.name;
    row.price_term = term;
    row.below_16_bits = below_16_bits(spec.job);
    row.chips = spec.cluster.fabric.chips;
    row.power_kw = best.figures.energy_j_per_token * best.figures.tokens_per_s / 1e3;
    if (question_.most_kw && row.power_kw > *question_.most_kw)
      return refuse(what + " " + term, "draws " + fixed(row.power_kw, 0) +
                                           " kW at the meter, of which there are " +
                                           fixed(*question_.most_kw, 0));
    row.found = best;
    row.memory_capacity = spec.cluster.chip.hbm_capacity;
    row.gap = found.gap;
    row.of_scenario = of_scenario_;
    row.days = question_.tokens / best.figures.tokens_per_s / kSecondsPerDay;
    row.mwh = question_.tokens * best.figures.energy_j_per_token / kJoulesPerMwh;
    const Price& price = spec.cluster.price;
    row.usd = usd_of_run(row.chips, row.days, price) + row.mwh * 1000 * price.usd_per_kwh;
    constexpr double kHoursPerDay = 24;
    if (const std::optional<Carbon>& carbon = spec.cluster.carbon)
      row.carbon_t = carbon->kg(row.mwh * 1000, row.chips * row.days * kHoursPerDay) / 1000;
    ChoiceFacts& facts = row.facts;
    facts.speed = row.chip + " with " + row.stack;
    facts.contract = row.chip + " " + term;
    facts.name = what + " " + term;
    if (const auto band = builtin_step_time_band(best.figures.step_time, kind_of(spec), ""))
      facts.step = StepError(*band, best.figures.step_time.in_seconds());
    facts.chip = row.chip;
    facts.power_range = spec.cluster.chip.power_range;
    facts.price = price;
    facts.days = row.days;
    facts.mwh = row.mwh;
    double usd = row.usd;
    if (weeks_ && !over_weeks(row, what + " " + term, usd)) return;
    const double price_of_one = usd_of_run(1, facts.days, price);
    if (price_of_one > 0) facts.paid_chips = (usd - facts.mwh * 1000 * price.usd_per_kwh) / price_of_one;
    row.terms = terms_of(row.chip);
    facts.start_day = row.terms.start_day();
    facts.one_off_usd += row.terms.one_off_usd;
    row.days += facts.start_day;
    row.usd += row.terms.one_off_usd;
    if (const std::string unknown = take_limited(spec, row); !unknown.empty())
      return refuse(what + " " + term, "it has no figure " + unknown + " to hold against its limit");
    answer_.rows.push_back(std::move(row));
  }

  // The first figure with a limit that the row does not have; empty where it has all. The report of a run is
  // made only where a limit asks for it.
  std::string take_limited(const Spec& spec, PlanRow& row) const {
    std::optional<std::vector<Figure>> report;
    for (const FigureLimit& limit : question_.limits) {
      std::optional<double> figure = row.figure(limit.key);
      if (std::ranges::find(kPlanFigures, limit.key) == kPlanFigures.end()) {
        if (!report) report = figures(predict_step(spec, {}).report);
        figure = number_at(*report, limit.key);
      }
      if (!figure) return limit.key;
      row.limited.push_back(*figure);
      row.facts.within_limits = row.facts.within_limits && limit.overrun(*figure) == 0;
    }
    return "";
  }

  // Days and dollars over failures, `usd` those without the error of the step. False where the block does not
  // say enough.
  bool over_weeks(PlanRow& row, const std::string& what, double& usd) {
    std::string why;
    const auto runs = [&](bool step_error) {
      return runs_of_weeks({scenario_.file, row.scenario, question_.tokens, step_error, 1}, catalog_,
                           options_.threads, why);
    };
    const auto with_error = runs(true), known = runs(false);
    if (!with_error || !known) {
      refuse(what, why);
      return false;
    }
    const auto& figures = with_error->figures;
    row.over_failures = true;
    row.days = figures.days.p50;
    row.usd = figures.cost_usd.p50;
    row.mwh = figures.energy_mwh.p50;
    if (figures.carbon_t) row.carbon_t = figures.carbon_t->p50;
    ChoiceFacts& facts = row.facts;
    facts.days = known->figures.days.p50;
    facts.mwh = known->figures.energy_mwh.p50;
    facts.run_low = known->figures.days.p10 / facts.days;
    facts.run_high = known->figures.days.p90 / facts.days;
    // What leaves the provider is no chip-time: it does not follow the price of chips.
    for (const BillLine& line : known->bill)
      if (line.item == to_string(BillItem::kEgress)) facts.one_off_usd = line.usd;
    usd = known->figures.cost_usd.p50 - facts.one_off_usd;
    return true;
  }

  const PlanQuestion& question_;
  const std::size_t of_scenario_;
  const PlanScenario& scenario_;
  const Catalog& catalog_;
  const PlanOptions& options_;
  const ClusterWords words_;
  const bool weeks_;
  std::optional<LayoutSpace> only_;                // the scenario's own layout
  const std::vector<Override> no_overrides_ = {};  // they are in the text of each cluster
  PlanAnswer& answer_;
};

}  // namespace

PlanAnswer clusters_of(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options) {
  PlanAnswer answer;
  for (std::size_t i = 0; i < question.scenarios.size(); ++i)
    Planner(question, i, catalog, options, answer).run();
  answer.stopped = options.stop != nullptr && options.stop->load();
  return answer;
}

PlanAnswer plan_training(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options) {
  PlanAnswer answer = clusters_of(question, catalog, options);
  if (!answer.rows.empty()) decide(question, catalog, options, answer);
  return answer;
}

}  // namespace podsim
