// Number formatting for tables, spreadsheets and messages.
#include "report/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "engine/binary_units.h"

namespace podsim {
namespace {

constexpr double kMostPlain = 1e21;  // with all its digits; more are none that anybody reads
constexpr int kLeastMagnitude = -12;

bool is_endless(double value) { return std::isfinite(value) && std::abs(value) >= kMostPlain; }

std::string with_exponent(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*e", decimals, value);
  return text.data();
}

std::string in_csv_quotes(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// "1234567.8" -> "1,234,567.8"
std::string grouped(std::string digits) {
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  std::size_t end = std::min(digits.find('.'), digits.size());
  while (end > first + 3) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

}  // namespace

std::string fixed(double value, int decimals) {
  constexpr int kMostDecimals = 3;  // of a number with an exponent
  if (is_endless(value)) return with_exponent(value, std::min(decimals, kMostDecimals));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fixed(value, 0);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (magnitude < kLeastMagnitude || is_endless(value)) return with_exponent(value, digits - 1);
  return grouped(fixed(value, std::max(0, digits - 1 - magnitude)));
}

std::string percent(double share) {
  const std::string text = fixed(100 * share, 1);
  return (text == "-0.0" ? "0.0" : text) + "%";
}

std::string hundredths(double share) { return fixed(100 * share, 2) + "%"; }

std::string signed_percent(double share) { return (share < 0 ? "" : "+") + fixed(100 * share, 1); }

std::string shortest(double value) {
  std::array<char, 400> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string exact_seconds(Time time) {
  const std::int64_t second = 1'000'000'000'000;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%s%lld.%012lld", time.ps < 0 ? "-" : "",
                static_cast<long long>(std::abs(time.ps / second)),
                static_cast<long long>(std::abs(time.ps % second)));
  return text.data();
}

std::string binary_bytes(Bytes bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes.value;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fixed(value, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

std::string gib(Bytes bytes) { return fixed(bytes.value / kBytesPerGib, 2) + " GiB"; }

std::string cell_text(const std::string& text) {
  return text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos
             ? text
             : "'" + text;
}

std::string csv_cell(const std::string& value) {
  return value.find_first_of(",\"\n\r") == std::string::npos ? value : in_csv_quotes(value);
}

std::string csv_text_cell(const std::string& text) { return csv_cell(cell_text(text)); }

std::string quoted_csv_text(const std::string& text) { return in_csv_quotes(cell_text(text)); }

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) line += (c == 0 ? "" : ",") + csv_cell(cells[c]);
  return line + "\n";
}

}  // namespace podsim
