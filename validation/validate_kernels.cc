// Finds the chip and number format of each measured kernel and predicts it alone.
#include "validation/validate_kernels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engine/spelling.h"
#include "proto/catalog/convert.h"

namespace podsim {
namespace {

struct NamedFormat {
  const char *dtype, *format;
};
// What tables call the formats of workload/job/kernel_numbers.h.
constexpr NamedFormat kFormats[] = {{"bfloat16", "bf16"}, {"bf16", "bf16"}, {"float16", "bf16"},
                                    {"fp16", "bf16"},     {"fp8", "fp8"},   {"fp8_block", "fp8_block"},
                                    {"nvfp4", "fp4"},     {"fp4", "fp4"}};

std::optional<std::string> format_called(const std::string& dtype) {
  for (const NamedFormat& known : kFormats)
    if (dtype == known.dtype) return known.format;
  return std::nullopt;
}

std::string unknown_dtype(const std::string& dtype) {
  std::vector<std::string> names;
  for (const NamedFormat& known : kFormats) names.emplace_back(known.dtype);
  const std::string near = closest_name(dtype, names);
  return "no number format \"" + dtype + '"' + (near.empty() ? "" : "; did you mean \"" + near + "\"?");
}

class KernelValidator {
 public:
  void add(MeasuredKernel row, const Chip& chip) {
    const bool exchange = std::holds_alternative<ExchangeCall>(row.call);
    const auto format = format_called(row.dtype);
    if (!chip.kernels) return leave_out(row, "chip " + chip.name + " has no kernels");
    if (!format) return leave_out(row, unknown_dtype(row.dtype));
    const auto seconds = predicted(row, chip, *format);
    if (!seconds)
      return leave_out(row, "chip " + chip.name + " has no numbers of " + row.kernel() +
                                (exchange ? "" : " in " + row.dtype));
    if (!row.assumption.empty()) note_assumption(row);
    result_.rows.push_back({std::move(row), *seconds});
  }

  void leave_out(const MeasuredKernel& row, const std::string& reason) {
    auto known = std::ranges::find(result_.left_out, reason, &LeftOutKernels::reason);
    if (known == result_.left_out.end())
      known = result_.left_out.insert(known, LeftOutKernels{reason, 0, row.line});
    ++known->rows;
  }

  KernelValidation take() { return std::move(result_); }

 private:
  std::optional<double> predicted(const MeasuredKernel& row, const Chip& chip, const std::string& format) {
    if (const auto* experts = std::get_if<ExpertsCall>(&row.call))
      return lone_seconds(*experts, chip, format, loads_);
    if (const auto* exchange = std::get_if<ExchangeCall>(&row.call)) return lone_seconds(*exchange, chip);
    if (const auto* attention = std::get_if<AttentionCall>(&row.call))
      return lone_seconds(*attention, chip, format);
    return lone_seconds(std::get<MatmulCall>(row.call), chip, format);
  }

  void note_assumption(const MeasuredKernel& row) {
    auto known = std::ranges::find(result_.assumed, row.assumption, &AssumedKernels::assumption);
    if (known == result_.assumed.end())
      known = result_.assumed.insert(known, AssumedKernels{row.assumption, 0, row.line});
    ++known->rows;
  }

  ExpertLoads loads_;
  KernelValidation result_;
};

double error_of(const PredictedKernel& row) {
  return std::fabs(std::log(row.predicted_s / row.measured.time_s));
}

}  // namespace

KernelValidation validate_kernels(std::vector<MeasuredKernel> rows, const Catalog& catalog) {
  KernelValidator validator;
  std::map<std::string, std::optional<Chip>> chips;
  for (MeasuredKernel& row : rows) {
    const auto [chip, added] = chips.try_emplace(row.chip);
    if (added) chip->second = catalog_chip(catalog, row.chip);
    if (chip->second) {
      validator.add(std::move(row), *chip->second);
    } else {
      validator.leave_out(row, "the catalogue has no chip \"" + row.chip + "\"; " +
                                   catalog.hint(Catalog::Section::kChips, row.chip));
    }
  }
  return validator.take();
}

KernelValidation validate_kernels(std::vector<MeasuredKernel> rows, const Chip& chip) {
  KernelValidator validator;
  for (MeasuredKernel& row : rows) validator.add(std::move(row), chip);
  return validator.take();
}

std::vector<KernelErrors> summarize(const std::vector<PredictedKernel>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<double>> errors;
  for (const PredictedKernel& row : rows) {
    const MeasuredKernel& of = row.measured;
    for (const auto& group : {std::tuple<std::string, std::string, std::string>{"", "", ""},
                              {of.kernel(), "", ""},
                              {of.kernel(), of.chip, of.dtype}})
      errors[group].push_back(row.error());
  }
  std::vector<KernelErrors> summary;
  for (const auto& [group, of_group] : errors)
    summary.push_back(
        {std::get<0>(group), std::get<1>(group), std::get<2>(group), summarize_errors(of_group)});
  return summary;
}

std::vector<const PredictedKernel*> worst(const std::vector<PredictedKernel>& rows, std::size_t most) {
  std::vector<const PredictedKernel*> sorted;
  for (const PredictedKernel& row : rows) sorted.push_back(&row);
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(most, sorted.size()));
  const auto worse = [](const PredictedKernel* a, const PredictedKernel* b) {
    return std::pair(-error_of(*a), a->measured.line) < std::pair(-error_of(*b), b->measured.line);
  };
  std::partial_sort(sorted.begin(), end, sorted.end(), worse);
  sorted.erase(end, sorted.end());
  return sorted;
}

}  // namespace podsim
