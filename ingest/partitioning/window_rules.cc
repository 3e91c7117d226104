// Labels such as b01f_01io->b01f tell what each dimension is.
#include "ingest/partitioning/window_rules.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "engine/index.h"
#include "ingest/hlo/convolution.h"
#include "ingest/hlo/fields.h"

namespace podsim::partitioning {
namespace {

using hlo::Instruction;
using hlo::Shape;
using hlo::WindowDimension;

// Windows of programs are small; longer ones are not counted through.
constexpr std::int64_t kMostPositions = 1 << 20;

std::optional<Window> window_from(const WindowDimension& given, std::int64_t input, std::int64_t output) {
  for (const std::int64_t number : {given.size, given.stride, given.base_dilation, given.window_dilation})
    if (number < 1 || number > kMostPositions) return std::nullopt;
  for (const std::int64_t number : {given.pad_low, given.pad_high})
    if (number < -kMostPositions || number > kMostPositions) return std::nullopt;
  if (input < 1 || input > kMostPositions || output < 1 || output > kMostPositions) return std::nullopt;
  Window window;
  window.input = input;
  window.size = given.size;
  window.stride = given.stride;
  window.dilation = given.window_dilation;
  window.base_dilation = given.base_dilation;
  window.pad_low = given.pad_low;
  return window;
}

// Where a label stands; nothing where it is not there, or the tensor has another number of dimensions.
std::optional<int> place_of(std::string_view labels, char label, const Shape& shape) {
  const std::size_t place = labels.find(label);
  if (place == std::string_view::npos || labels.size() != shape.dimensions.size()) return std::nullopt;
  return static_cast<int>(place);
}

std::optional<int> groups_of(const Instruction& convolution, std::string_view attribute) {
  if (!convolution.has(attribute)) return 1;
  const std::vector<std::int64_t> groups = hlo::list_of(convolution.attribute(attribute));
  if (groups.size() != 1 || groups[0] < 1 || groups[0] > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(groups[0]);
}

// Fills in places and sizes; false where something does not fit.
bool describe_dimensions(const hlo::ConvolutionLabels& labels, const std::vector<WindowDimension>& windows,
                         const std::vector<Shape>& operands, const Shape& result, ConvolutionShape& shape) {
  const std::optional<int> places[] = {
      place_of(labels.input, 'b', operands[0]),  place_of(labels.input, 'f', operands[0]),
      place_of(labels.kernel, 'i', operands[1]), place_of(labels.kernel, 'o', operands[1]),
      place_of(labels.output, 'b', result),      place_of(labels.output, 'f', result)};
  if (!std::ranges::all_of(places, [](const auto& place) { return place.has_value(); })) return false;
  shape.lhs_batch = *places[0];
  shape.lhs_feature = *places[1];
  shape.rhs_in = *places[2];
  shape.rhs_out = *places[3];
  shape.out_batch = *places[4];
  shape.out_feature = *places[5];
  if (windows.size() + 2 != shape.lhs.size() || shape.lhs.size() != shape.rhs.size() ||
      shape.lhs.size() != shape.out.size())
    return false;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const char label = static_cast<char>('0' + d);
    const auto lhs = place_of(labels.input, label, operands[0]),
               rhs = place_of(labels.kernel, label, operands[1]),
               out = place_of(labels.output, label, result);
    if (!lhs || !rhs || !out || shape.rhs[at(*rhs)] != windows[d].size) return false;
    const auto window = window_from(windows[d], shape.lhs[at(*lhs)], shape.out[at(*out)]);
    if (!window) return false;
    shape.lhs_spatial.push_back(*lhs);
    shape.rhs_spatial.push_back(*rhs);
    shape.out_spatial.push_back(*out);
    shape.windows.push_back(*window);
  }
  return true;
}

std::string pads_text(std::int64_t low, std::int64_t high) {
  return std::to_string(low) + "_" + std::to_string(high);
}

std::string window_text(const std::vector<WindowDimension>& windows) {
  std::string size, stride, pad, base, dilation;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const std::string times = d == 0 ? "" : "x";
    size += times + std::to_string(windows[d].size);
    stride += times + std::to_string(windows[d].stride);
    pad += times + pads_text(windows[d].pad_low, windows[d].pad_high);
    base += times + std::to_string(windows[d].base_dilation);
    dilation += times + std::to_string(windows[d].window_dilation);
  }
  return "{size=" + size + " stride=" + stride + " pad=" + pad + " lhs_dilate=" + base +
         " rhs_dilate=" + dilation + "}";
}

}  // namespace

std::optional<OpRule> convolution_of(const Instruction& convolution, const std::vector<Shape>& operands,
                                     const Shape& result) {
  const auto labels = hlo::labels_of_convolution(convolution);
  const auto features = groups_of(convolution, "feature_group_count"),
             batches = groups_of(convolution, "batch_group_count");
  if (!labels || operands.size() != 2 || !features || !batches || (*features > 1 && *batches > 1))
    return std::nullopt;
  ConvolutionShape shape;
  shape.lhs = operands[0].dimensions;
  shape.rhs = operands[1].dimensions;
  shape.out = result.dimensions;
  shape.feature_groups = *features;
  shape.batch_groups = *batches;
  if (!describe_dimensions(*labels, hlo::window_of(convolution), operands, result, shape))
    return std::nullopt;
  const int groups = *features * *batches;
  const bool fits = shape.rhs[at(shape.rhs_out)] == shape.out[at(shape.out_feature)] &&
                    shape.out[at(shape.out_feature)] % groups == 0 &&
                    shape.lhs[at(shape.lhs_feature)] == shape.rhs[at(shape.rhs_in)] * *features &&
                    shape.lhs[at(shape.lhs_batch)] == shape.out[at(shape.out_batch)] * *batches;
  return fits ? std::optional(convolution_rule(shape)) : std::nullopt;
}

std::optional<OpRule> windowed_reduction(const Instruction& reduce, const std::vector<Shape>& operands,
                                         const Shape& result) {
  const std::vector<WindowDimension> windows = hlo::window_of(reduce);
  const Shape& input = operands.front();
  if (operands.size() != 2 || windows.size() != input.dimensions.size() ||
      result.dimensions.size() != input.dimensions.size())
    return std::nullopt;
  OpRule rule;
  FactorMap map(windows.size());
  for (std::size_t d = 0; d < windows.size(); ++d) {
    auto window = window_from(windows[d], input.dimensions[d], result.dimensions[d]);
    if (!window) return std::nullopt;
    const bool same = windows[d].size == 1 && input.dimensions[d] == result.dimensions[d];
    const int factor =
        rule.add({result.dimensions[d], same ? FactorKind::kPassThrough : FactorKind::kPermutation});
    map[d] = {factor};
    if (same) continue;
    window->factor = factor;
    window->operand = 0;
    window->dim = static_cast<int>(d);
    rule.windows.push_back(*window);
  }
  rule.operands = {map, {}};  // what each window begins with
  rule.results = {map};
  return rule;
}

void fit_local_convolution(Instruction& convolution, Shape& input, const Shape& whole_input,
                           const Shape& kernel, const Shape& whole_kernel, const Shape& result,
                           const Shape& whole_result) {
  const auto labels = hlo::labels_of_convolution(convolution);
  if (!labels) return;
  std::vector<WindowDimension> windows = hlo::window_of(convolution);
  bool changed = false;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const char label = static_cast<char>('0' + d);
    const auto in = place_of(labels->input, label, input), size = place_of(labels->kernel, label, kernel),
               out = place_of(labels->output, label, result);
    if (!in || !size || !out || kernel.dimensions.size() != whole_kernel.dimensions.size()) continue;
    if (kernel.dimensions[at(*size)] == whole_kernel.dimensions[at(*size)] &&
        result.dimensions[at(*out)] == whole_result.dimensions[at(*out)] &&
        input.dimensions[at(*in)] == whole_input.dimensions[at(*in)])
      continue;
    WindowDimension& window = windows[d];
    window.size = kernel.dimensions[at(*size)];
    window.pad_low = window.pad_high = 0;
    window.base_dilation = std::max<std::int64_t>(1, window.base_dilation);
    const std::int64_t reach =
        (result.dimensions[at(*out)] - 1) * window.stride + (window.size - 1) * window.window_dilation;
    input.dimensions[at(*in)] = reach / window.base_dilation + 1;
    changed = true;
  }
  if (!changed) return;
  convolution.attributes.remove("window");
  convolution.attributes.add("window", window_text(windows));
}

}  // namespace podsim::partitioning
