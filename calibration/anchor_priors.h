// What measured steps of a user's own may move, and how far each number may plausibly be off before them.
#pragma once

#include <string>
#include <vector>

#include "calibration/stack_numbers.h"
#include "proto/text/problem.h"

namespace podsim {

// Offsets between which a number stays within its bounds; infinite where none is in the way.
struct OffsetRange {
  double low = 0, high = 0;
};

// One parameter: an offset in spreads, which moves its numbers together. Offset 0 leaves them as they are.
struct AnchorPrior {
  std::string name;                         // in words: "matmul rate"
  std::vector<const StackNumber*> numbers;  // of the stack
  bool adds = false;                        // spreads are in the unit of the numbers; else in logarithms
  double spread = 0;                        // one standard deviation, of a stack that no fitted run is of
  double known_spread = 0;                  // of a stack that was fitted
  // Numbers stay between them; one beyond them is not moved outward. Where `low` is above 0, a number that is
  // 0 says that a stack does not do a thing at all: it stays 0.
  double low = 0, high = 0;

  double spread_of(bool known) const { return known ? known_spread : spread; }
  // What a number becomes.
  double moved(double value, double offset, bool known) const;
  // Beyond it none of the numbers moves any further.
  OffsetRange range(const Stack& stack, bool known) const;
};

struct AnchorPriors {
  std::vector<AnchorPrior> parameters;
  // How far a measured step is off when all numbers are right, one standard deviation of its logarithm: of a
  // dense model, and of a mixture of experts.
  double noise = 0, known_noise = 0;
  double expert_noise = 0, known_expert_noise = 0;
  // The same of the median of measured kernels: alone on a cool chip, and inside a training step.
  double lone_kernel_noise = 0, step_kernel_noise = 0;

  double noise_of(bool known, bool experts) const {
    if (experts) return known ? known_expert_noise : expert_noise;
    return known ? known_noise : noise;
  }
  // REQUIRES: an offset per parameter.
  void move(Stack& stack, const std::vector<double>& offsets, bool known) const;
};

struct ReadAnchorPriors {
  AnchorPriors priors;
  std::vector<Problem> problems;
};
ReadAnchorPriors read_anchor_priors(const std::string& file, const std::string& text);

// Those that are part of the binary: scenarios/calibration/anchor.csv.
const AnchorPriors& builtin_anchor_priors();

}  // namespace podsim
