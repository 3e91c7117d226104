// The validated question: a cluster, the job or jobs on it, and what goes wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/question/cluster.h"
#include "scheduler/question/degradation.h"
#include "scheduler/question/random_delays.h"
#include "topology/fabric_spec.h"
#include "topology/failures.h"
#include "workload/job/job.h"

namespace podsim {

// Random spread of each operation's time: lognormal with mean 1 and this coefficient of variation.
struct Jitter {
  double coefficient_of_variation = 0;
};

struct Adversities {
  std::vector<Degradation> degradations;  // chips, then links, then those by selector
  std::vector<Failure> failures;          // REQUIRES: explain_impossible is empty
  Jitter jitter;
  StepVariation variation;

  std::uint64_t seed = 1;  // of who is slow

  void add(const Degradation& degradation);  // in its place
  bool none() const { return degradations.empty() && failures.empty() && !drawn(); }
  bool random() const { return drawn() || std::ranges::any_of(degradations, &Degradation::by_chance); }
  // Chance decides about operations or steps.
  bool drawn() const { return jitter.coefficient_of_variation > 0 || variation.any(); }
  // Something is drawn for every chip, or for every host, so that no two of them behave alike.
  bool random_by(Entity entity) const {
    return variation.of_each(entity) || (entity == Entity::kChip && jitter.coefficient_of_variation > 0);
  }
  // Some speed changes over time, so that steps differ.
  bool changing() const {
    return std::ranges::any_of(degradations, [](const Degradation& slow) { return !slow.season.always(); });
  }
};

// Which mesh axis lies on which torus dimensions, by the user's choice; axes not listed are placed by rule.
struct AxisPlacement {
  std::string axis;
  std::vector<int> dimensions;  // 0 = x, 1 = y, 2 = z, major to minor
  friend bool operator==(const AxisPlacement&, const AxisPlacement&) = default;
};

// One of several jobs that share a fabric.
struct PlacedJob {
  std::string name;  // no other job of the scenario has it
  ChipId first_chip = 0;
  int chips = 0;  // first_chip .. first_chip + chips - 1
  Job job;
  std::vector<AxisPlacement> placement;  // on a fabric of that many chips
};

struct Spec {
  std::string name;
  std::string question;
  std::string sha256;  // of the scenario and of what its names mean; empty where it was not read from one
  Cluster cluster;
  Job job;
  std::vector<AxisPlacement> placement;
  std::vector<PlacedJob> jobs;  // several on one fabric; then `job` and `placement` mean nothing
  Adversities adversities;
  std::uint64_t seed = 1;
  int steps = 1;  // simulated; they differ under jitter and beside other jobs
  int seeds = 1;  // draws of what is random in the adversities, each with as many steps; seed is the first
  bool asks_weeks = false;  // it has a block reliability too, which a step does not read
};

}  // namespace podsim
