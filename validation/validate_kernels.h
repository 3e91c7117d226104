// Predicts measured kernels with the chips of the catalogue, or with one that is given.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "validation/error_summary.h"
#include "validation/measured_kernels.h"
#include "workload/job/chip.h"

namespace podsim {

struct PredictedKernel {
  MeasuredKernel measured;
  double predicted_s = 0;

  double error() const { return (predicted_s - measured.time_s) / measured.time_s; }
};

// Rows of which the catalogue says nothing, for one reason.
struct LeftOutKernels {
  std::string reason;
  int rows = 0;
  int first_line = 0;
};

// Predicted rows of which one thing is assumed.
struct AssumedKernels {
  std::string assumption;
  int rows = 0;
  int first_line = 0;
};

struct KernelValidation {
  std::vector<PredictedKernel> rows;  // in the order of the table
  std::vector<LeftOutKernels> left_out;
  std::vector<AssumedKernels> assumed;
};

KernelValidation validate_kernels(std::vector<MeasuredKernel> rows, const Catalog& catalog);

// All on this chip, whatever theirs is called.
KernelValidation validate_kernels(std::vector<MeasuredKernel> rows, const Chip& chip);

// Errors of all rows; of those of each kernel; of each chip and dtype in it, as the table names them.
struct KernelErrors {
  std::string kernel, chip, dtype;  // empty = all
  ErrorSummary errors;
};
std::vector<KernelErrors> summarize(const std::vector<PredictedKernel>& rows);

// The rows that are furthest off, the worst first: by the logarithm, so that half and twice are alike.
std::vector<const PredictedKernel*> worst(const std::vector<PredictedKernel>& rows, std::size_t most);

}  // namespace podsim
