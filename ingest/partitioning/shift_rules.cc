// Slices, pads and selections: which inputs a part of the output reads, as windows.
#include <charconv>
#include <cstdlib>

#include "engine/index.h"
#include "ingest/hlo/fields.h"
#include "ingest/partitioning/window_rules.h"

namespace podsim::partitioning {
namespace {

using hlo::Instruction;
using hlo::Shape;
using hlo::WindowDimension;

// Of pads and strides, in elements: products with lengths do not overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 40;

bool is_near(std::int64_t number) { return number > -kFarthest && number < kFarthest; }

// [0:8], [2:10:2] or 0_1x-2_3_1: the whole numbers of one dimension after the other.
std::vector<std::vector<std::int64_t>> by_dimension(std::string_view text, char end_of_dimension) {
  std::vector<std::vector<std::int64_t>> all(1);
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t number = 0;
    const char* const begin = text.data() + at;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    if (error == std::errc()) all.back().push_back(number);
    at += end == begin ? 1 : static_cast<std::size_t>(end - begin);
    if (end == begin && *begin == end_of_dimension) all.emplace_back();
  }
  if (all.back().empty()) all.pop_back();
  return all;
}

// One window for each dimension; those that change nothing pass their dimension through.
OpRule shifted(const Shape& whole, const Shape& result, const std::vector<Window>& windows,
               std::size_t operands) {
  std::vector<bool> changed;
  for (std::size_t d = 0; d < windows.size(); ++d)
    changed.push_back(whole.dimensions[d] != result.dimensions[d] || windows[d].pad_low != 0 ||
                      windows[d].stride != 1 || windows[d].base_dilation != 1);
  OpRule rule = shift_rule(whole.dimensions, result.dimensions, changed);
  rule.rule_class = RuleClass::kElementwise;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    if (!changed[d]) continue;
    Window window = windows[d];
    window.factor = rule.results[0][d].front();
    window.dim = static_cast<int>(d);
    window.input = whole.dimensions[d];
    rule.windows.push_back(window);
  }
  rule.operands.resize(operands);  // what a pad is made of
  return rule;
}

// Windows side by side: each is a piece of its dimension, and has one source.
void add_pieces(OpRule& rule, std::int64_t windows, std::int64_t size, FactorMap& result, FactorMap& source) {
  const int piece = rule.add({windows}), inside = rule.add({size, FactorKind::kNeedReplication, true});
  result.push_back({piece, inside});
  source.push_back({piece});
}

// Windows that overlap, or leave gaps: sources from o stride = i - tap + pad, and of the array at most what
// reaches as far as a window is long to either side.
void add_windows(OpRule& rule, const WindowDimension& given, std::int64_t length, std::int64_t sources,
                 FactorMap& result, FactorMap& source) {
  const int factor = rule.add({length, FactorKind::kPermutation}), dim = static_cast<int>(result.size());
  result.push_back({factor});
  source.push_back({factor});
  Window around;
  around.input = length;
  around.size = 2 * given.size - 1;
  around.pad_low = given.size - 1;
  Window of_sources;
  of_sources.operand = 1;
  of_sources.input = sources;
  of_sources.size = given.size;
  of_sources.base_dilation = given.stride;
  of_sources.pad_low = given.size - 1 - given.pad_low;
  for (Window* window : {&around, &of_sources}) {
    window->factor = factor;
    window->dim = dim;
    rule.windows.push_back(*window);
  }
}

}  // namespace

std::optional<OpRule> slice_of(const Instruction& slice, const Shape& whole, const Shape& result) {
  const auto bounds = by_dimension(slice.attribute("slice"), ']');
  if (bounds.size() != whole.dimensions.size() || bounds.size() != result.dimensions.size())
    return std::nullopt;
  std::vector<Window> windows;
  for (std::size_t d = 0; d < bounds.size(); ++d) {
    const std::vector<std::int64_t>& bound = bounds[d];
    if (bound.size() < 2 || bound.size() > 3) return std::nullopt;
    const std::int64_t first = bound[0], end = bound[1], stride = bound.size() == 3 ? bound[2] : 1;
    const bool fits = first >= 0 && first < end && end <= whole.dimensions[d] && stride >= 1 &&
                      is_near(stride) && (end - first - 1) / stride + 1 == result.dimensions[d];
    if (!fits) return std::nullopt;
    Window& window = windows.emplace_back();
    window.stride = stride;
    window.pad_low = -first;
  }
  return shifted(whole, result, windows, 1);
}

std::optional<OpRule> pad_of(const Instruction& pad, const std::vector<Shape>& operands,
                             const Shape& result) {
  const Shape& whole = operands.front();
  const auto pads = by_dimension(pad.attribute("padding"), 'x');
  if (pads.size() != whole.dimensions.size() || pads.size() != result.dimensions.size()) return std::nullopt;
  std::vector<Window> windows;
  for (std::size_t d = 0; d < pads.size(); ++d) {
    const std::int64_t length = whole.dimensions[d], between = pads[d].size() == 3 ? pads[d][2] : 0;
    if (length < 1 || pads[d].size() < 2 || pads[d].size() > 3 || !is_near(pads[d][0]) ||
        !is_near(pads[d][1]) || between < 0 || between >= kFarthest / length)
      return std::nullopt;
    if (pads[d][0] + pads[d][1] + (length - 1) * (between + 1) + 1 != result.dimensions[d])
      return std::nullopt;
    Window& window = windows.emplace_back();
    window.base_dilation = between + 1;
    window.pad_low = pads[d][0];
  }
  return shifted(whole, result, windows, operands.size());
}

std::optional<OpRule> select_and_scatter_of(const Instruction& select, const std::vector<Shape>& operands,
                                            const Shape& result) {
  constexpr std::int64_t kMostPositions = 1 << 20;
  const std::vector<WindowDimension> windows = hlo::window_of(select);
  if (operands.size() != 3 || windows.size() != result.dimensions.size() ||
      operands[0].dimensions != result.dimensions || operands[1].dimensions.size() != windows.size())
    return std::nullopt;
  OpRule rule;
  FactorMap of_result, of_source;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const WindowDimension& given = windows[d];
    const std::int64_t length = result.dimensions[d], sources = operands[1].dimensions[d];
    if (given.size < 1 || given.size > length || given.stride < 1 || given.stride > kMostPositions ||
        given.base_dilation != 1 || given.window_dilation != 1 || length > kMostPositions ||
        std::abs(given.pad_low) >= kMostPositions)
      return std::nullopt;
    if (given.size == given.stride && given.pad_low == 0 && sources * given.size == length)
      add_pieces(rule, sources, given.size, of_result, of_source);
    else
      add_windows(rule, given, length, sources, of_result, of_source);
  }
  rule.operands = {of_result, of_source, {}};  // what each place begins with
  rule.results = {of_result};
  return rule;
}

}  // namespace podsim::partitioning
