// What failures and checkpoints cost by formula: intervals, goodput, time between failures, spares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

// All times are in seconds and rates per second. "mttf_s" is the mean time between failures of whatever the
// job runs on, all its nodes together; failures come as a Poisson process. Every function REQUIRES: positive
// arguments, or zero where the comment says so.

// 1 / (nodes * rate). Source: Kokolis et al., HPCA 2025, section 5.
double mttf_s(double nodes, double failures_per_node_s);

// Trained between two checkpoints, first order: sqrt(2 save mttf). Save may be 0. Source: Young, CACM 1974.
double young_interval_s(double save_s, double mttf_s);

// The same, higher order; the mttf where a save takes two of them or more. Source: Daly, FGCS 2006, eq. 37.
double daly_interval_s(double save_s, double mttf_s);

// Share of time that trains and is kept, when a failure loses what was trained since the last checkpoint and
// restarts and saves can fail too: interval / (M e^(R / M) (e^((interval + save) / M) - 1)), M the mttf and R
// the restart. Save and restart may be 0. Source: Daly 2006, eq. 13, whose time per segment this is.
// A checkpoint that can be used only so long after it was begun, `persist`, while training goes on, is there
// with the probability e^(-persist / M) that nothing fails until then; persist is at most the interval.
double checkpointed_goodput(double interval_s, double save_s, double restart_s, double mttf_s,
                            double persist_s = 0);

// Copies in memory after each interval, of which each n-th checkpoint goes to storage too.
struct MemoryCopies {
  double interval_s = 0, save_s = 0;                   // the mean save, of all
  int saves_per_storage_save = 1;                      // n
  double persist_s = 0;                                // of those to storage
  double memory_restart_s = 0, storage_restart_s = 0;  // with the copies, and without
};

// The same when a share of the failures takes the copies too: they go back to the storage save before, whose
// interval is n of the others with what other failures cost in between. Daly's formula of such intervals; it
// takes their length as fixed, and the n-th save as counted anew after such a failure.
double goodput_with_copies(const MemoryCopies& copies, double mttf_s, double share_lost);

// The interval where checkpointed_goodput is largest: x = interval / M solves x = 1 - e^(-x - save / M).
// It depends neither on the restart nor on persist, and is 0 where a save is.
double best_interval_s(double save_s, double mttf_s);

// Expected effective training time ratio, first order: (1 - (restart + interval / 2) / M) / (1 + save /
// interval), at least 0; interval = training and save together. Its best interval is Young's. Save and
// restart may be 0; what a failure costs besides, such as work since a checkpoint that cannot be used yet, is
// added to the restart. Source: Kokolis et al., HPCA 2025, section 5.
double expected_ettr(double interval_s, double save_s, double restart_s, double mttf_s);

// Nodes that are out for repair at a time, on average: nodes * rate * repair (Little's law).
double nodes_in_repair(double nodes, double failures_per_node_s, double repair_s);

// The least n such that a Poisson variable of this mean is at most n with at least this probability: as many
// spares make up for the nodes in repair for this share of the time. Mean may be 0; probability below 1.
std::int64_t poisson_quantile(double mean, double probability);

// Outages of so many things each that last at the same time, on average.
struct Outages {
  int size = 1;     // > 0
  double mean = 0;  // may be 0
};

// The probability that 0, 1, ... `most` things are out at a time where outages come by chance, each whatever
// the others do: sums of Poisson variables times their sizes. What these lack of 1 is that of more. By
// Panjer's recursion: p(n) = 1 / n sum mean size p(n - size). REQUIRES: most >= 0.
std::vector<double> probabilities_of_outages(std::span<const Outages> outages, std::int64_t most);

// That at least one of `count` independent things is in a state that each is in with this probability.
double probability_of_any(double count, double probability);

}  // namespace podsim
