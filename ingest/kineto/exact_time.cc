// Shifts the decimal point in the text of a number.
#include "ingest/kineto/exact_time.h"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/number_text.h"

namespace podsim::kineto {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr std::ptrdiff_t kNanosecondDigits = 3;  // of a microsecond
constexpr std::ptrdiff_t kBillionthDigits = 9;   // of a nanosecond
constexpr std::ptrdiff_t kMostWholeDigits = 19;  // of an integer of 64 bits

bool all_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// 0 of no digits.
std::optional<std::int64_t> integer(std::string_view digits) {
  return digits.empty() ? std::optional<std::int64_t>(0) : whole_text_as<std::int64_t>(digits);
}

// 0 where there is none.
std::optional<std::int64_t> exponent_of(std::string_view& number) {
  const std::size_t at = number.find_first_of("eE");
  if (at == std::string_view::npos) return 0;
  std::string_view digits = number.substr(at + 1);
  number = number.substr(0, at);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto exponent = whole_text_as<std::int64_t>(digits);
  return exponent && std::abs(*exponent) < 100 ? exponent : std::nullopt;
}

}  // namespace

std::optional<ExactTime> sum(const ExactTime& a, const ExactTime& b) {
  const std::int64_t billionths = a.billionths + b.billionths, carried = billionths / kBillion;
  if (b.ns > 0 ? a.ns > kMost - b.ns - 1 : a.ns < -kMost - b.ns) return std::nullopt;
  return ExactTime{a.ns + b.ns + carried, billionths % kBillion};
}

std::optional<ExactTime> from_microseconds(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const auto exponent = exponent_of(number);
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view whole = number.substr(0, point);
  const std::string_view fraction = point < number.size() ? number.substr(point + 1) : std::string_view();
  if (!exponent || whole.size() + fraction.size() == 0 || !all_digits(whole) || !all_digits(fraction))
    return std::nullopt;
  std::string digits = std::string(whole) + std::string(fraction);
  std::ptrdiff_t places = static_cast<std::ptrdiff_t>(whole.size()) + *exponent + kNanosecondDigits;
  if (places < 0) {
    digits.insert(0, static_cast<std::size_t>(-places), '0');
    places = 0;
  }
  const auto needed = static_cast<std::size_t>(places + kBillionthDigits);
  digits.resize(std::max(digits.size(), needed), '0');
  const std::string_view all = digits;
  std::string_view nanoseconds = all.substr(0, static_cast<std::size_t>(places));
  nanoseconds.remove_prefix(std::min(nanoseconds.find_first_not_of('0'), nanoseconds.size()));
  if (static_cast<std::ptrdiff_t>(nanoseconds.size()) > kMostWholeDigits) return std::nullopt;
  const auto ns = integer(nanoseconds);
  const auto billionths = integer(all.substr(static_cast<std::size_t>(places), kBillionthDigits));
  if (!ns || !billionths) return std::nullopt;
  if (!negative) return ExactTime{*ns, *billionths};
  return *billionths == 0 ? ExactTime{-*ns, 0} : ExactTime{-*ns - 1, kBillion - *billionths};
}

std::optional<ExactTime> from_microseconds(std::int64_t number) {
  constexpr std::int64_t kThousand = 1000;
  if (number > kMost / kThousand || number < -(kMost / kThousand)) return std::nullopt;
  return ExactTime{number * kThousand, 0};
}

}  // namespace podsim::kineto
