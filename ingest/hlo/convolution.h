// FLOPs of HLO convolutions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ingest/hlo/module.h"

namespace podsim::hlo {

// What dimensions are, from dim_labels=b01f_01io->b01f. The texts lie in the instruction.
struct ConvolutionLabels {
  std::string_view input, kernel, output;
};
std::optional<ConvolutionLabels> labels_of_convolution(const Instruction& convolution);

// 2 x (features in / groups) x features out x (batch / batch groups) x pairs of kernel and output positions
// that hit an element of the input: padding and holes of dilation do not count. O(kernel x output) of the
// longest dimension at most.
std::int64_t convolution_flops(const Instruction& convolution, const Shape& input);

}  // namespace podsim::hlo
