// Reads sizes, ranges and lists.
#include "proto/text/quantities.h"

#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "engine/binary_units.h"
#include "engine/number_text.h"
#include "engine/words.h"

namespace podsim {
namespace {

constexpr std::size_t kMostCounts = 1000;
constexpr double kLargestByteCount =
    1e15;  // over a link of 1 GB/s that takes a million seconds; Time holds nine

std::optional<std::int64_t> parse_count(const std::string& text) {
  const auto value = whole_text_as<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// FIRST..LAST with an optional step after `mark`: "64..4096x2" -> {"64", "4096", "2"}. Nothing without "..".
struct Range {
  std::string first, last, step;
};
std::optional<Range> split_range(const std::string& text, char mark) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  std::string last = text.substr(dots + 2);
  const std::size_t at = last.rfind(mark);
  const std::string step = at == std::string::npos ? "" : last.substr(at + 1);
  return Range{text.substr(0, dots), last.substr(0, at), step};
}

// Every part of a comma list by `parse`, or nothing when one fails.
template <class Value>
std::optional<std::vector<Value>> parse_list(
    const std::string& text, const std::function<std::optional<Value>(const std::string&)>& parse) {
  std::vector<Value> values;
  for (const std::string& part : split(text, ',')) {
    const std::optional<Value> value = parse(part);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

// The end is part of the range when a step lands on it.
std::optional<std::vector<std::int64_t>> count_by(std::int64_t first, std::int64_t last, std::int64_t step,
                                                  std::int64_t most) {
  if (step < 1 || last < first || (last - first) / step >= most) return std::nullopt;
  std::vector<std::int64_t> values;
  for (std::int64_t value = first; value <= last; value += step) values.push_back(value);
  return values;
}

std::optional<std::vector<double>> multiply_by(double first, double last, double factor) {
  if (!(factor > 1) || last < first) return std::nullopt;
  std::vector<double> values;
  for (double value = first; value <= last; value *= factor) {
    values.push_back(value);
    if (values.size() > kMostCounts) return std::nullopt;
  }
  return values;
}

}  // namespace

std::optional<double> parse_bytes(const std::string& text) {
  static constexpr std::array<std::pair<const char*, double>, 12> kUnits = {{{"", 1},
                                                                             {"B", 1},
                                                                             {"KB", 1e3},
                                                                             {"MB", 1e6},
                                                                             {"GB", 1e9},
                                                                             {"TB", 1e12},
                                                                             {"PB", 1e15},
                                                                             {"kB", 1e3},
                                                                             {"KiB", kBytesPerKib},
                                                                             {"MiB", kBytesPerMib},
                                                                             {"GiB", kBytesPerGib},
                                                                             {"TiB", kBytesPerTib}}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value <= 0) return std::nullopt;
  std::string unit(end, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  for (const auto& [name, bytes] : kUnits) {
    if (unit == name && value * bytes <= kLargestByteCount) return value * bytes;
  }
  return std::nullopt;
}

std::optional<std::vector<double>> parse_byte_range(const std::string& text) {
  const auto range = split_range(text, 'x');
  if (!range) return parse_list<double>(text, parse_bytes);
  const auto first = parse_bytes(range->first), last = parse_bytes(range->last);
  const auto factor = range->step.empty() ? std::optional<std::int64_t>(2) : parse_count(range->step);
  if (!first || !last || !factor) return std::nullopt;
  return multiply_by(*first, *last, static_cast<double>(*factor));
}

std::optional<std::vector<std::int64_t>> parse_count_range(const std::string& text) {
  const auto positive = [](const std::string& part) -> std::optional<std::int64_t> {
    const auto value = parse_count(part);
    return value && *value > 0 ? value : std::nullopt;
  };
  const bool adds = text.find('+') != std::string::npos;
  const auto range = split_range(text, adds ? '+' : 'x');
  if (!range) return parse_list<std::int64_t>(text, positive);
  const auto first = positive(range->first), last = positive(range->last);
  const auto step = range->step.empty() ? std::optional<std::int64_t>(2) : positive(range->step);
  if (!first || !last || !step) return std::nullopt;
  if (adds) return count_by(*first, *last, *step, kMostCounts);
  const auto values =
      multiply_by(static_cast<double>(*first), static_cast<double>(*last), static_cast<double>(*step));
  if (!values) return std::nullopt;
  return std::vector<std::int64_t>(values->begin(), values->end());
}

std::optional<std::vector<double>> parse_number_range(const std::string& text) {
  const auto positive = [](const std::string& part) -> std::optional<double> {
    const auto value = whole_text_as<double>(part);
    return value && *value > 0 ? value : std::nullopt;
  };
  // A plus that is no part of an exponent.
  const std::size_t dots = text.find("..");
  const std::size_t plus = dots == std::string::npos ? dots : text.rfind('+');
  const bool adds =
      plus != std::string::npos && plus > dots && text[plus - 1] != 'e' && text[plus - 1] != 'E';
  const auto range = split_range(text, adds ? '+' : 'x');
  if (!range) return parse_list<double>(text, positive);
  const auto first = positive(range->first), last = positive(range->last);
  const auto step = range->step.empty() ? std::optional(2.0) : positive(range->step);
  if (!first || !last || !step || *last < *first) return std::nullopt;
  std::optional<std::vector<double>> values;
  if (!adds) {
    values = multiply_by(*first, *last, *step);
  } else if ((*last - *first) / *step < kMostCounts) {
    values.emplace();
    for (int i = 0; *first + i * *step <= *last; ++i) values->push_back(*first + i * *step);
  }
  if (values && values->back() < *last) values->push_back(*last);
  return values;
}

std::optional<std::vector<std::int64_t>> parse_index_list(const std::string& text) {
  const auto range = split_range(text, '+');
  if (!range) return parse_list<std::int64_t>(text, parse_count);
  const auto first = parse_count(range->first), last = parse_count(range->last);
  const auto step = range->step.empty() ? std::optional<std::int64_t>(1) : parse_count(range->step);
  if (!first || !last || !step) return std::nullopt;
  return count_by(*first, *last, *step, kMostIndices);
}

std::optional<std::vector<int>> parse_shape(const std::string& text) {
  std::vector<int> shape;
  for (const std::string& part : split(text, 'x')) {
    const auto length = parse_count(part);
    if (!length || *length < 1 || *length > kMostIndices) return std::nullopt;
    shape.push_back(static_cast<int>(*length));
  }
  return shape;
}

}  // namespace podsim
