// Small scenarios drawn at random over the whole language, for rules that must hold on all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/swarm/draw.h"

namespace podsim::schema {
class Adversity;
class ClusterChoice;
class JobChoice;
}  // namespace podsim::schema

namespace podsim::testing {

// A scenario file in text format: any kind of fabric, model, sharding, schedule and adversity, at most 128
// chips and a few layers, so that a prediction takes milliseconds. The same seed gives the same text on every
// machine. About three in four load; the others are refused, as what people write is.
std::string random_scenario(std::uint64_t seed);

// A scenario in which a few fields have values that nobody meant: most of them must be refused.
std::string spoiled_scenario(std::uint64_t seed);

// random_scenario, but every fifth is a spoiled one.
std::string swarm_scenario(std::uint64_t seed);

// What a job lies on, as far as what else is drawn depends on it.
struct DrawnCluster {
  bool gpu = true;
  int chips = 1;
  int unit = 1;  // chips of an NVLink domain, or of a torus slice
  std::string chip;
  std::vector<std::string> stacks;      // that run on the chip
  std::vector<std::string> generic;     // likewise, of frameworks that nothing else is known of
  std::vector<std::string> precisions;  // that chip and stacks have
  bool ocs = false;
};

// The parts of a scenario. A message that is passed is empty.
DrawnCluster draw_cluster(Draw& draw, schema::ClusterChoice& cluster);
// Under which terms it is rented.
void draw_terms(Draw& draw, bool gpu, schema::ClusterChoice& cluster);
void draw_job(Draw& draw, const DrawnCluster& cluster, int chips, schema::JobChoice& job);
void draw_adversity(Draw& draw, const DrawnCluster& cluster, schema::Adversity& adversity);

}  // namespace podsim::testing
