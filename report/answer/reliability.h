// The answer about a training run of weeks: by formula and by simulation, each figure defined once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/answer/report.h"

namespace podsim {

// How a figure varies over the simulated runs.
struct Spread {
  double mean = 0, standard_deviation = 0, standard_error = 0;  // of the mean
  double p05 = 0, p10 = 0, p50 = 0, p90 = 0, p95 = 0;           // nearest rank
};

// By formula (scheduler/reliability/weeks/closed_forms.h): failures at a constant rate, all recoveries of the
// same length, repairs that begin at once.
struct ReliabilityClosedForms {
  double failures_per_day = 0;   // that strike the job while it is whole, or slow it
  double rollbacks_per_day = 0;  // of them, after which training is lost
  double mttf_h = 0;             // mean time between failures; 0 = nothing fails
  double failures_per_1000_node_days = 0;
  double recovery_s = 0;                                // without waiting
  double young_s = 0, daly_s = 0, best_interval_s = 0;  // between checkpoints; 0 = no training is lost
  double goodput = 0;                                   // at the interval of the run: checkpointed_goodput
  double ettr = 0;                                      // likewise, first order: expected_ettr
  double nodes_in_repair = 0;                           // on average
  std::int64_t spares_99 = 0,
               spares_99_9 = 0;  // nodes that make up for those in repair 99 % and 99.9 % of the time
};

struct IntervalTrial {
  double interval_s = 0;
  double ettr = 0;  // mean
};

struct IntervalReport {
  std::string choice;  // "given", "young", "daly", "exact", "simulated"
  double interval_s = 0;
  std::vector<IntervalTrial> trials;      // of a search by simulation, by rising interval
  double flat_from_s = 0, flat_to_s = 0;  // of the search: within 0.1 points of the best
};

struct BucketReport {
  std::string bucket, ml_goodput;
  double chip_hours = 0;  // mean of a run
  double share = 0;       // of all chip-time
};

struct BillLine {
  std::string item;       // "job", "idle spares", "out of order", "rest of the term", "egress", "energy"
  double chip_hours = 0;  // mean of a run; 0 of energy
  double usd = 0;
};

struct ComponentFailures {
  std::string component;
  double mean = 0;   // of a run, that struck the job
  double share = 0;  // of all
};

// What is derived from the buckets, over the runs.
struct ReliabilityFigures {
  Spread ettr;     // training that is kept / (chips of the job x time); also effective training time
  Spread goodput;  // productive / all chip-time, of spares and repair too
  // ettr = scheduling x runtime goodput: the share of the job's chip-time in which it has its chips, and what
  // it trains and keeps of that.
  Spread scheduling_goodput, runtime_goodput;
  double program_goodput = 0;          // MFU, mean of the step; 0 = not known
  double ml_productivity_goodput = 0;  // the product of the three; 0 = not known
  double uninterrupted = 0;            // share of runs that nothing stops
  Spread failures;                     // that struck the job, with those that only slow it
  Spread interruptions;                // of training
  Spread checkpoints;
  Spread days;
  Spread cost_usd;  // sum of the bill
  Spread energy_mwh;
  double power_range = 0;          // by which share watts, and so energy, may be off
  std::optional<Spread> carbon_t;  // tonnes of CO2e, where the grid is known
};

// How runs went, for pictures.
struct WeeksCourse {
  struct Slice {
    double begin_day = 0, end_day = 0;
    std::vector<double> shares;  // of all chip-time, in the order of ReliabilityReport::buckets
  };
  struct Failure {
    double day = 0;
    std::string component;
  };
  // Goodput from the start to then: of ten runs one is below `low`, and one above `high`.
  struct Goodput {
    double day = 0, low = 0, middle = 0, high = 0;
  };
  std::vector<Slice> slices;      // of the first run
  std::vector<Failure> failures;  // likewise, that struck the job
  std::vector<Goodput> goodput;   // of the first runs together
  int runs = 0;                   // so many
};

struct ReliabilityReport {
  std::string scenario_sha256;
  std::string scenario, question, chip, fabric, failures, price;
  int job_chips = 0, spare_chips = 0, job_nodes = 0, spare_nodes = 0;
  std::uint64_t seed = 0;
  int seeds = 0;
  std::optional<double> target_tokens;
  int unfinished = 0;               // runs that did not reach the target
  double longest_days = 0;          // where runs end at the latest
  double step_time_s = 0, mfu = 0;  // 0 = not known
  ReliabilityClosedForms closed_forms;
  IntervalReport interval;
  ReliabilityFigures figures;
  std::vector<BillLine> bill;    // mean of the runs
  double unpaid_chip_hours = 0;  // out of order or taken away, which the contract does not charge
  double egress_gb = 0, usd_per_egress_gb = 0;  // mean of a run
  double usd_per_chip_hour = 0, low_usd_per_chip_hour = 0, high_usd_per_chip_hour = 0;
  double minimum_days = 0;                    // of the contract
  std::optional<StepTimeBand> step_band;      // with which days, cost and energy vary
  std::vector<BucketReport> buckets;          // all, in their order
  std::vector<ComponentFailures> components;  // most first
  std::optional<WeeksCourse> course;          // where it was asked for; not among the figures
  bool fits_in_memory = true;                 // the job, where there is one
};

}  // namespace podsim
