// Holds measured steps against the simulator, and tells what came of it.
#include "calibration/anchor.h"

#include <algorithm>
#include <cmath>

#include "calibration/anchor_slopes.h"
#include "calibration/anchored_band.h"
#include "calibration/anchored_entry.h"
#include "engine/check.h"
#include "engine/parallel_for.h"
#include "prediction/error_band.h"
#include "proto/catalog/convert.h"
#include "proto/catalog/rewrite_numbers.h"
#include "proto/writing/result_json.h"

namespace podsim {
namespace {

bool has_experts(const Spec& spec) { return spec.job.model.experts.has_value(); }

// What was measured of one stack.
struct MeasuredOfStack {
  std::vector<const AnchorRun*> runs;
  std::vector<const AnchorKernels*> kernels;
};

// log(predicted / measured) of kernels at offsets: their rate is a multiple of one number of the stack.
double kernel_error(const AnchorPriors& priors, bool known, const AnchorKernels& kernels,
                    const std::vector<double>& offsets) {
  const StackNumber* number = find_stack_number(kernels.number);
  PODSIM_CHECK(number != nullptr, "kernels tell of the number " + kernels.number);
  const double before = number->read(kernels.stack);
  double after = before;
  for (std::size_t p = 0; p < offsets.size(); ++p)
    if (std::ranges::count(priors.parameters[p].numbers, number) > 0)
      after = priors.parameters[p].moved(after, offsets[p], known);
  return kernels.error - std::log(after / before);
}

// [parameter] its change per unit of offset.
std::vector<double> kernel_slope(const AnchorPriors& priors, bool known, const AnchorKernels& kernels,
                                 const std::vector<double>& offsets, double reach) {
  std::vector<double> slope(offsets.size(), 0);
  for (std::size_t p = 0; p < offsets.size(); ++p) {
    const OffsetRange range = stencil(priors.parameters[p], kernels.stack, offsets[p], reach, known);
    if (range.low == range.high) continue;
    const auto error_at = [&](double offset) {
      std::vector<double> there = offsets;
      there[p] = offset;
      return kernel_error(priors, known, kernels, there);
    };
    slope[p] = (error_at(range.high) - error_at(range.low)) / (range.high - range.low);
  }
  return slope;
}

// Offsets beyond these move nothing that was measured.
void bound(const AnchorPriors& priors, bool known, const MeasuredOfStack& measured, UpdatedModel& model) {
  for (const AnchorPrior& prior : priors.parameters) {
    OffsetRange widest;
    const auto widen = [&](const Stack& stack) {
      const OffsetRange range = prior.range(stack, known);
      widest = {std::min(widest.low, range.low), std::max(widest.high, range.high)};
    };
    for (const AnchorRun* run : measured.runs) widen(run->spec.job.stack);
    for (const AnchorKernels* kernels : measured.kernels) widen(kernels->stack);
    model.low.push_back(widest.low);
    model.high.push_back(widest.high);
  }
}

// Holds the bands of the measured steps to what was measured of them.
void widen_to_hold(const AnchorPriors& priors, const std::vector<const AnchorRun*>& runs,
                   AnchoredStack& stack) {
  constexpr Time kOneSecond = {1'000'000'000'000};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Spec& spec = runs[i]->spec;
    std::optional<StepTimeBand> before;  // no published run was predicted from measured times
    if (!spec.job.measured) before = builtin_step_time_band(kOneSecond, kind_of(spec), "");
    const StepSpread spread =
        anchored_spread(stack.posterior, stack.posterior.slopes[i],
                        priors.noise_of(stack.known, has_experts(spec)), spread_of(before, kOneSecond));
    stack.beyond.push_back(beyond_band(stack.posterior.after[i], spread));
  }
  stack.widened = widening(stack.beyond);
}

AnchoredStack fitted(const std::string& stack, const AnchorPriors& priors, const MeasuredOfStack& measured,
                     int threads) {
  const std::vector<const AnchorRun*>& runs = measured.runs;
  AnchoredStack result;
  result.steps = static_cast<int>(runs.size());
  result.known = is_fitted_stack(stack);
  UpdatedModel model;
  model.parameters = priors.parameters.size();
  std::vector<const Spec*> specs;
  for (const AnchorRun* run : runs) {
    result.measured.push_back(run->text);
    result.ids.push_back(run->id);
    result.stacks.push_back(run->spec.job.stack);
    specs.push_back(&run->spec);
    model.tells_of.emplace_back();
    model.noise.push_back(run->noise.value_or(priors.noise_of(result.known, has_experts(run->spec))));
  }
  for (const AnchorKernels* kernels : measured.kernels) {
    result.kernels += kernels->rows;
    result.measured.push_back(kernels->text);
    result.ids.push_back(kernels->id);
    result.stacks.push_back(kernels->stack);
    model.tells_of.push_back(kernels->number);
    model.noise.push_back(kernels->alone ? priors.lone_kernel_noise : priors.step_kernel_noise);
  }
  model.errors = [&](const std::vector<double>& offsets) {
    std::vector<double> errors(runs.size());
    parallel_for(runs.size(), threads, [&](std::size_t i) {
      errors[i] = log_step(spec_at(priors, result.known, *specs[i], offsets)) - std::log(runs[i]->measured_s);
    });
    for (const AnchorKernels* kernels : measured.kernels)
      errors.push_back(kernel_error(priors, result.known, *kernels, offsets));
    return errors;
  };
  model.slopes = [&](const std::vector<double>& offsets, double reach) {
    std::vector<std::vector<double>> all = step_slopes(priors, result.known, specs, offsets, reach, threads);
    for (const AnchorKernels* kernels : measured.kernels)
      all.push_back(kernel_slope(priors, result.known, *kernels, offsets, reach));
    return all;
  };
  bound(priors, result.known, measured, model);
  result.posterior = update(model);
  result.noise = model.noise;
  widen_to_hold(priors, runs, result);
  return result;
}

bool differs(const StackNumber& number, const Stack& stack, const Stack& other) {
  return number.read(stack) != number.read(other);
}

}  // namespace

std::vector<std::string> Anchor::overrides(const Stack& stack, const Catalog& catalog) const {
  std::vector<std::string> paths;
  const std::optional<Stack> entry = catalog_stack(catalog, stack.name);
  PODSIM_CHECK(entry.has_value(), "the runs were read with this catalogue");
  for (const AnchorPrior& prior : priors_.parameters)
    for (const StackNumber* number : prior.numbers)
      if (number->stated(stack) && differs(*number, stack, *entry)) paths.emplace_back(number->path);
  return paths;
}

std::vector<std::string> Anchor::measured_otherwise(const Stack& stack) const {
  std::vector<std::string> paths;
  const std::vector<Stack>& measured = stacks_.at(stack.name).stacks;
  for (const AnchorPrior& prior : priors_.parameters)
    for (const StackNumber* number : prior.numbers)
      if (std::ranges::any_of(measured, [&](const Stack& one) { return differs(*number, one, stack); }))
        paths.emplace_back(number->path);
  return paths;
}

Anchor::Anchor(const AnchorPriors& priors, const std::vector<AnchorRun>& runs, int threads,
               const std::vector<AnchorKernels>& kernels)
    : priors_(priors) {
  std::map<std::string, MeasuredOfStack> of_stack;
  for (const AnchorRun& run : runs) of_stack[run.spec.job.stack.name].runs.push_back(&run);
  for (const AnchorKernels& one : kernels) of_stack[one.stack.name].kernels.push_back(&one);
  for (auto& [name, measured] : of_stack) {
    std::ranges::stable_sort(measured.runs, {}, &AnchorRun::text);
    std::ranges::stable_sort(measured.kernels, {}, &AnchorKernels::text);
    stacks_.emplace(name, fitted(name, priors_, measured, threads));
  }
}

bool Anchor::is_measured(const std::string& run_and_step) const {
  return std::ranges::any_of(stacks_, [&](const auto& named) {
    return std::ranges::count(named.second.measured, run_and_step) > 0;
  });
}

Spec Anchor::moved(const Spec& spec) const {
  if (!moves(spec)) return spec;
  const AnchoredStack& stack = stacks_.at(spec.job.stack.name);
  Spec moved = spec_at(priors_, stack.known, spec, stack.posterior.offsets);
  if (!spec.sha256.empty()) moved.sha256 = question_sha256("anchor " + spec.sha256, stack.measured);
  return moved;
}

Report Anchor::predict(const Spec& spec, const PredictOptions& options) const {
  Report report = predict_step(moved(spec), options).report;
  if (moves(spec)) tell(spec, predict_step(spec, options).report, report);
  return report;
}

void Anchor::tell(const Spec& spec, const Report& before, Report& report) const {
  const AnchoredStack& stack = stacks_.at(spec.job.stack.name);
  const std::vector<double> slope =
      step_slopes(priors_, stack.known, {&spec}, stack.posterior.offsets, kWideStencil, 1).front();
  const StepSpread spread =
      anchored_spread(stack.posterior, slope, priors_.noise_of(stack.known, has_experts(spec)),
                      spread_of(before.band, before.step_time));
  AnchorReport told;
  told.runs = stack.steps;
  told.kernels = stack.kernels;
  told.step_time_before = before.step_time;
  told.band_before = before.band;
  for (std::size_t p = 0; p < priors_.parameters.size(); ++p) {
    const AnchorPrior& prior = priors_.parameters[p];
    for (const StackNumber* number : prior.numbers)
      told.numbers.push_back(
          {prior.name, number->path, number->read(spec.job.stack),
           prior.moved(number->read(spec.job.stack), stack.posterior.offsets[p], stack.known),
           std::sqrt(stack.posterior.covariance[p][p])});
  }
  report.anchor = std::move(told);
  report.band =
      anchored_band(report.step_time, spread, stack.widened, static_cast<int>(stack.measured.size()));
}

std::string Anchor::entry(const Stack& stack, const std::string& name, const Catalog& catalog) const {
  const AnchoredStack& anchored = stacks_.at(stack.name);
  const auto text = catalog.text(Catalog::Section::kStacks, stack.name);
  const std::optional<Stack> in_catalogue = catalog_stack(catalog, stack.name);
  PODSIM_CHECK(text.has_value() && in_catalogue.has_value(), "the runs were read with this catalogue");
  std::vector<NumberChange> changes;
  for (std::size_t p = 0; p < priors_.parameters.size(); ++p) {
    const AnchorPrior& prior = priors_.parameters[p];
    for (const StackNumber* number : prior.numbers) {
      if (!number->stated(stack)) continue;
      const double after = prior.moved(number->read(stack), anchored.posterior.offsets[p], anchored.known);
      if (after != number->read(*in_catalogue))
        changes.push_back({Catalog::Section::kStacks, stack.name, number->path, after});
    }
  }
  return entry_under_new_name(*text, name, changes);
}

}  // namespace podsim
