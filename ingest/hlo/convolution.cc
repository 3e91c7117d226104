// Counts valid positions dimension by dimension.
#include "ingest/hlo/convolution.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/hlo/fields.h"

namespace podsim::hlo {
namespace {

std::int64_t length(const Shape& shape, std::string_view labels, char label) {
  const std::size_t at = labels.find(label);
  return at < shape.dimensions.size() ? shape.dimensions[at] : 1;
}

std::int64_t groups(const Instruction& convolution, std::string_view attribute) {
  const std::string_view text = convolution.attribute(attribute);
  std::int64_t count = 1;
  if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), count);
  return std::max<std::int64_t>(1, count);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return -floor_divide(-a, b); }

// Outputs o in [0, outputs) for which o stride + offset lies in [0, reach) and on no hole of the dilation.
std::int64_t hits(std::int64_t outputs, std::int64_t stride, std::int64_t offset, std::int64_t reach,
                  std::int64_t dilation) {
  const std::int64_t first = std::max<std::int64_t>(0, ceil_divide(-offset, stride));
  const std::int64_t end = std::min(outputs, ceil_divide(reach - offset, stride));
  if (dilation == 1) return std::max<std::int64_t>(0, end - first);
  std::int64_t count = 0;
  for (std::int64_t o = first; o < end; ++o) count += (o * stride + offset) % dilation == 0;
  return count;
}

std::int64_t valid_positions(const WindowDimension& window, std::int64_t input, std::int64_t output) {
  const std::int64_t reach = input == 0 ? 0 : (input - 1) * window.base_dilation + 1;
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < window.size; ++k)
    count +=
        hits(output, std::max<std::int64_t>(1, window.stride), k * window.window_dilation - window.pad_low,
             reach, std::max<std::int64_t>(1, window.base_dilation));
  return count;
}

}  // namespace

std::optional<ConvolutionLabels> labels_of_convolution(const Instruction& convolution) {
  const std::string_view text = convolution.attribute("dim_labels");
  const std::size_t under = text.find('_'), arrow = text.find("->");
  if (under == std::string_view::npos || arrow == std::string_view::npos || arrow < under)
    return std::nullopt;
  return ConvolutionLabels{text.substr(0, under), text.substr(under + 1, arrow - under - 1),
                           text.substr(arrow + 2)};
}

std::int64_t convolution_flops(const Instruction& convolution, const Shape& input) {
  const auto labels = labels_of_convolution(convolution);
  if (!labels) return 0;
  const Shape& output = convolution.shape.is_tuple() && !convolution.shape.leaves.empty()
                            ? convolution.shape.leaves.front()
                            : convolution.shape;
  std::int64_t pairs = 1;
  const std::vector<WindowDimension> window = window_of(convolution);
  for (std::size_t d = 0; d < window.size(); ++d) {
    const char label = static_cast<char>('0' + d);
    pairs *= valid_positions(window[d], length(input, labels->input, label),
                             length(output, labels->output, label));
  }
  return 2 * (length(input, labels->input, 'f') / groups(convolution, "feature_group_count")) *
         length(output, labels->output, 'f') *
         (length(input, labels->input, 'b') / groups(convolution, "batch_group_count")) * pairs;
}

}  // namespace podsim::hlo
