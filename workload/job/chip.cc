// Names of kinds of chips, names and widths of number formats, and what a chip multiplies in each.
#include "workload/job/chip.h"

namespace podsim {

const MatmulRate* Chip::matmul_rate(Dtype dtype) const {
  auto rate = matmul.find(dtype);
  if (rate == matmul.end() && dtype == Dtype::kBf16) rate = matmul.find(Dtype::kFp16);
  if (rate == matmul.end() && dtype == Dtype::kFp16) rate = matmul.find(Dtype::kBf16);
  return rate == matmul.end() ? nullptr : &rate->second;
}

std::string_view to_string(ChipKind kind) {
  switch (kind) {
    case ChipKind::kGpu:
      return "GPU";
    case ChipKind::kTpu:
      return "TPU";
    case ChipKind::kNeither:
      return "neither";
  }
  return "unknown";
}

std::string_view to_string(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
      return "fp32";
    case Dtype::kBf16:
      return "bf16";
    case Dtype::kFp16:
      return "fp16";
    case Dtype::kFp8:
      return "fp8";
    case Dtype::kFp4:
      return "fp4";
    case Dtype::kInt8:
      return "int8";
  }
  return "unknown";
}

double bytes_per_element(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
      return 4;
    case Dtype::kBf16:
    case Dtype::kFp16:
      return 2;
    case Dtype::kFp8:
    case Dtype::kInt8:
      return 1;
    case Dtype::kFp4:
      return 0.5;
  }
  return 0;
}

}  // namespace podsim
