// The answer: every published number of a run, defined once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/units.h"
#include "scheduler/replay/what_if.h"

namespace podsim {

// Exposed time of collectives over one set of mesh axes and of one kind.
struct ExposedCommunication {
  std::string axes;  // "data+fsdp"
  std::string kind;  // "all-gather"
  Time time;
};

struct LinkUse {
  std::string kind;  // "NVLink", "NIC", "ICI", ...
  // Share of the step for which transfers take links of the kind up: their bytes at the rate that they reach.
  double mean_utilisation;  // over all links
  double max_utilisation;   // of the busiest link
};

struct SlowParty {
  std::string who;       // "chip 137" or "512 chips like chip 0"
  double caused_chip_s;  // chip-seconds that others waited for it, per step
  double waited_chip_s;  // chip-seconds that it waited for others
};

// What one adversity costs: the step with all of them minus the step without this one. Costs need not add up
// to the straggler delay: two slow hosts that wait for each other hide each other.
struct FaultCost {
  // "chip 137 at speed 0.8", "8 chips of host 17 at speed 0.8", "3 slighter adversities together"
  std::string what;
  Time cost;            // may be negative: removing a delay can make others collide
  int adversities = 1;  // that are told as one
};

// What slowed a simulated job down. A recording must be judged by its operations alone (scheduler/replay); of
// a simulation it is known what was injected, and the step without it.
struct StragglerVerdict {
  double slowdown = 1;  // S: step time over that of the same job without adversities
  std::string cause;    // "chip 137 at speed 0.8", "3 adversities together", or "none"
  double share = 0;     // of the straggler delay, that the step has without the cause; 0 of none
  std::string replay;   // how the what-if replay of the steps compares, or why there is none, in words
};

// How a transfer fared on links that were down for a while.
struct FlapOutcome {
  Time begin, stood_still;  // the longest standstill of all draws; 0 = nothing was to be sent in any
  Time library_timeout;
  bool restart() const { return stood_still > library_timeout; }  // what follows is as without it
};

// What one entry of the adversity chose.
struct SlowEntry {
  std::string what;                              // "5% of hosts at speed 0.9 from 100 s to 1500 s"
  std::int64_t parts = 0, chips = 0, links = 0;  // chips that compute slower; links by direction
  std::optional<FlapOutcome> flap;
};

// GiB on a chip of one pipeline stage.
struct MemoryParts {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0, logits = 0, buffers = 0,
         fragmentation = 0, total = 0;
};

// What the job would need, and how long its step would be, after a change.
struct MemoryChange {
  std::string change;  // in the words of a scenario: "recompute: full"
  double total = 0;    // GiB per chip, worst stage
  Time step_time;      // without adversities
  bool fits = true;
};

struct MemoryReport : MemoryParts {  // of the stage that needs most
  double capacity = 0;               // GiB of a chip
  int worst_stage = 0;
  bool fits = true;
  double retry_free_share = 0;  // with less of the capacity free the allocator retries; 0 = not known
  std::vector<MemoryParts> stages;
  // When it does not fit: the changes that would make it fit, fastest step first; or the one that comes
  // nearest.
  std::vector<MemoryChange> advice;
};

// Where the measured step time lies for eight runs in ten that are like this one.
struct StepTimeBand {
  Time low, high;    // 10th and 90th percentile
  std::string kind;  // which measured runs: "same chip and stack", "same chip", "unseen chip", ...
  int rows = 0;      // how many
};

// Kind of the band of a prediction that measured steps of the user's own have moved.
inline constexpr char kAnchoredBand[] = "anchored";

// A number of the stack that measured steps of the user's own may have moved.
struct AnchoredNumber {
  std::string parameter;  // numbers of one parameter move together
  std::string path;       // of the stack: "gemm_factor"
  double before = 0, after = 0;
  double unsure = 1;  // what is left of the spread that it was given, as a share
};

// Watts of the mean chip by what it does, and how far they may be off. `chip_w` is the sum of the four before
// it.
struct PowerReport {
  double idle_w = 0, matmul_w = 0, memory_w = 0, waiting_w = 0;
  double communication_w = 0;  // of waiting_w
  double waiting_share = 0;    // of the step
  double chip_w = 0;
  double system_w = 0;  // with its share of host and network
  double low_kw = 0, high_kw = 0;
  double energy_low_j_per_token = 0, energy_high_j_per_token = 0;
  double usd_per_hour = 0, low_usd_per_hour = 0, high_usd_per_hour = 0;  // where energy is paid for
};

// Documents padded to several lengths: the report is of the longest shape, this of all of them.
struct ShapeReport {
  int tokens = 0;
  double share = 0;  // of the steps
  Time step_time;
};
struct ShapesReport {
  double padding_share = 0;  // of the tokens that are computed
  Time step_time;            // mean over the steps of a run
  Time compile_time;         // of a step, its share of what is compiled
  double tokens_per_s = 0;   // of documents
  std::vector<ShapeReport> by_shape;

  Time whole() const { return step_time + compile_time; }
};

// In kg of CO2e, of all chips.
struct CarbonReport {
  double power_kg_per_hour = 0, making_kg_per_hour = 0;
  double low_power_kg_per_hour = 0, high_power_kg_per_hour = 0;
  double kg_per_million_tokens = 0;  // of both
};

// What measured steps of the user's own made of the prediction.
struct AnchorReport {
  int runs = 0;
  int kernels = 0;
  Time step_time_before;                    // as predicted without them
  std::optional<StepTimeBand> band_before;  // likewise
  std::vector<AnchoredNumber> numbers;
};

inline constexpr double kConfidence = 0.95;  // of every interval below

// Where a figure of the step time of all possible draws lies, by those that were simulated.
struct ConfidenceInterval {
  Time low, high;
};

// How step times spread over several draws of random adversities; all steps of all draws are the sample.
struct EnsembleReport {
  int seeds = 0;  // draws
  Time shortest, longest;
  Time standard_deviation;  // nearest picosecond
  double coefficient_of_variation = 0;
  ConfidenceInterval mean;
  std::optional<ConfidenceInterval> p50, p99;  // missing: the seeds are too few to tell
};

// Buckets are of the mean chip in the step without adversities; with straggler_delay they sum to step_time to
// the picosecond.
struct Report {
  std::string scenario_sha256;  // of the scenario and of what its names mean
  std::string scenario, question, chip, fabric, model, stack;
  int chips = 0;
  std::uint64_t seed = 0;  // of several the first
  int steps = 1;           // of all seeds

  Time step_time;  // mean over simulated steps, of all seeds
  Time step_time_p50;
  Time step_time_p99;
  std::optional<StepTimeBand> band;        // of the error of the prediction; p50 and p99 are over steps
  std::optional<AnchorReport> anchor;      // where steps of the user's own were measured
  std::optional<EnsembleReport> ensemble;  // of several seeds
  Time compute;                            // forward and backward operations, launch gaps included
  std::vector<ExposedCommunication> exposed;
  Time exposed_communication;  // sum of `exposed`
  Time pipeline_bubble;  // waiting for other chips: stages of the pipeline and late members of collectives
  Time straggler_delay;  // step_time minus the same step without adversities
  Time optimizer;
  Time input_stall;
  Time offload_wait;  // for copies to or from the host
  Time skew_wait;     // for the slowest host, on average
  Time evaluation;    // forward passes between training steps, their share of a step
  std::optional<ShapesReport> shapes;

  double model_flops_per_token_causal = 0, model_flops_per_token_full = 0;
  double mfu_causal = 0, mfu_full = 0, hfu_full = 0;  // shares of the dense peak of the matmul dtype
  double mfu_bf16_full = 0;                           // against the bf16 peak, to compare precisions
  double tokens_per_step = 0, tokens_per_s = 0, tokens_per_s_per_chip = 0;
  double parameters = 0;

  MemoryReport memory = {};
  double cost_usd_per_hour = 0, cost_usd_per_million_tokens = 0;
  std::string price;  // "tpu_v5p on_demand"
  double power_kw = 0, energy_j_per_token = 0;
  PowerReport power = {};
  std::optional<CarbonReport> carbon;  // where the scenario names a grid
  std::vector<LinkUse> link_use;
  std::vector<FaultCost> fault_costs;       // dearest first; empty without adversities
  std::vector<SlowEntry> slow_entries;      // in the order of the scenario; by selector only
  std::vector<SlowParty> slow_parties;      // worst first; empty without adversities
  std::optional<StragglerVerdict> verdict;  // where there are fault costs
  // Of up to four steps of the first draw; nothing without adversities, for a job beside others, and where
  // the verdict says why.
  std::optional<WhatIf> what_if;

  // How it was computed.
  std::vector<std::string> algorithms;  // "tensor all-gather 64.0 MiB: ring"
  int chip_classes = 0, group_classes = 0, link_classes = 0;
  std::int64_t events = 0;           // simulated
  std::int64_t periods_skipped = 0;  // of loops that had become periodic

  // Of measured layers the operations, and with them FLOPs and memory, may not be known.
  bool knows_flops() const { return model_flops_per_token_full > 0; }
  bool knows_memory() const { return memory.total > 0; }
};

// One of several jobs on a fabric, at the same place on it in both reports.
struct JobReport {
  std::string name;
  int first_chip = 0;
  Report alone;
  Report together;  // while the other jobs run; tells no cost of single adversities

  double slowdown() const;  // step time together over alone
};

// What jobs that share a fabric cost each other.
struct JobsReport {
  std::string scenario_sha256;
  std::string scenario, question, chip, fabric;
  int chips = 0;  // of the fabric
  std::uint64_t seed = 0;
  std::vector<JobReport> jobs;
};

}  // namespace podsim
