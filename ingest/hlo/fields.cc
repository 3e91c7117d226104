// Reads them character by character: they are short.
#include "ingest/hlo/fields.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace podsim::hlo {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// 3x3 or 1_1x0_0: numbers of one dimension after the other, `each` of them for each.
std::vector<std::int64_t> by_dimension(std::string_view text) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc()) return {};
    found.push_back(value);
    at = static_cast<std::size_t>(end - text.data()) + 1;
  }
  return found;
}

std::string_view part_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    std::string_view rest = text.substr(at + key.size());
    if (!rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    return rest.substr(0, std::min(rest.find_first_of(" }"), rest.size()));
  }
  return {};
}

}  // namespace

std::vector<std::int64_t> list_of(std::string_view text) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < text.size();) {
    if (!std::isdigit(static_cast<unsigned char>(text[at]))) {
      ++at;
      continue;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc()) return {};
    found.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
  }
  return found;
}

std::vector<WindowDimension> window_of(const Instruction& instruction) {
  const std::string_view text = instruction.attribute("window");
  const std::vector<std::int64_t> sizes = by_dimension(part_of(text, "size"));
  std::vector<WindowDimension> window(sizes.size());
  const auto fill = [&](std::string_view key, std::int64_t WindowDimension::*field) {
    const std::vector<std::int64_t> values = by_dimension(part_of(text, key));
    for (std::size_t d = 0; d < std::min(values.size(), window.size()); ++d) window[d].*field = values[d];
  };
  for (std::size_t d = 0; d < sizes.size(); ++d) window[d].size = sizes[d];
  fill("stride", &WindowDimension::stride);
  fill("lhs_dilate", &WindowDimension::base_dilation);
  fill("rhs_dilate", &WindowDimension::window_dilation);
  const std::vector<std::int64_t> padding = by_dimension(part_of(text, "pad"));
  for (std::size_t d = 0; 2 * d + 1 < padding.size() && d < window.size(); ++d) {
    window[d].pad_low = padding[2 * d];
    window[d].pad_high = padding[2 * d + 1];
  }
  return window;
}

std::int64_t number_of(std::string_view dictionary, std::string_view key) {
  for (std::size_t at = dictionary.find(key); at != std::string_view::npos;
       at = dictionary.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    if ((at > 0 && is_word(dictionary[at - 1])) || (end < dictionary.size() && is_word(dictionary[end])))
      continue;
    const std::size_t begin = dictionary.find_first_not_of(" =:\"\\", end);
    if (begin == std::string_view::npos) return -1;
    std::int64_t value = -1;
    std::from_chars(dictionary.data() + begin, dictionary.data() + dictionary.size(), value);
    return value;
  }
  return -1;
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

}  // namespace podsim::hlo
