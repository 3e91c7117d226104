// Which cluster to train on: of each choice of chips the fastest layout, what it costs, and when it is done.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/plan/outcomes.h"
#include "planner/search/search.h"
#include "proto/catalog/catalog.h"
#include "proto/text/override.h"
#include "scheduler/question/plan_limits.h"
#include "scheduler/question/price.h"
#include "scheduler/question/training_plan.h"

namespace podsim {

class Store;

// A job as a scenario, and the chips that it may run on: its cluster, where the chip is the same, its stack,
// where the chip has the kernels, and its space hold for all of them.
struct PlanScenario {
  std::string file, text;
  std::vector<Override> overrides;
  std::vector<std::string> chips;
  std::vector<int> counts;
  std::vector<int> slices = {};               // of a torus, each tried; empty = the scenario's, or the fewest
  std::vector<std::vector<int>> shapes = {};  // of slices, each tried where it makes the chips; empty = usual
  std::vector<std::string> price_terms = {kOnDemandTerm};
  std::vector<std::string> precisions = {};  // empty = that of the scenario
  std::string name = {};                     // of a choice, or empty
  ChipTerms terms = {};                      // where the question has none of the chip
  bool only_its_stack = false;               // no other one where the chip lacks its kernels
  std::string own_chip = {};              // that the file names; empty = that which text and overrides name
  std::vector<double> batch_tokens = {};  // of a step; empty = that of the scenario
  std::optional<PreemptionTerms> preemption = {};  // of spot, beside what the block reliability lists
};

// A training run, and the clusters on which it may be done.
struct PlanQuestion {
  std::vector<PlanScenario> scenarios;
  double tokens = 0;  // to be trained
  std::optional<double> most_days, most_usd;
  // With which these are to hold; nothing = as if all came as predicted.
  std::optional<double> days_probability, usd_probability;
  std::vector<FigureLimit> limits;                // of keys of kPlanFigures, or of the report of a row's run
  std::optional<double> most_kw;                  // at the meter: no row draws more
  std::map<std::string, ChipTerms> terms;         // by the name of the chip
  PlanObjective objective = PlanObjective::kUsd;  // none of regret
  bool by_regret = false;                         // the least regret of it is wanted, in the mean
  std::vector<PlanObjective> ties = {};           // among rows that are equal in that
  double gap = kUsualPlanGap;                     // of each search
  std::optional<double> search_seconds;           // for all searches: each has an even share of what is left
  std::optional<OwningTerms> own;                 // a contract "owned" beside the others
  std::map<std::string, double> embodied_kg;      // of making a chip, by its name
  bool choose_spares = false;                     // as many as are best, of each row
  std::vector<VariedNumber> vary;
  bool vary_step = true;         // by its error band
  std::optional<int> most_rows;  // of the answer
  bool own_layouts = false;      // of each scenario, whose data ranks take what chips there are: no search
  bool pareto = false;           // only rows that no other beats in chips, days and USD
  int draws = kUsualPlanDraws;   // of what is not known

  bool several_files() const;
  // And the dollars at last: contracts of the same chips are equal in all else.
  std::vector<PlanObjective> all_ties() const;
};

// A cluster with the fastest layout of the job on it.
struct PlanRow {
  std::string chip, fabric, stack, precision, price_term;
  int chips = 0;
  int slices = 1;
  std::vector<int> slice_shape;  // empty where the fabric is no torus
  std::string torus;             // these in words, where a choice asks for them: " in 2 slices of 4x4"
  std::size_t of_scenario = 0;   // of the question
  FoundLayout found;
  double batch_tokens = 0;           // of a step
  std::optional<Time> fastest_step;  // where the fastest layout misses a limit that this one meets
  // Where no layout that was looked at meets the limits on figures: how many were simulated, and whether
  // there are more.
  struct Missing {
    std::int64_t layouts = 0;
    bool all = false;
  };
  std::optional<Missing> missing;
  Bytes memory_capacity;              // of a chip
  std::string scenario;               // with this cluster and layout, as text
  double gap = 0;                     // that the search left open
  double days = 0, usd = 0, mwh = 0;  // days until it is done, with those before it trains
  double power_kw = 0;                // at the meter, while it trains
  ChipTerms terms;
  std::optional<std::int64_t> spare_nodes;  // where they were chosen
  std::vector<double> limited;              // [limit of the question] the figure that it bounds
  bool below_16_bits = false;               // matmuls: that the quality stays is not predicted
  std::optional<double> carbon_t;           // tonnes of CO2e, where the scenario names a grid
  bool over_failures = false;               // these are medians over runs of weeks
  ChoiceFacts facts;
  ChoiceOutcome outcome;

  // While it trains, power that is paid by the kWh included: as podsim run has it.
  double usd_per_hour() const;
  bool meets(const PlanQuestion& question) const { return overrun(question) == 0; }
  // Share by which it misses the limit that it misses most.
  double overrun(const PlanQuestion& question) const;
  // What is held against the deadline and the budget: as predicted, or with the probability asked for.
  double held_days(const PlanQuestion& question) const;
  double held_usd(const PlanQuestion& question) const;
  // One of kPlanFigures; nothing for other keys, and of carbon where the scenario names no grid.
  std::optional<double> figure(const PlanQuestion& question, std::string_view key) const;
  double value(PlanObjective objective) const;
};

// A choice that has no row, and why.
struct PlanRefusal {
  std::string what, why;
};

struct PlanAnswer {
  std::vector<PlanRow> rows;  // those that meet the limits first, the best first; then those that miss least
  std::vector<PlanRefusal> refused;
  std::optional<PlanRow> helps;  // where no row meets the limits: the first after the change that helps most
  SearchCounts counts;           // of all searches
  int clusters = 0;              // gone through, by whatever part
  int clusters_known = 0;        // of them, whose best layouts a store has
  std::vector<AssumptionSwing> swings;  // what the first row hangs on, against `second`
  std::optional<std::size_t> second;    // the next row on another chip, stack or contract
  std::vector<WorthOfKnowing> worth;    // of knowing how fast a row really is
  std::size_t rows_left_out = 0;        // that the question has no room for
  bool stopped = false;
};

struct PlanOptions {
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
  Store* store = nullptr;     // knows steps and the best layouts of clusters, and is told new ones
  int shard = 1, shards = 1;  // of the clusters in their order only every so manieth
  // Told before each choice is searched; may be empty.
  std::function<void(const std::string& choice)> searching = {};
};

// Scenario by scenario, chips by chips, count by count, precision by precision, batch by batch; terms of the
// same cluster share a search. Days and dollars are those of podsim reliability where the scenario has that
// block, else those of a run without failures. Where the fastest layout of a cluster misses a limit on a
// figure, the fastest is looked for that meets it, among those that are simulated until kMostRefusedLayouts
// have missed it.
inline constexpr int kMostRefusedLayouts = 300;
PlanAnswer plan_training(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options);

// Its two steps. The rows alone, as they come; what they come to by chance, their order, and what the first
// hangs on. REQUIRES of the second: there is a row.
PlanAnswer clusters_of(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options);
void decide(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options,
            PlanAnswer& answer);

}  // namespace podsim
