// Goes through the clusters, searches the layouts of each and puts a price on the best.
#include "planner/plan/plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "economics/bill.h"
#include "planner/search/stored_steps.h"
#include "prediction/weeks.h"
#include "proto/scenario/load_reliability.h"
#include "proto/scenario/load_space.h"
#include "proto/scenario/scenario_kind.h"
#include "report/text.h"

namespace podsim {
namespace {

constexpr double kSecondsPerDay = 86400, kJoulesPerMwh = 3.6e9;
constexpr int kRunsOfWeeks = 100;  // simulated over failures, of each row

// Tried in this order where the chip lacks the kernels of the scenario's stack.
const std::vector<std::string> kOtherStacks = {"generic_megatron", "generic_eager", "generic_xla"};

std::vector<Override> with(std::vector<Override> overrides, const std::string& path,
                           const std::string& value) {
  overrides.push_back({path, value});
  return overrides;
}

class Planner {
 public:
  Planner(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options)
      : question_(question),
        catalog_(catalog),
        options_(options),
        words_(cluster_words(question.text, question.overrides)),
        weeks_(scenario_kind(question.file, question.text).reliability) {}

  PlanAnswer run() {
    std::vector<std::string> precisions = question_.precisions;
    if (precisions.empty()) precisions.emplace_back();
    for (const std::string& chip : question_.chips)
      for (const std::string& precision : precisions)
        for (const int count : question_.counts) {
          if (stopped()) break;
          plan_cluster(chip, precision, count);
        }
    const auto order = [&](const PlanRow& row) {
      return std::pair(row.overrun(question_), row.value(question_.objective));
    };
    std::ranges::stable_sort(answer_.rows,
                             [&](const PlanRow& a, const PlanRow& b) { return order(a) < order(b); });
    answer_.stopped = stopped();
    return std::move(answer_);
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void refuse(const std::string& what, const std::string& why) { answer_.refused.push_back({what, why}); }

  // The scenario on that cluster, with a layout that it can have for certain, as text.
  struct Base {
    std::string text;
    SearchQuestion asked;
  };

  // Where another chip needs another fabric and another stack, those of the scenario are replaced.
  std::optional<Base> base_of(const std::string& chip, const std::string& precision, int count,
                              std::string& why) {
    std::vector<Override> overrides = with(question_.overrides, "cluster.chip", chip);
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
    auto base = loaded(overrides, count, why);
    for (std::size_t i = 0; !base && i < kOtherStacks.size(); ++i)
      base = loaded(with(overrides, "job.stack", kOtherStacks[i]), count, why);
    return base;
  }

  std::optional<Base> loaded(const std::vector<Override>& overrides, int count, std::string& why) const {
    const int data = std::gcd(std::max(words_.global_batch, 1), count);
    LayoutBlocks plain;
    plain.mesh = {{"spare", count / data}, {"data", data}};
    plain.sharding = {"data"};
    Base base{scenario_with_layout(question_.text, overrides, plain, "", KeepSpace::kYes), {}};
    LoadSearchResult result = load_search(question_.file, base.text, catalog_, {});
    if (!result.question) {
      if (why.empty()) why = result.problems.front().message;
      return std::nullopt;
    }
    base.asked = *std::move(result.question);
    return base;
  }

  void plan_cluster(const std::string& chip, const std::string& precision, int count) {
    const std::string what = std::to_string(count) + " " + chip + (precision.empty() ? "" : " " + precision);
    if (options_.searching) options_.searching(what);
    std::string why;
    const auto base = base_of(chip, precision, count, why);
    if (!base) return refuse(what, why);
    const Space space(base->asked.spec, base->asked.space);
    if (space.stems().empty())
      return refuse(what, "no layout of the space makes " + std::to_string(count) + " chips");
    SearchOptions options;
    options.top = 1;
    options.gap = question_.gap;
    options.threads = options_.threads;
    options.stop = options_.stop;
    std::optional<StoredLayouts> stored;
    if (options_.store != nullptr) {
      stored.emplace(*options_.store, question_.file, base->text, no_overrides_, catalog_, base->asked.spec);
      options.evaluate = [&](const JobLayout& layout, const std::function<Report()>& simulate) {
        return stored->evaluate(layout, simulate);
      };
    }
    SearchAnswer found = search(space, options);
    add(found.counts);
    if (found.best.empty()) return refuse(what, why_none(found));
    for (const std::string& term : question_.price_terms) add_row(*base, found, term, what);
  }

  static std::string why_none(const SearchAnswer& found) {
    if (found.miss)
      return "does not fit: " + to_string(found.miss->layout) + " comes nearest and lacks " +
             gib(found.miss->needed - found.miss->room);
    if (!found.proven) return "the search was stopped before any layout was simulated";
    return "no layout of the space has a schedule that its microbatches allow";
  }

  void add(const SearchCounts& counts) {
    answer_.counts.layouts += counts.layouts;
    answer_.counts.no_room += counts.no_room;
    answer_.counts.by_passes += counts.by_passes;
    answer_.counts.by_stages += counts.by_stages;
    answer_.counts.by_relaxed += counts.by_relaxed;
    answer_.counts.simulated += counts.simulated;
    answer_.counts.known += counts.known;
    answer_.counts.open += counts.open;
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
    const LoadResult priced = load_scenario(question_.file, row.scenario, catalog_, {});
    if (!priced.spec) return refuse(what + " " + term, priced.problems.front().message);
    const Spec& spec = *priced.spec;
    row.chip = spec.cluster.chip.name;
    row.fabric = spec.cluster.fabric.name;
    row.stack = spec.job.stack.name;
    row.precision = spec.job.precision.name;
    row.price_term = term;
    row.chips = spec.cluster.fabric.chips;
    row.found = best;
    row.gap = found.gap;
    row.days = question_.tokens / best.figures.tokens_per_s / kSecondsPerDay;
    row.mwh = question_.tokens * best.figures.energy_j_per_token / kJoulesPerMwh;
    const Price& price = spec.cluster.price;
    row.usd = usd_of_run(row.chips, row.days, price) + row.mwh * 1000 * price.usd_per_kwh;
    if (weeks_ && !over_weeks(row, what + " " + term)) return;
    answer_.rows.push_back(std::move(row));
  }

  // Days and dollars over failures. False where the block does not say enough.
  bool over_weeks(PlanRow& row, const std::string& what) {
    LoadReliabilityResult loaded = load_reliability(
        question_.file, row.scenario, catalog_,
        {{"reliability.target_tokens", shortest(question_.tokens)}, {"seeds", std::to_string(kRunsOfWeeks)}});
    if (!loaded.question) {
      refuse(what, loaded.problems.front().message);
      return false;
    }
    WeeksOptions options;
    options.threads = options_.threads;
    const ReliabilityReport report = predict_weeks(*loaded.question, options);
    if (report.unfinished > 0) {
      refuse(what,
             "with these failures a run does not end within " + fixed(report.longest_days, 0) + " days");
      return false;
    }
    row.days = report.figures.days.p50;
    row.days_p10 = report.figures.days.p10;
    row.days_p90 = report.figures.days.p90;
    row.usd = report.figures.cost_usd.p50;
    row.mwh = report.figures.energy_mwh.p50;
    return true;
  }

  const PlanQuestion& question_;
  const Catalog& catalog_;
  const PlanOptions& options_;
  const ClusterWords words_;
  const bool weeks_;
  const std::vector<Override> no_overrides_ = {};  // they are in the text of each cluster
  PlanAnswer answer_;
};

}  // namespace

double PlanRow::overrun(const PlanQuestion& question) const {
  double most = 0;
  if (question.most_days) most = std::max(most, days / *question.most_days - 1);
  if (question.most_usd) most = std::max(most, usd / *question.most_usd - 1);
  return most;
}

double PlanRow::value(PlanObjective objective) const {
  return objective == PlanObjective::kDays ? days : objective == PlanObjective::kEnergy ? mwh : usd;
}

PlanAnswer plan_training(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options) {
  return Planner(question, catalog, options).run();
}

}  // namespace podsim
