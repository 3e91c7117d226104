// Reads residuals, chooses those that speak for a prediction, and takes their percentiles.
#include "prediction/error_band.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "engine/distinct_values.h"
#include "prediction/builtin_new_stacks.h"
#include "prediction/builtin_residuals.h"
#include "prediction/family_weights.h"
#include "proto/catalog/read_built_in.h"
#include "proto/text/csv_table.h"
#include "scheduler/question/spec.h"

namespace podsim {
namespace {

constexpr double kEnoughRows = 10;

struct Weighed {
  double residual;
  double weight;
};

// INVARIANT: weights add up to one.
struct ResidualSample {
  std::vector<Weighed> rows;
  double worth = 0;  // lone rows that would say as much
};

ResidualSample weigh(const std::vector<const Residual*>& rows, double Residual::*residual) {
  DistinctValues<std::string> numbers;
  std::vector<int> families;
  for (const Residual* row : rows) families.push_back(static_cast<int>(numbers.of(row->family)));
  const std::vector<double> weights =
      family_weights(families, std::vector<bool>(rows.size(), true), kFamilyCorrelation);
  ResidualSample sample;
  for (const double weight : weights) sample.worth += weight;
  for (std::size_t i = 0; i < rows.size(); ++i)
    sample.rows.push_back({rows[i]->*residual, weights[i] / sample.worth});
  return sample;
}

ResidualSample mix(const ResidualSample& narrow, const ResidualSample& wide) {
  const double share = narrow.worth / (narrow.worth + kEnoughRows);
  ResidualSample both;
  both.worth = narrow.worth + std::min(wide.worth, kEnoughRows);
  for (const Weighed& row : narrow.rows) both.rows.push_back({row.residual, share * row.weight});
  for (const Weighed& row : wide.rows) both.rows.push_back({row.residual, (1 - share) * row.weight});
  return both;
}

// REQUIRES: rows are in ascending order.
double percentile(const ResidualSample& sample, double share) {
  const std::vector<Weighed>& rows = sample.rows;
  double below = 0, at_before = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double at = (sample.worth * (below + rows[i].weight / 2) + 0.5) / (sample.worth + 1);
    if (at >= share) {
      if (i == 0) return rows[i].residual;
      const double step = rows[i].residual - rows[i - 1].residual;
      return rows[i - 1].residual + step * (share - at_before) / (at - at_before);
    }
    below += rows[i].weight;
    at_before = at;
  }
  return rows.back().residual;
}

constexpr Time kOneSecond = {1'000'000'000'000};

PredictionKind kind_of(const Residual& row) { return {row.chip, row.stack, row.chip_kind, row.experts}; }

// Whether a run whose prediction of one second was off so much lies within the band of that prediction.
std::optional<bool> holds(const std::optional<StepTimeBand>& band, double log_error) {
  if (!band) return std::nullopt;
  const double measured_s = std::exp(-log_error);
  return measured_s >= band->low.in_seconds() && measured_s <= band->high.in_seconds();
}

PredictionKind of_any_chip(PredictionKind kind) {
  kind.chip.clear();
  return kind;
}

std::vector<Residual> others_than(const std::vector<Residual>& residuals, const Residual& row,
                                  std::string Residual::*what) {
  std::vector<Residual> others;
  std::ranges::copy_if(residuals, std::back_inserter(others),
                       [&](const Residual& other) { return other.*what != row.*what; });
  return others;
}

double rounded(double factor) { return std::round(factor * 1e4) / 1e4; }

// 10th, 50th and 90th.
struct Percentiles {
  double low = 0, middle = 0, high = 0;
};

Percentiles percentiles_of(ResidualSample sample) {
  std::ranges::sort(sample.rows, {}, &Weighed::residual);
  return {percentile(sample, 0.1), percentile(sample, 0.5), percentile(sample, 0.9)};
}

StepTimeBand band_around(Time step, const Percentiles& of) {
  const double s = step.in_seconds();
  StepTimeBand band;
  band.low = Time::seconds(s * rounded(std::exp(-of.high)));
  band.high = Time::seconds(s * rounded(std::exp(-of.low)));
  return band;
}

// Of the sum of two independent errors.
Percentiles sum_of(const Percentiles& a, const Percentiles& b) {
  const double middle = a.middle + b.middle;
  return {middle - std::hypot(a.middle - a.low, b.middle - b.low), middle,
          middle + std::hypot(a.high - a.middle, b.high - b.middle)};
}

bool alike(const Residual& row, const PredictionKind& kind, const std::string& left_out_group) {
  return (kind.chip_kind == ChipKind::kNeither || row.chip_kind == kind.chip_kind) &&
         (!kind.experts || row.experts == kind.experts) &&
         (left_out_group.empty() || row.group != left_out_group);
}

// Rows that are like a prediction, from the widest kind to the narrowest.
struct KindsOfRows {
  std::vector<const Residual*> any, same_chip, same_stack;
};

KindsOfRows kinds_of_rows(const PredictionKind& kind, const std::vector<Residual>& residuals,
                          const std::string& left_out_group) {
  KindsOfRows rows;
  for (const Residual& row : residuals) {
    if (!alike(row, kind, left_out_group)) continue;
    rows.any.push_back(&row);
    if (row.chip != kind.chip || !kind.experts) continue;
    rows.same_chip.push_back(&row);
    if (row.stack == kind.stack) rows.same_stack.push_back(&row);
  }
  return rows;
}

std::optional<ChipKind> chip_kind_named(std::string_view text) {
  for (const ChipKind kind : {ChipKind::kGpu, ChipKind::kTpu, ChipKind::kNeither})
    if (text == to_string(kind)) return kind;
  return std::nullopt;
}

}  // namespace

Residuals read_residuals(const std::string& file, const std::string& text) {
  CsvTable table(file, text);
  Residuals result;
  for (const char* column : {"id", "family", "group", "chip", "chip_kind", "stack", "arch", "log_error",
                             "chip_left_out_log_error"})
    table.require(column);
  if (table.problems().empty()) {
    for (const CsvRow& row : table.rows()) {
      const auto cell = [&](const char* column) { return table.cell(row, column).text; };
      const std::string arch = cell("arch");
      std::optional<bool> experts;
      if (arch == "dense" || arch == "moe") experts = arch == "moe";
      if (!experts && arch != "hybrid") table.report(row, "arch", "must be dense, moe or hybrid");
      const auto chip_kind = chip_kind_named(cell("chip_kind"));
      if (!chip_kind) table.report(row, "chip_kind", "must be GPU, TPU or neither");
      const auto error = table.number(row, "log_error", CsvNumber::kAny),
                 unseen = table.number(row, "chip_left_out_log_error", CsvNumber::kAny);
      result.rows.push_back({cell("id"), cell("family"), cell("group"), cell("chip"), cell("stack"), experts,
                             error.value_or(0), unseen.value_or(0), chip_kind.value_or(ChipKind::kNeither)});
    }
  }
  result.problems = table.problems();
  return result;
}

const std::vector<Residual>& builtin_residuals() {
  static const std::vector<Residual> kResiduals =
      read_built_in(builtin_residual_files().front(), read_residuals).rows;
  return kResiduals;
}

const std::vector<Residual>& builtin_new_stack_residuals() {
  static const std::vector<Residual> kResiduals =
      read_built_in(builtin_new_stack_files().front(), read_residuals).rows;
  return kResiduals;
}

bool is_fitted_stack(const std::string& stack) {
  return std::ranges::any_of(builtin_residuals(), [&](const Residual& row) { return row.stack == stack; });
}

const Residual* find_residual(const std::vector<Residual>& residuals, const std::string& family,
                              const std::string& id) {
  const auto at = std::ranges::find_if(
      residuals, [&](const Residual& row) { return row.id == id && row.family == family; });
  return at == residuals.end() ? nullptr : &*at;
}

PredictionKind kind_of(const Spec& spec) {
  PredictionKind kind;
  kind.chip = spec.cluster.chip.name;
  kind.stack = spec.job.stack.name;
  kind.chip_kind = spec.cluster.chip.kind;
  if (!spec.job.program) kind.experts = spec.job.model.experts.has_value();
  return kind;
}

std::optional<StepTimeBand> step_time_band(Time step, const PredictionKind& kind,
                                           const std::vector<Residual>& residuals,
                                           const std::string& left_out_group) {
  const auto [any, same_chip, same_stack] = kinds_of_rows(kind, residuals, left_out_group);
  if (any.empty()) return std::nullopt;
  ResidualSample sample = weigh(any, &Residual::chip_left_out_log_error);
  std::string name = kind.experts ? "unseen chip" : "unseen kind of model";
  std::size_t count = any.size();
  for (const auto& [narrower, of] :
       {std::pair("same chip", &same_chip), {"same chip and stack", &same_stack}}) {
    if (static_cast<double>(of->size()) < kEnoughRows) continue;
    sample = mix(weigh(*of, &Residual::log_error), sample);
    name = narrower;
    count = of->size();
  }
  StepTimeBand band = band_around(step, percentiles_of(std::move(sample)));
  band.kind = name;
  band.rows = static_cast<int>(count);
  return band;
}

std::optional<StepTimeBand> new_stack_band(Time step, const PredictionKind& kind,
                                           const std::vector<Residual>& generic,
                                           const std::vector<Residual>& fitted,
                                           const std::string& left_out_group) {
  auto band = step_time_band(step, of_any_chip(kind), generic, left_out_group);
  if (!band) return band;
  band->kind = "new stack";
  const bool known_chip =
      std::ranges::any_of(fitted, [&](const Residual& row) { return row.chip == kind.chip; });
  if (known_chip) return band;
  std::vector<Residual> added;
  for (Residual row : fitted) {
    if (!alike(row, kind, left_out_group)) continue;
    row.log_error = row.chip_left_out_log_error - row.log_error;
    added.push_back(row);
  }
  std::vector<const Residual*> of_chips, of_stacks;
  for (const Residual& row : added) of_chips.push_back(&row);
  if (of_chips.empty()) return band;
  for (const Residual& row : generic)
    if (alike(row, kind, left_out_group)) of_stacks.push_back(&row);
  const int rows = band->rows;
  band = band_around(step, sum_of(percentiles_of(weigh(of_stacks, &Residual::log_error)),
                                  percentiles_of(weigh(of_chips, &Residual::log_error))));
  band->kind = "new stack and chip";
  band->rows = rows;
  return band;
}

std::optional<StepTimeBand> builtin_step_time_band(Time step, const PredictionKind& kind,
                                                   const std::string& left_out_group) {
  if (is_fitted_stack(kind.stack)) return step_time_band(step, kind, builtin_residuals(), left_out_group);
  return new_stack_band(step, kind, builtin_new_stack_residuals(), builtin_residuals(), left_out_group);
}

std::vector<NearRun> near_runs(const PredictionKind& kind) {
  const bool fitted = is_fitted_stack(kind.stack);
  const std::vector<Residual>& residuals = fitted ? builtin_residuals() : builtin_new_stack_residuals();
  const KindsOfRows rows = kinds_of_rows(fitted ? kind : of_any_chip(kind), residuals, "");
  const auto enough = [](const std::vector<const Residual*>& of) {
    return static_cast<double>(of.size()) >= kEnoughRows;
  };
  const bool own = enough(rows.same_chip);
  std::vector<NearRun> runs;
  for (const Residual* row : enough(rows.same_stack) ? rows.same_stack : own ? rows.same_chip : rows.any)
    runs.push_back(
        {row->family + " " + row->id, std::exp(-(own ? row->log_error : row->chip_left_out_log_error))});
  std::ranges::stable_sort(runs, {}, &NearRun::ratio);
  return runs;
}

std::optional<bool> inside_with_group_left_out(const Residual& row, const std::vector<Residual>& residuals) {
  return holds(step_time_band(kOneSecond, kind_of(row), residuals, row.group), row.log_error);
}

std::optional<bool> inside_with_chip_left_out(const Residual& row, const std::vector<Residual>& residuals) {
  const std::vector<Residual> others = others_than(residuals, row, &Residual::chip);
  return holds(step_time_band(kOneSecond, kind_of(row), others), row.chip_left_out_log_error);
}

std::optional<bool> inside_with_family_left_out(const Residual& row, const std::vector<Residual>& residuals) {
  const std::vector<Residual> others = others_than(residuals, row, &Residual::family);
  return holds(step_time_band(kOneSecond, of_any_chip(kind_of(row)), others), row.log_error);
}

}  // namespace podsim
