// Element type, lengths and layout of an array; tuples element by element.
#include "ingest/hlo/shape_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace podsim::hlo {
namespace {

constexpr int kDeepestTuple = 64;  // of tuples

Shape shape(Scanner& scan, int depth);

Shape tuple(Scanner& scan, int depth) {
  Shape made;
  scan.take('(');
  for (scan.skip_space(); scan.peek() != ')'; scan.skip_space()) {
    made.leaves.push_back(shape(scan, depth + 1));
    scan.skip_space();
    if (!scan.take(',') && scan.peek() != ')')
      scan.fail(scan.at_end() ? "the text ends amid a shape: truncated" : "expected ',' or ')' in a tuple");
  }
  scan.take(')');
  return made;
}

void dimensions(Scanner& scan, Shape& made) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
  scan.take('[');
  std::int64_t elements = 1;
  while (scan.peek() != ']') {
    scan.take("<=");
    const std::size_t begin = scan.position();
    const std::int64_t length = scan.peek() == '?' ? 0 : leading_number(scan.digits());
    if (scan.peek() == '?') scan.fail(begin, "a dimension of no stated size");
    if (length < 0)
      scan.fail(begin, scan.at_end() ? "the text ends amid a shape: truncated"
                                     : "expected the length of a dimension");
    if (length > 0 && elements > kMostElements / length) scan.fail(begin, "the array is too large");
    elements *= std::max<std::int64_t>(1, length);
    made.dimensions.push_back(length);
    scan.take(',');
  }
  scan.take(']');
}

// {1,0:T(8,128)(2,1)E(4)S(1)}: E tells that elements are packed.
void layout(Scanner& scan, Shape& made) {
  const std::string_view text = scan.bracketed();
  const std::size_t packed = text.find("E(");
  if (packed == std::string_view::npos) return;
  const std::int64_t bits = leading_number(text.substr(packed + 2, text.find(')', packed) - packed - 2));
  if (bits > 0 && bits <= 128) made.bits = static_cast<int>(bits);
}

Shape shape(Scanner& scan, int depth) {
  if (depth > kDeepestTuple) scan.fail("tuples are nested too deep");
  scan.skip_space();
  if (scan.peek() == '(') return tuple(scan, depth);
  const std::size_t begin = scan.position();
  const std::string type(scan.name());
  const std::optional<ElementType> known = element_type(type);
  if (scan.peek() != '[') {
    if (scan.at_end()) scan.fail("the text ends amid a shape: truncated");
    scan.fail(begin, "the shape is missing", "write it: f32[8,128] " + type + "(...)");
  }
  if (!known) {
    const std::string near = nearest_element_type(type);
    scan.fail(begin, "element type " + type, near.empty() ? "" : "did you mean " + near + "?");
  }
  Shape made;
  made.type = known->name;
  made.bits = known->bits;
  dimensions(scan, made);
  if (scan.peek() == '{') layout(scan, made);
  return made;
}

}  // namespace

std::int64_t leading_number(std::string_view digits) {
  std::int64_t value = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

Shape read_shape(Scanner& scan) { return shape(scan, 0); }

}  // namespace podsim::hlo
