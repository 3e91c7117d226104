// Lengths dimension by dimension, as XLA infers them.
#include "ingest/hlo/window_checks.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "ingest/hlo/convolution.h"
#include "ingest/hlo/fields.h"

namespace podsim::hlo {
namespace {

using Dimensions = ShortList<std::int64_t, 2>;

// Beyond it no sum of a few products fits into 64 bits.
constexpr std::int64_t kLargestField = std::int64_t{1} << 30;

bool is_short(std::int64_t number) { return -kLargestField <= number && number <= kLargestField; }

// How many places a window has; nothing where its numbers are none of a window.
std::optional<std::int64_t> places_of(const WindowDimension& window, std::int64_t length) {
  for (const std::int64_t number : {window.size, window.stride, window.pad_low, window.pad_high,
                                    window.base_dilation, window.window_dilation, length})
    if (!is_short(number)) return std::nullopt;
  if (window.size < 1 || window.stride < 1 || window.base_dilation < 1 || window.window_dilation < 1)
    return std::nullopt;
  const std::int64_t wide = length == 0 ? 0 : (length - 1) * window.base_dilation + 1;
  const std::int64_t padded = wide + window.pad_low + window.pad_high;
  const std::int64_t reach = (window.size - 1) * window.window_dilation + 1;
  return padded < reach ? 0 : (padded - reach) / window.stride + 1;
}

std::int64_t group_count(const Instruction& instruction, std::string_view attribute) {
  const std::vector<std::int64_t> written = list_of(instruction.attribute(attribute));
  return written.size() == 1 ? written.front() : 1;
}

// Lengths by the letters of dim_labels.
class Labelled {
 public:
  Labelled(std::string_view labels, const Shape& shape) : labels_(labels), shape_(shape) {}

  bool fits() const { return labels_.size() == shape_.dimensions.size(); }
  std::optional<std::int64_t> of(char label) const {
    const std::size_t at = labels_.find(label);
    return at < shape_.dimensions.size() ? std::optional(shape_.dimensions[at]) : std::nullopt;
  }

 private:
  std::string_view labels_;
  const Shape& shape_;
};

std::string features_problem(const Labelled& input, const Labelled& kernel, std::int64_t groups,
                             std::int64_t batch_groups) {
  const std::int64_t in = *input.of('f'), each = *kernel.of('i'), out = *kernel.of('o');
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (in % groups != 0 || in / groups != each)
    return "but its kernel takes " + text(each) + " of " + text(in) + " features in " + text(groups) +
           " groups";
  if (out % groups != 0 || out % batch_groups != 0 || *input.of('b') % batch_groups != 0)
    return "but batch or features have no " + text(std::max(groups, batch_groups)) + " equal parts";
  return "";
}

std::optional<Shape> convolved(const Computation& computation, const Instruction& convolution,
                               std::string& problem) {
  const auto labels = labels_of_convolution(convolution);
  if (!labels || convolution.operands.size() < 2) return std::nullopt;
  const Labelled input(labels->input, computation.operand(convolution, 0).shape),
      kernel(labels->kernel, computation.operand(convolution, 1).shape);
  const std::int64_t groups = group_count(convolution, "feature_group_count"),
                     batch_groups = group_count(convolution, "batch_group_count");
  const bool known = input.fits() && kernel.fits() && input.of('f') && input.of('b') && kernel.of('i') &&
                     kernel.of('o') && groups > 0 && batch_groups > 0;
  if (!known || convolution.shape.is_tuple()) return std::nullopt;
  problem = features_problem(input, kernel, groups, batch_groups);
  Shape made = convolution.shape;
  const std::vector<WindowDimension> windows = window_of(convolution);
  made.dimensions = Dimensions();
  for (const char label : labels->output) {
    std::optional<std::int64_t> length;
    if (label == 'b') length = *input.of('b') / batch_groups;
    if (label == 'f') length = kernel.of('o');
    const auto d = static_cast<std::size_t>(label - '0');
    if (label >= '0' && d < windows.size() && input.of(label) && kernel.of(label) == windows[d].size)
      length = places_of(windows[d], *input.of(label));
    if (!length) return std::nullopt;
    made.dimensions.push_back(*length);
  }
  return made;
}

std::optional<Shape> windowed(const Computation& computation, const Instruction& reduction) {
  if (reduction.shape.is_tuple() || reduction.operands.size() != 2) return std::nullopt;
  const Dimensions& lengths = computation.operand(reduction, 0).shape.dimensions;
  const std::vector<WindowDimension> windows = window_of(reduction);
  if (windows.size() != lengths.size()) return std::nullopt;
  Shape made = reduction.shape;
  for (std::size_t d = 0; d < windows.size() && d < made.dimensions.size(); ++d) {
    const auto length = places_of(windows[d], lengths[d]);
    if (!length) return std::nullopt;
    made.dimensions[d] = *length;
  }
  return made;
}

// {[0:3], [1:8:2]}, one range for each dimension.
std::optional<Shape> sliced(const Computation& computation, const Instruction& slice, std::string& problem) {
  const Shape& whole = computation.operand(slice, 0).shape;
  const std::string_view text = slice.attribute("slice");
  Shape made = whole;
  std::size_t at = 0;
  for (std::size_t d = 0; d < whole.dimensions.size(); ++d) {
    const std::size_t open = text.find('[', at), close = text.find(']', at);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      return std::nullopt;
    const std::vector<std::int64_t> range = list_of(text.substr(open, close - open));
    if (range.size() < 2 || range.size() > 3) return std::nullopt;
    const std::int64_t step = range.size() == 3 ? range[2] : 1;
    if (step < 1) return std::nullopt;
    if (range[0] > range[1] || range[1] > whole.dimensions[d]) {
      problem = "but " + shape_words(whole) + " has no elements " + std::to_string(range[0]) + " to " +
                std::to_string(range[1]) + " along dimension " + std::to_string(d);
      return made;
    }
    made.dimensions[d] = (range[1] - range[0]) / step + ((range[1] - range[0]) % step != 0);
    at = close + 1;
  }
  return made;
}

// padding=1_1x0_0_2: below, above, and between elements.
std::optional<Shape> padded(const Computation& computation, const Instruction& pad) {
  Shape made = computation.operand(pad, 0).shape;
  std::string_view text = pad.attribute("padding");
  for (std::size_t d = 0; d < made.dimensions.size(); ++d) {
    const std::string_view one = text.substr(0, text.find('x'));
    std::vector<std::int64_t> numbers;
    for (const char* c = one.data(); c < one.data() + one.size();) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(c, one.data() + one.size(), number);
      if (error != std::errc() || !is_short(number)) return std::nullopt;
      numbers.push_back(number);
      c = end + (end < one.data() + one.size() ? 1 : 0);
    }
    if (numbers.size() < 2 || numbers.size() > 3 || !is_short(made.dimensions[d])) return std::nullopt;
    const std::int64_t between = numbers.size() == 3 ? numbers[2] : 0, length = made.dimensions[d];
    made.dimensions[d] = length + numbers[0] + numbers[1] + std::max<std::int64_t>(0, length - 1) * between;
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return made;
}

}  // namespace

std::optional<Shape> shape_of_windows(const Computation& computation, const Instruction& instruction,
                                      std::string& problem) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "convolution") return convolved(computation, instruction, problem);
  if (opcode == "reduce-window") return windowed(computation, instruction);
  if (opcode == "slice") return sliced(computation, instruction, problem);
  if (opcode == "pad") return padded(computation, instruction);
  return std::nullopt;
}

}  // namespace podsim::hlo
