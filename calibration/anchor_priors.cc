// Reads the table of priors, and moves stacks by them.
#include "calibration/anchor_priors.h"

#include <algorithm>
#include <cmath>

#include "calibration/builtin_anchor.h"
#include "engine/check.h"
#include "engine/spelling.h"
#include "engine/words.h"
#include "proto/catalog/read_built_in.h"
#include "proto/text/csv_table.h"

namespace podsim {
namespace {

class AnchorPriorReader {
 public:
  AnchorPriorReader(const std::string& file, const std::string& text) : csv_(file, text) {}

  ReadAnchorPriors read() {
    bool complete = true;
    for (const char* column :
         {"parameter", "numbers", "kind", "spread", "known_spread", "low", "high", "source"})
      complete = csv_.require(column) && complete;
    if (complete)
      for (const CsvRow& row : csv_.rows()) add(row);
    result_.problems = csv_.problems();
    return std::move(result_);
  }

 private:
  const std::string& text(const CsvRow& row, const char* column) const { return csv_.cell(row, column).text; }

  void add(const CsvRow& row) {
    const std::string& kind = text(row, "kind");
    const double spread = csv_.number(row, "spread", CsvNumber::kPositive).value_or(0),
                 known = csv_.number(row, "known_spread", CsvNumber::kPositive).value_or(0);
    if (text(row, "source").empty())
      csv_.report(row, "source", "the spread has no source", "say what it is held true from");
    if (kind == "noise") return noise(row, spread, known);
    if (kind != "scale" && kind != "add")
      return csv_.report(row, "kind", "kind is \"" + kind + "\"", "expected scale, add or noise");
    AnchorPrior prior{text(row, "parameter"), {}, kind == "add", spread, known, 0, 0};
    prior.low = csv_.number(row, "low", CsvNumber::kNotNegative).value_or(0);
    prior.high = csv_.number(row, "high", CsvNumber::kPositive).value_or(0);
    for (const std::string& path : split(text(row, "numbers"), '|')) {
      if (const StackNumber* number = find_stack_number(path)) {
        prior.numbers.push_back(number);
      } else {
        std::vector<std::string> known_paths;
        for (const StackNumber& one : stack_numbers()) known_paths.emplace_back(one.path);
        const std::string near = closest_name(path, known_paths);
        csv_.report(row, "numbers", "\"" + path + "\" is no number of a stack that can be moved",
                    near.empty() ? "" : "did you mean \"" + near + "\"?");
      }
    }
    result_.priors.parameters.push_back(std::move(prior));
  }

  void noise(const CsvRow& row, double spread, double known) {
    AnchorPriors& priors = result_.priors;
    if (text(row, "numbers") == "experts") {
      priors.expert_noise = spread;
      priors.known_expert_noise = known;
    } else if (text(row, "numbers").empty()) {
      priors.noise = spread;
      priors.known_noise = known;
    } else if (text(row, "numbers") == "lone kernels") {
      priors.lone_kernel_noise = spread;
    } else if (text(row, "numbers") == "kernels of a step") {
      priors.step_kernel_noise = spread;
    } else {
      csv_.report(row, "numbers",
                  "noise is of dense models (empty), of experts, of lone kernels or of kernels of a step");
    }
  }

  CsvTable csv_;
  ReadAnchorPriors result_;
};

// A multiple of 0 is 0, and what is not done at all is not done a little.
bool stays_zero(const AnchorPrior& prior, double value) {
  return value == 0 && (!prior.adds || prior.low > 0);
}

}  // namespace

double AnchorPrior::moved(double value, double offset, bool known) const {
  if (stays_zero(*this, value)) return value;
  const double by = offset * spread_of(known);
  const double next = adds ? value + by : value * std::exp(by);
  return std::clamp(next, std::min(low, value), std::max(high, value));
}

OffsetRange AnchorPrior::range(const Stack& stack, bool known) const {
  OffsetRange all;
  for (const StackNumber* number : numbers) {
    const double value = number->read(stack);
    if (stays_zero(*this, value)) continue;
    const auto offset_of = [&](double bound) {
      return (adds ? bound - value : std::log(bound / value)) / spread_of(known);
    };
    all.low = std::min(all.low, offset_of(std::min(low, value)));
    all.high = std::max(all.high, offset_of(std::max(high, value)));
  }
  return all;
}

void AnchorPriors::move(Stack& stack, const std::vector<double>& offsets, bool known) const {
  PODSIM_CHECK(offsets.size() == parameters.size(), "an offset for each parameter");
  for (std::size_t p = 0; p < offsets.size(); ++p) {
    if (offsets[p] == 0) continue;
    for (const StackNumber* number : parameters[p].numbers)
      number->write(stack, parameters[p].moved(number->read(stack), offsets[p], known));
  }
}

ReadAnchorPriors read_anchor_priors(const std::string& file, const std::string& text) {
  return AnchorPriorReader(file, text).read();
}

const AnchorPriors& builtin_anchor_priors() {
  static const AnchorPriors kPriors =
      read_built_in(builtin_anchor_files().front(), read_anchor_priors).priors;
  return kPriors;
}

}  // namespace podsim
