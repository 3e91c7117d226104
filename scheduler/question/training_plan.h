// What a scenario says of a training run that is to be bought: limits, and the clusters to choose from.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

// What is known of getting chips of a kind beside their price.
struct ChipTerms {
  double from_day = 0;                       // the first on which they can be had: lead time, or release
  std::optional<int> most_chips;             // quota, or the largest block
  double one_off_usd = 0, one_off_days = 0;  // of moving the job to them, before it trains

  // The job is moved while one waits for the chips.
  double start_day() const { return std::max(from_day, one_off_days); }
};

// What a plan makes least.
enum class PlanObjective : unsigned char { kUsd, kDays, kEnergy, kCarbon, kChips };

// In the order in which they are named.
struct PlanObjectives {
  std::vector<PlanObjective> least;  // the first decides, the others among equals; empty = usd
  bool by_regret = false;            // the least regret of the first is wanted, in the mean: named before it

  bool empty() const { return least.empty() && !by_regret; }
  void add(PlanObjective objective) { least.push_back(objective); }
  void add_regret() { by_regret = by_regret || least.empty(); }
};

// A field of the scenario by its path, and what it is to be, as --set has it.
struct FieldSetting {
  std::string path, value;
};

enum class VariedShape : unsigned char { kLognormal, kUniform, kTriangular };

// A number of the scenario that is not known: one in ten outcomes lies below `low`, one in ten above `high`.
struct VariedNumber {
  std::string path;
  double low = 0, high = 0;  // low < high; of a lognormal above 0
  bool factor = false;       // these are times what the scenario or its price list says
  VariedShape shape = VariedShape::kUniform;
  std::string chip = {};  // only choices on this chip, of the catalogue; empty = all, with the same draw

  // Half of all outcomes lie below.
  double median() const {
    return shape == VariedShape::kLognormal ? std::sqrt(low * high) : (low + high) / 2;
  }
  // Both are of one number of some choice.
  bool overlaps(const VariedNumber& other) const {
    return path == other.path && (chip == other.chip || chip.empty() || other.chip.empty());
  }
  std::string name() const { return path + (factor ? ", times" : "") + (chip.empty() ? "" : " of " + chip); }
};

// What owned chips take beside what the scenario says.
struct OwningTerms {
  std::vector<FieldSetting> settings;      // of rows whose contract is "owned"
  std::map<std::string, double> chip_usd;  // by the name of the chip: only these can be bought; empty = all
};

// Of chips that are taken away, a node at a time.
struct PreemptionTerms {
  double per_1000_node_days = 0, notice_s = 0, wait_s = 0;
};

// A bound on a figure, by its key; at least one of both is there.
struct FigureLimit {
  std::string key;
  std::optional<double> at_most, at_least;

  // By which share of the bound the figure is beyond it; of a bound of 0 the figure itself. 0 where it holds.
  double overrun(double figure) const {
    const auto share = [](double excess, double bound) {
      return std::max(0.0, bound == 0 ? excess : excess / std::abs(bound));
    };
    return std::max(at_most ? share(figure - *at_most, *at_most) : 0.0,
                    at_least ? share(*at_least - figure, *at_least) : 0.0);
  }
};

// Figures of a plan's row that a limit may name; others are those of the report of its run.
inline constexpr std::array<std::string_view, 11> kPlanFigures = {
    "chips",      "step_time_s", "memory_gib", "mfu_causal", "days",       "cost_usd",
    "energy_mwh", "carbon_t",    "power_kw",   "start_day",  "one_off_usd"};

// Clusters of one kind.
struct ClusterOption {
  std::string name;                      // or empty
  std::string chip, fabric, stack;       // of the catalogue; fabric and stack may be empty: what is usual
  std::vector<int> counts;               // of chips
  std::vector<int> slices;               // empty = as few as a pod allows
  std::vector<std::vector<int>> shapes;  // of slices; empty = the usual one
  std::vector<std::string> price_terms;  // empty = that of the cluster, or on_demand
  std::vector<std::string> precisions;   // empty = that of the job
  ChipTerms terms;
  std::string file, text;              // of a scenario of its own; empty = that of the plan
  std::vector<FieldSetting> settings;  // of its scenario: layouts, failures
  std::optional<PreemptionTerms> preemption;
};

// A missing limit is none; a missing probability takes all as it is predicted.
struct TrainingPlan {
  std::optional<double> tokens;
  std::optional<double> most_days, days_probability;
  std::optional<double> most_usd, usd_probability;
  std::vector<FigureLimit> limits;
  PlanObjectives objectives;
  std::optional<double> gap;            // share
  std::vector<ClusterOption> clusters;  // empty = the scenario's own
  std::vector<double> batch_tokens;     // of a step; empty = those of the job
  std::vector<FieldSetting> settings;   // of all clusters: layouts, carbon, what stands by and is saved
  bool choose_spares = false;
  std::optional<OwningTerms> own;
  std::map<std::string, double> embodied_kg;  // by the name of the chip
  std::vector<VariedNumber> vary;
  bool vary_step = true;  // by its error band
  std::optional<int> most_rows, draws;
  std::optional<double> search_seconds;
};

}  // namespace podsim
