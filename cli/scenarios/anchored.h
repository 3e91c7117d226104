// --anchor: measured steps of the user's own, for verbs that predict scenarios.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "calibration/anchor.h"
#include "cli/options/options.h"
#include "cli/scenarios/batch.h"

namespace podsim {

struct AnchorOptions {
  std::vector<std::string> files;     // tables of measured steps or kernels
  std::optional<double> step_time_s;  // of the first scenario as it is in its file
  std::string save_stack;             // file for the moved stack, or empty

  bool any() const { return !files.empty() || step_time_s; }
};

void add_anchor_options(CLI::App& verb, AnchorOptions& options);
void add_anchor_step_option(CLI::App& verb, AnchorOptions& options);  // of verbs that take scenarios

// By the measured steps that the options name; of the scenario in `scenario` where they do not say more,
// which may be empty. Without measured steps it moves nothing. Nothing where they cannot be used: the reason
// is then logged. The stack is saved where that is asked for.
std::optional<Anchor> make_anchor(const AnchorOptions& options, const std::string& scenario,
                                  const std::vector<std::string>& catalog_directories, int threads);

// Whether the anchor moves one of these stacks at least, nothing was measured, or there are none; warns of
// the others.
bool moves_any(const Anchor& anchor, const std::set<std::string>& stacks);

// Whether each scenario has one job and the anchor moves one of them at least; warns of the others.
bool can_use(const Anchor& anchor, std::span<const Spec> specs, const std::string& verb);

// Those whose stacks the anchor moves with their stacks moved.
std::vector<Spec> moved_specs(std::span<const Spec> specs, const Anchor& anchor);

// As predict_all of several specs, whose stacks the anchor moves; their reports tell of it.
std::vector<Prediction> predict_anchored(std::span<const Spec> specs, const Anchor& anchor,
                                         const RunOptions& options, LeftOutSteps& left_out);

}  // namespace podsim
