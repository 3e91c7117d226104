// How sure a prediction is: the band in which the measured step time lies for eight runs in ten like it.
//
// A residual is log(predicted / measured) of a measured run that the fit of parameters has not seen. Of the
// residuals of runs like the predicted one, q10 and q90 are the 10th and the 90th percentile; the band is
// predicted x exp(-q90) .. predicted x exp(-q10).
//
// Which runs are like it: those of dense models for a dense one, those of mixtures of experts for such a one
// (all of them, as of an unseen kind of model, for any other), and of these, from the widest to the narrowest
// kind,
//   unseen chip           all runs on GPUs, or on TPUs (ChipKind; on both, for a chip that is neither);
//                         residuals with the whole chip left out of the fit
//   same chip             residuals with the run's group left out
//   same chip and stack   likewise
// Software that no measured run is of has a list of its own: measured runs that were predicted with a generic
// stack in place of theirs, both residuals of which are those errors.
//   new stack             runs of that list on all GPUs, or on TPUs
//   new stack and chip    of a chip, besides, that no run of the fit is on: what leaving a whole chip out
//   adds
//                         to an error is added, as independent: medians add up, and distances of the
//                         percentiles from them in quadrature
// A kind has a say from ten rows on, as fewer have no 10th percentile. Rows of one family err alike: as in
// the fit of parameters, n of them are worth n / (1 + (n - 1) x 0.1) lone rows (prediction/family_weights.h).
// A kind is mixed with the next wider one, which counts as ten rows beside it: few rows lean on the wider
// kind, many speak for themselves. Of rows worth N the one at the middle of the cumulated weights c (of 1)
// stands at (N c + 1/2) / (N + 1); between rows the percentile is interpolated, beyond the last it is the
// last. With rows of equal weight this is the percentile by (n + 1) p, whose ends move outward as rows become
// few.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/problem.h"
#include "report/answer/report.h"
#include "report/pictures/step_detail.h"
#include "workload/job/chip.h"

namespace podsim {

struct Spec;

// One measured run. Chip and stack are names of the catalogue.
struct Residual {
  std::string id, family;
  std::string group;  // runs of nearly one configuration share it
  std::string chip, stack;
  std::optional<bool> experts;         // a mixture of experts, or dense; nothing = a hybrid
  double log_error = 0;                // log(predicted / measured), its group left out of the fit
  double chip_left_out_log_error = 0;  // likewise, all runs on its chip left out
  ChipKind chip_kind = ChipKind::kGpu;
};

struct Residuals {
  std::vector<Residual> rows;
  std::vector<Problem> problems;
};
Residuals read_residuals(const std::string& file, const std::string& text);

// Those that are part of the binary: scenarios/calibration/residuals.csv.
const std::vector<Residual>& builtin_residuals();

// Runs predicted with the generic stack of their kind: scenarios/calibration/new_stacks.csv.
const std::vector<Residual>& builtin_new_stack_residuals();

// The row of the fit that this measured run is, or null.
const Residual* find_residual(const std::vector<Residual>& residuals, const std::string& family,
                              const std::string& id);

// Whether a run of the fit is of this stack.
bool is_fitted_stack(const std::string& stack);

// What the band of a prediction depends on.
struct PredictionKind {
  std::string chip, stack;
  ChipKind chip_kind = ChipKind::kGpu;  // kNeither: unlike all measured ones: rows of all kinds count
  std::optional<bool> experts;  // nothing = a model unlike all measured ones: both kinds count, of any chip
};
PredictionKind kind_of(const Spec& spec);

// Rows of `left_out_group` do not count, so that a measured run does not vouch for itself. Nothing where no
// run is like it. The band's factors have four decimals: more would say more than is known.
std::optional<StepTimeBand> step_time_band(Time step, const PredictionKind& kind,
                                           const std::vector<Residual>& residuals,
                                           const std::string& left_out_group = "");

// Of a stack that no run of the fit is of: by `generic`, runs predicted with a generic stack, and for a chip
// that no run of `fitted` is on by what a chip left out adds to these.
std::optional<StepTimeBand> new_stack_band(Time step, const PredictionKind& kind,
                                           const std::vector<Residual>& generic,
                                           const std::vector<Residual>& fitted,
                                           const std::string& left_out_group = "");

// Likewise of the residuals that are part of the binary: those of new stacks for a stack that no run of the
// fit is of.
std::optional<StepTimeBand> builtin_step_time_band(Time step, const PredictionKind& kind,
                                                   const std::string& left_out_group);

// The runs that its band is from, of the narrowest kind, with the errors that count there: by ascending
// ratio.
std::vector<NearRun> near_runs(const PredictionKind& kind);

// Whether the band of a prediction that has not seen this run, nor those of its group, holds its measured
// time: what users of a new run may expect of bands. Likewise for one that has seen no run on its chip, and
// none of its family. Nothing where no other run is like it. REQUIRES: `row` is one of `residuals`.
std::optional<bool> inside_with_group_left_out(const Residual& row, const std::vector<Residual>& residuals);
std::optional<bool> inside_with_chip_left_out(const Residual& row, const std::vector<Residual>& residuals);
std::optional<bool> inside_with_family_left_out(const Residual& row, const std::vector<Residual>& residuals);

}  // namespace podsim
