// Goes through the clusters, searches the layouts of each and puts a price on the best: a part of plan.h.
#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/binary_units.h"
#include "planner/plan/batch_counts.h"
#include "planner/plan/cluster_study.h"
#include "planner/plan/make_row.h"
#include "planner/plan/own_chip.h"
#include "planner/plan/own_layout.h"
#include "planner/plan/plan.h"
#include "planner/plan/time_left.h"
#include "planner/plan/torus_words.h"
#include "planner/search/stored_steps.h"
#include "planner/space/even_batches.h"
#include "prediction/step_length.h"
#include "proto/catalog/assumed_stacks.h"
#include "proto/catalog/owning_tables.h"
#include "proto/scenario/chosen_fabric.h"
#include "proto/scenario/load_space.h"
#include "proto/scenario/write_layout.h"
#include "report/text/text.h"

namespace podsim {
namespace {

// Tried in this order where the chip lacks the kernels of the scenario's stack.
std::vector<std::string> other_stacks() {
  std::vector<std::string> stacks = assumed_stacks(KnownOfSoftware::kGpu);
  for (std::string& stack : assumed_stacks(KnownOfSoftware::kTorus)) stacks.push_back(std::move(stack));
  return stacks;
}

std::vector<Override> with(std::vector<Override> overrides, const std::string& path,
                           const std::string& value) {
  overrides.push_back({path, value});
  return overrides;
}

// Figures with limits that another layout of the same cluster may meet where the fastest does not, those of
// chips and contracts apart.
bool moved_by_layout(const FigureLimit& limit) {
  return limit.key != "chips" && limit.key != "start_day" && limit.key != "one_off_usd";
}

// The clusters of one scenario.
class Planner {
 public:
  Planner(const PlanQuestion& question, std::size_t of_scenario, const Catalog& catalog,
          const PlanOptions& options, TimeLeft& time_left, PlanAnswer& answer)
      : question_(question),
        of_scenario_(of_scenario),
        scenario_(question.scenarios[of_scenario]),
        catalog_(catalog),
        options_(options),
        words_(cluster_words(scenario_.text, scenario_.overrides)),
        time_left_(time_left),
        answer_(answer) {}

  void run() {
    if (question_.own_layouts && !take_own_layout()) return;
    std::vector<std::string> precisions = scenario_.precisions;
    if (precisions.empty()) precisions.emplace_back();
    for (const std::string& chip : scenario_.chips)
      for (const std::string& precision : precisions)
        for (const int count : scenario_.counts)
          for (const int batch : batches_on(scenario_, words_.sequence_tokens, count))
            for (const TorusWords& torus : tori_of(scenario_, count)) {
              if (stopped()) break;
              plan_cluster(chip, precision, count, batch, torus);
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
    own_ = OwnLayout{*own, loaded.question->spec.job.all_at_once};
    return true;
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
  std::optional<Base> base_of(const std::string& chip, const std::string& precision, int count, int batch,
                              const TorusWords& torus, std::string& why) {
    ScenarioOnChip on_chip = scenario_on_chip(scenario_, chip, catalog_);
    std::vector<Override> overrides = with(std::move(on_chip.overrides), "cluster.chip", chip);
    overrides = with(overrides, "cluster.chips", std::to_string(count));
    if (batch > 0) overrides = with(overrides, "job.global_batch_sequences", std::to_string(batch));
    const auto making =
        question_.embodied_kg.find(catalog_.canonical(Catalog::Section::kChips, chip).value_or(chip));
    if (making != question_.embodied_kg.end())
      overrides = with(overrides, "cluster.embodied_kg", shortest(making->second));
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
    if (!torus.shape.empty())
      overrides = with(overrides, "cluster.slice_shape", "[" + torus.lengths(",") + "]");
    // A pod may have fewer chips than that.
    int slices = torus.slices;
    if (slices == 0 && words_.slices == 0)
      slices = fewest_slices(catalog_, own_fabric ? words_.fabric : fabrics.front(), count);
    if (slices > 1 || torus.slices > 0) overrides = with(overrides, "cluster.slices", std::to_string(slices));
    const int ranks = std::gcd(std::max(batch > 0 ? batch : words_.global_batch, 1), count);
    auto base = on_some_stack(on_chip.text, overrides, count, ranks, why);
    // The scenario's own contract may be none that a list of the user's has.
    for (std::size_t i = 0; !base && i < scenario_.price_terms.size(); ++i)
      base = on_some_stack(on_chip.text, with(overrides, "cluster.price_term", scenario_.price_terms[i]),
                           count, ranks, why);
    return base;
  }

  std::optional<Base> on_some_stack(const std::string& text, const std::vector<Override>& overrides,
                                    int count, int data, std::string& why) const {
    auto base = loaded(text, overrides, count, data, why);
    for (std::size_t i = 0; !base && !scenario_.only_its_stack && i < other_stacks_.size(); ++i)
      base = loaded(text, with(overrides, "job.stack", other_stacks_[i]), count, data, why);
    return base;
  }

  std::optional<Base> loaded(const std::string& text, const std::vector<Override>& overrides, int count,
                             int data, std::string& why) const {
    LayoutBlocks plain;
    plain.mesh = {{"spare", count / data}, {"data", data}};
    plain.sharding = {"data"};
    Base base{scenario_with_layout(text, overrides, plain, "", KeepSpace::kYes), {}};
    LoadSearchResult result = load_search(scenario_.file, base.text, catalog_, {});
    if (!result.question) {
      if (why.empty()) why = result.problems.front().message;
      return std::nullopt;
    }
    base.asked = *std::move(result.question);
    return base;
  }

  void plan_cluster(const std::string& chip, const std::string& precision, int count, int batch,
                    const TorusWords& torus) {
    const std::string of_batch = batch > 0 ? ", " + std::to_string(batch) + " sequences" : "";
    const std::string what = name_of_scenario() + std::to_string(count) + " " + chip + torus.name() +
                             (precision.empty() ? "" : " " + precision) + of_batch;
    if (answer_.clusters++ % options_.shards != options_.shard - 1) return;
    if (options_.searching) options_.searching(what);
    const ChipTerms terms = terms_of(question_, scenario_, chip, catalog_);
    if (terms.most_chips && count > *terms.most_chips)
      return refuse(what, "no more than " + std::to_string(*terms.most_chips) + " are to be had");
    std::string why;
    const auto base = base_of(chip, precision, count, batch, torus, why);
    if (!base) return refuse(what, why);
    const LayoutSpace wanted =
        within_memory_limit(own_ ? space_of(*own_, base->asked.spec) : base->asked.space, base->asked.spec);
    const Space space(base->asked.spec, wanted);
    if (space.stems().empty()) return refuse(what, why_no_layout(base->asked.spec, wanted));
    time_left_.begin_cluster();
    SearchAnswer found = found_in(space, wanted, *base, what);
    answer_.counts += found.counts;
    if (found.best.empty() && wanted.memory_headroom_share != base->asked.space.memory_headroom_share &&
        !own_) {
      // None meets the limit on memory: the row is to tell by how much.
      const Space all(base->asked.spec, base->asked.space);
      found = found_in(all, base->asked.space, *base, what);
      answer_.counts += found.counts;
    }
    if (found.best.empty()) return refuse(what, why_none(found));
    const ClusterWords written = cluster_words(base->text, {});
    const RowParts parts{question_,           of_scenario_,     what,
                         torus.name(),        base->text,       base->asked.spec,
                         written.reliability, written.failures, written.step_error};
    add_rows(parts, space, *base, found, written.own_price);
  }

  // One for each contract.
  void add_rows(const RowParts& parts, const Space& space, const Base& base, const SearchAnswer& found,
                bool own_price) {
    const std::vector<std::string> terms = terms_with_owning(base.asked.spec.cluster.chip.name);
    for (const std::string& term : terms) {
      const std::string why = own_price ? why_no_price(scenario_, terms, term) : "";
      if (!why.empty()) {
        refuse(parts.name + " " + term, why);
        continue;
      }
      try {
        add_row(parts, space, base, found, term);
      } catch (const StepTooLong& refusal) {  // with what its weeks or what is not known add to the step
        refuse(parts.name + " " + term, refusal.what());
      }
    }
  }

  // Contracts of a chip.
  std::vector<std::string> terms_with_owning(const std::string& chip) const {
    std::vector<std::string> terms = scenario_.price_terms;
    const bool listed = std::ranges::find(terms, kOwnedTerm) != terms.end();
    if (listed || !question_.own) return terms;
    const auto& prices = question_.own->chip_usd;
    if (prices.empty() ? known_capital(chip).has_value() : prices.contains(chip)) terms.push_back(kOwnedTerm);
    return terms;
  }

  // A limit on the memory of a chip is one on what must stay free.
  LayoutSpace within_memory_limit(LayoutSpace space, const Spec& spec) const {
    for (const FigureLimit& limit : question_.limits)
      if (limit.key == "memory_gib" && limit.at_most && spec.cluster.chip.hbm_capacity.value > 0)
        space.memory_headroom_share =
            std::max(space.memory_headroom_share,
                     std::min(1 - *limit.at_most * kBytesPerGib / spec.cluster.chip.hbm_capacity.value, 1.0));
    return space;
  }

  void add_row(const RowParts& parts, const Space& space, const Base& base, const SearchAnswer& found,
               const std::string& term) {
    std::string why;
    auto row = make_row(parts, found.best.front(), term, catalog_, options_, why);
    if (!row) return refuse(parts.name + " " + term, why);
    row->gap = found.gap;
    const bool helps = std::ranges::any_of(question_.limits, moved_by_layout);
    if (helps && !row->facts.within_limits && !stopped()) look_for_slower(parts, space, base, term, *row);
    if (!set_varied(parts, catalog_, options_, *row, why)) return refuse(parts.name + " " + term, why);
    answer_.rows.push_back(*std::move(row));
  }

  // The fastest layout that meets the limits, in place of the fastest of all.
  void look_for_slower(const RowParts& parts, const Space& space, const Base& base, const std::string& term,
                       PlanRow& row) {
    std::optional<PlanRow> slower;
    SearchOptions options = search_options();
    std::optional<StoredLayouts> stored;
    if (options_.store != nullptr) {
      stored.emplace(*options_.store, scenario_.file, base.text, no_overrides_, catalog_, base.asked.spec);
      options.evaluate = [&](const JobLayout& layout, const std::function<Report()>& simulate) {
        return stored->evaluate(layout, simulate);
      };
    }
    options.most_refused = kMostRefusedLayouts;
    options.admits = [&](const FoundLayout& layout) {
      std::string why;
      auto made = make_row(parts, layout, term, catalog_, options_, why);
      if (!made || !made->facts.within_limits) return false;
      if (!slower || layout.figures.step_time < slower->found.figures.step_time) slower = std::move(made);
      return true;
    };
    const SearchAnswer found = search(space, options);
    answer_.counts += found.counts;
    if (!slower) {
      row.missing = {found.counts.simulated, found.counts.open == 0};
      return;
    }
    slower->gap = found.gap;
    slower->fastest_step = row.found.figures.step_time;
    row = *std::move(slower);
  }

  SearchOptions search_options() const {
    SearchOptions options;
    options.top = 1;
    options.gap = question_.gap;
    options.threads = options_.threads;
    options.stop = time_left_.stop();
    options.progress = [this](const SearchProgress&) { time_left_.look(); };
    return options;
  }

  // The best layout of a cluster, from the store where it has been searched to the end before.
  SearchAnswer found_in(const Space& space, const LayoutSpace& wanted, const Base& base,
                        const std::string& what) {
    SearchOptions options = search_options();
    if (options_.store == nullptr) return search(space, options);
    Store& store = *options_.store;
    StoredLayouts stored(store, scenario_.file, base.text, no_overrides_, catalog_, base.asked.spec);
    options.evaluate = [&](const JobLayout& layout, const std::function<Report()>& simulate) {
      return stored.evaluate(layout, simulate);
    };
    const StudyName study = study_of_cluster(what, base.asked.spec, wanted, question_.gap);
    if (auto known = kept_answer(store, study, space)) {
      ++answer_.clusters_known;
      return *std::move(known);
    }
    SearchAnswer answer = search(space, options);
    if (!answer.best.empty() && answer.proven) keep_answer(store, study, stored, answer);
    return answer;
  }

  // Of a space that is empty.
  static std::string why_no_layout(const Spec& spec, const LayoutSpace& wanted) {
    const std::string chips = std::to_string(spec.cluster.fabric.chips) + " chips";
    std::string others;
    for (const int batch : nearest_even_batches(spec, wanted))
      others += (others.empty() ? "" : " or ") + std::to_string(batch);
    if (others.empty()) return "no layout of the space makes " + chips;
    return "a batch of " + std::to_string(spec.job.global_batch) +
           " sequences comes out even on no layout of the space that makes " + chips + "; " + others +
           " would";
  }

  std::string why_none(const SearchAnswer& found) const {
    if (!found.refused.empty())
      return "no layout that fits can be simulated: " + to_string(found.refused.front().layout) + ": " +
             found.refused.front().why;
    if (found.miss)
      return "does not fit: " + to_string(found.miss->layout) + " comes nearest and lacks " +
             gib(found.miss->needed - found.miss->room);
    if (!found.proven)
      return "the search was stopped before any layout was simulated" +
             std::string(question_.search_seconds ? ": give it more seconds" : "");
    return "no layout of the space has a schedule that its microbatches allow";
  }

  const PlanQuestion& question_;
  const std::size_t of_scenario_;
  const PlanScenario& scenario_;
  const Catalog& catalog_;
  const PlanOptions& options_;
  const ClusterWords words_;
  const std::vector<std::string> other_stacks_ = other_stacks();
  TimeLeft& time_left_;
  std::optional<OwnLayout> own_;                   // instead of a search
  const std::vector<Override> no_overrides_ = {};  // they are in the text of each cluster
  PlanAnswer& answer_;
};

}  // namespace

PlanAnswer clusters_of(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options) {
  PlanAnswer answer;
  std::size_t clusters = 0;
  for (const PlanScenario& each : question.scenarios)
    for (const int count : each.counts)
      clusters += each.chips.size() * std::max<std::size_t>(each.precisions.size(), 1) *
                  std::max<std::size_t>(each.batch_tokens.size(), 1) * tori_of(each, count).size();
  TimeLeft time_left(question.search_seconds, clusters / static_cast<std::size_t>(options.shards),
                     options.stop);
  for (std::size_t i = 0; i < question.scenarios.size(); ++i)
    Planner(question, i, catalog, options, time_left, answer).run();
  answer.stopped = options.stop != nullptr && options.stop->load();
  return answer;
}

PlanAnswer plan_training(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options) {
  PlanAnswer answer = clusters_of(question, catalog, options);
  if (!answer.rows.empty()) decide(question, catalog, options, answer);
  return answer;
}

}  // namespace podsim
