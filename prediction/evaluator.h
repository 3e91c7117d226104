// One process that remembers: step after step of layouts that have much in common.
#pragma once

#include "prediction/known_layouts.h"
#include "prediction/predict.h"

namespace podsim {

// A layout appraised: its memory, and the time of its step where it fits.
struct Appraisal {
  Bytes needed, capacity;  // of the fullest chip
  int stage = 0;           // of the pipeline, where that is
  Time step_time;          // as Report::step_time; zero where the layout does not fit

  bool fits() const { return needed <= capacity; }
  // "stage 0 needs 92.11 GiB of 79.20 GiB", or empty.
  std::string refusal() const;
};

// Appraises layouts in any order and remembers what later ones have in common with those before: fabrics,
// times of collectives, pieces of models, plans, classes. Figures are those of predict_step in every digit,
// whatever was asked before. Not for several threads at once: each has its own.
class Evaluator {
 public:
  // What does not fit is refused before anything is simulated. REQUIRES: a valid spec of one job.
  Appraisal evaluate(const Spec& spec);

  // As predict_step.
  Prediction predict(const Spec& spec, const PredictOptions& options);

 private:
  KnownLayouts layouts_;
};

}  // namespace podsim
