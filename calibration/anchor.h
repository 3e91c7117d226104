// Stacks that measured steps have moved, and what is predicted with them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibration/anchor_kernels.h"
#include "calibration/anchor_priors.h"
#include "calibration/anchor_runs.h"
#include "calibration/anchor_update.h"
#include "prediction/predict.h"
#include "report/answer/report.h"

namespace podsim {

// A stack that something measured is of: steps, then kernels of a kind.
struct AnchoredStack {
  bool known = false;  // runs of the fit are of it: its spreads are small
  int steps = 0, kernels = 0;
  std::vector<std::string> measured;  // what was, steps sorted and kernels sorted
  std::vector<std::string> ids;       // [measured]
  std::vector<double> noise;          // [measured]
  Posterior posterior;
  std::vector<double> beyond;  // [step] its error that is left, in half widths of its band: above 1 outside
  double widened = 1;          // by what all its bands are wider for this
  std::vector<Stack> stacks;   // [measured] under which it was
};

class Anchor {
 public:
  // Moves the stacks of the runs and of the kernels, each by its own. Their order and the number of threads
  // make no difference.
  Anchor(const AnchorPriors& priors, const std::vector<AnchorRun>& runs, int threads,
         const std::vector<AnchorKernels>& kernels = {});

  const std::map<std::string, AnchoredStack>& stacks() const { return stacks_; }
  bool moves(const Spec& spec) const { return stacks_.count(spec.job.stack.name) > 0; }

  // Whether this is one of the measured steps: its error says nothing.
  bool is_measured(const std::string& run_and_step) const;

  // The spec with its stack moved; as it is where nothing measured is of its stack. REQUIRES: one job.
  Spec moved(const Spec& spec) const;

  // The step with the stack moved. REQUIRES: as above.
  Report predict(const Spec& spec, const PredictOptions& options) const;

  // The step that was predicted, as seen by the measured ones: its band, what moved, and what was predicted
  // before. `report` is of `moved(spec)`, `before` of `spec`. REQUIRES: moves(spec).
  void tell(const Spec& spec, const Report& before, Report& report) const;

  // Numbers of this stack that are others than in the catalogue's entry of its name, of those that measured
  // steps may move. REQUIRES: as below.
  std::vector<std::string> overrides(const Stack& stack, const Catalog& catalog) const;

  // Such numbers in which what was measured ran under others than this stack has. REQUIRES: as below.
  std::vector<std::string> measured_otherwise(const Stack& stack) const;

  // The stack, with its numbers moved from where they are, as a catalogue entry of this name. REQUIRES: one
  // of stacks() has its name, and `catalog` has it.
  std::string entry(const Stack& stack, const std::string& name, const Catalog& catalog) const;

 private:
  const AnchorPriors& priors_;
  std::map<std::string, AnchoredStack> stacks_;
};

}  // namespace podsim
