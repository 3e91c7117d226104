// What must hold of every scenario, whatever it says.
#pragma once

#include <optional>
#include <string>

#include "prediction/predict.h"
#include "proto/catalog/catalog.h"

namespace podsim::testing {

struct Finding {
  std::string law;   // its name, one word
  std::string what;  // is broken, in a line
};

struct Judgement {
  bool accepted = false;  // the scenario loads
  std::optional<Finding> finding;
};

// Loads and predicts a scenario file in text format and holds every law against it; the first that is broken:
//   refused    a scenario that does not load has problems, each with words and a place
//   sums       parts of the step add up to it, shares are shares, memory is the sum of its parts
//   bounds     no step is shorter than its operations on all chips together
//   monotone   what slows parts down does not shorten the step, but for anomalies of lists (docs/testing.md)
//   fold       folding changes no figure
//   steady     jumping over periods changes no figure
//   loops      the ordered loop changes no figure, nor does the definition of a step where it takes seconds
//   threads    draws of several seeds are the same on one and four threads
//   formats    the scenario means the same as JSON and as binary; reports as JSON, textproto and CSV agree
//   symmetric  names, the order of lists and jobs, an axis of one device and which of equal chips is slow do
//              not matter
// Other names mean that podsim failed: "exception".
Judgement judge(const std::string& text, const Catalog& catalog);

// The parts of judge that other tests use too.
std::optional<Finding> broken_sum(const Prediction& prediction);
std::optional<Finding> broken_format(const Prediction& prediction);

// A prediction as JSON, without what tells how it was computed.
std::string figures(Prediction prediction);
// Where two texts first differ, or nothing.
std::optional<std::string> difference(const std::string& a, const std::string& b);

}  // namespace podsim::testing
