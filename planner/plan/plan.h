// Which cluster to train on: of each choice of chips the fastest layout, what it costs, and when it is done.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"
#include "proto/catalog/catalog.h"
#include "proto/text/override.h"

namespace podsim {

class Store;

enum class PlanObjective : unsigned char { kUsd, kDays, kEnergy };

// A training run, and the clusters on which it may be done. `text` is a scenario: its cluster, where the chip
// is the same, its stack, where the chip has the kernels, and its space hold for all of them.
struct PlanQuestion {
  std::string file, text;
  std::vector<Override> overrides;
  double tokens = 0;  // to be trained
  std::vector<std::string> chips;
  std::vector<int> counts;
  std::vector<std::string> price_terms;
  std::vector<std::string> precisions;  // empty = that of the scenario
  std::optional<double> most_days, most_usd;
  PlanObjective objective = PlanObjective::kUsd;
  double gap = 0.01;  // of each search
};

// A cluster with the fastest layout of the job on it.
struct PlanRow {
  std::string chip, fabric, stack, precision, price_term;
  int chips = 0;
  FoundLayout found;
  std::string scenario;  // with this cluster and layout, as text
  double gap = 0;        // that the search left open
  double days = 0, usd = 0, mwh = 0;
  std::optional<double> days_p10, days_p90;  // over failures, where the scenario has a reliability block

  bool meets(const PlanQuestion& question) const { return overrun(question) == 0; }
  double overrun(
      const PlanQuestion& question) const;  // share by which it misses the limit that it misses most
  double value(PlanObjective objective) const;
};

// A choice that has no row, and why.
struct PlanRefusal {
  std::string what, why;
};

struct PlanAnswer {
  std::vector<PlanRow> rows;  // those that meet the limits first, the best first; then those that miss least
  std::vector<PlanRefusal> refused;
  SearchCounts counts;  // of all searches
  bool stopped = false;
};

struct PlanOptions {
  int threads = 1;
  const std::atomic<bool>* stop = nullptr;
  Store* store = nullptr;  // knows steps, and is told new ones
  // Told before each choice is searched; may be empty.
  std::function<void(const std::string& choice)> searching = {};
};

// Chips by chips, count by count, precision by precision; terms of the same cluster share a search. Days and
// dollars are those of podsim reliability where the scenario has that block, else those of a run without
// failures.
PlanAnswer plan_training(const PlanQuestion& question, const Catalog& catalog, const PlanOptions& options);

}  // namespace podsim
