// What the schema's options say of each field: its range, and whether it must be there.
#include "proto/text/ranges.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "engine/check.h"
#include "engine/utf8.h"
#include "proto/options.pb.h"
#include "proto/text/assign.h"
#include "proto/text/parse.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kMaxScalars = 512;       // in one list of numbers or names
constexpr std::size_t kMaxText = 500;  // bytes of one text

struct AllowedRange {
  double low = 0, high = 0;
  bool low_open = false, high_open = false;

  bool holds(double x) const { return (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high); }
};

// "(0, 1e6]"
AllowedRange parse_interval(const std::string& text) {
  AllowedRange interval;
  const std::size_t comma = text.find(", ");
  const bool shape = text.size() > 4 && comma != std::string::npos;
  PODSIM_CHECK(shape, "the schema has the range " + text);
  interval.low_open = text.front() == '(';
  interval.high_open = text.back() == ')';
  const auto low = std::from_chars(text.data() + 1, text.data() + comma, interval.low);
  const auto high = std::from_chars(text.data() + comma + 2, text.data() + text.size() - 1, interval.high);
  PODSIM_CHECK(low.ec == std::errc() && high.ec == std::errc(), "the schema has the range " + text);
  return interval;
}

// Without an exponent where that is readable: 0.0001, 1000000.
std::string plain(double x) {
  if (x != 0 && (std::abs(x) < 1e-5 || std::abs(x) >= 1e12 || !std::isfinite(x))) return shortest(x);
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::fixed).ptr};
}

// 1,000,000
std::string bound(double x) {
  std::string digits = plain(x);
  if (x < 1000 || x >= 1e12 || x != std::floor(x)) return digits;
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

std::string in_words(const AllowedRange& interval) {
  const std::string low = bound(interval.low), high = bound(interval.high);
  if (!interval.low_open && !interval.high_open) return "from " + low + " to " + high;
  return (interval.low_open ? "above " : "at least ") + low + " and " +
         (interval.high_open ? "below " : "at most ") + high;
}

// A number of a field as a double, for comparison, and as text.
struct Number {
  double value;
  std::string text;
};

std::optional<Number> number_of(const Message& message, const FieldDescriptor& field, int element) {
  const auto* r = message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value =
          element < 0 ? r->GetInt32(message, &field) : r->GetRepeatedInt32(message, &field, element);
      return Number{static_cast<double>(value), std::to_string(value)};
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value =
          element < 0 ? r->GetEnumValue(message, &field) : r->GetRepeatedEnumValue(message, &field, element);
      return Number{static_cast<double>(value), std::to_string(value)};
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      const auto value =
          element < 0 ? r->GetUInt64(message, &field) : r->GetRepeatedUInt64(message, &field, element);
      return Number{static_cast<double>(value), std::to_string(value)};
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const auto value =
          element < 0 ? r->GetDouble(message, &field) : r->GetRepeatedDouble(message, &field, element);
      return Number{value, plain(value)};
    }
    default:
      return std::nullopt;
  }
}

// What is wrong with a number, or nothing.
std::optional<ValueProblem> wrong_number(const FieldDescriptor& field, const Number& number) {
  const AllowedRange interval = parse_interval(field.options().GetExtension(schema::range));
  if (interval.holds(number.value)) return std::nullopt;  // false for nan
  std::string hint;
  const bool percent = interval.high == 1 && number.value > 1 && number.value <= 100;
  if (percent) hint = "a share: " + number.text + " % is " + plain(number.value / 100);
  return ValueProblem{"must be " + in_words(interval) + ", not " + number.text, hint};
}

// Is it UTF-8 without control characters?
bool printable(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0 || is_control(text[i])) return false;
    i += length;
  }
  return true;
}

std::optional<ValueProblem> wrong_text(const std::string& text) {
  if (text.size() > kMaxText) {
    return ValueProblem{
        "must have at most " + std::to_string(kMaxText) + " bytes, not " + std::to_string(text.size()), ""};
  }
  if (!printable(text)) return ValueProblem{"must be printable UTF-8 text", ""};
  return std::nullopt;
}

// `element` is an index, or -1 for a field that is not repeated.
std::optional<ValueProblem> wrong_scalar(const Message& message, const FieldDescriptor& field, int element) {
  const auto* r = message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    const int value =
        element < 0 ? r->GetEnumValue(message, &field) : r->GetRepeatedEnumValue(message, &field, element);
    if (value != 0 && field.enum_type()->FindValueByNumber(value)) return std::nullopt;
    if (!takes_numbers(field)) return ValueProblem{"must be " + describe_value(field), ""};
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return wrong_text(element < 0 ? r->GetString(message, &field)
                                  : r->GetRepeatedString(message, &field, element));
  }
  const auto number = number_of(message, field, element);
  return number ? wrong_number(field, *number) : std::nullopt;
}

void check_scalars(Message& message, const FieldDescriptor& field, const std::string& path,
                   Document& document) {
  const auto* reflection = message.GetReflection();
  const int size = field.is_repeated() ? reflection->FieldSize(message, &field) : 1;
  bool wrong = size > kMaxScalars;
  if (wrong) {
    document.report(path, path + " has " + std::to_string(size) + " values, at most " +
                              std::to_string(kMaxScalars) + " are possible");
  }
  for (int i = 0; i < size && size <= kMaxScalars; ++i) {
    const auto problem = wrong_scalar(message, field, field.is_repeated() ? i : -1);
    if (!problem) continue;
    wrong = true;
    const std::string at = field.is_repeated() ? path + "[" + std::to_string(i) + "]" : path;
    document.report(at, at + " " + problem->message, problem->hint);
  }
  if (!wrong) return;
  reflection->ClearField(&message, &field);
  document.spoil(path);
}

}  // namespace

void check_ranges(Message& message, const std::string& path, Document& document) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string at = join_path(path, field->name());
    const bool alias = field->name() == "alias" || field->name() == "loose_alias";
    if (alias && path.ends_with("_override")) {
      document.report(at, at + " has no effect: entries of the catalogue have aliases", "leave it out");
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      check_scalars(message, *field, at, document);
    } else if (!field->is_repeated()) {
      check_ranges(*reflection->MutableMessage(&message, field), at, document);
    } else if (reflection->FieldSize(message, field) > kMaxBlocks) {
      document.report(at, at + " has more than " + std::to_string(kMaxBlocks) + " elements");
      reflection->ClearField(&message, field);
      document.spoil(at);
    } else {
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        check_ranges(*reflection->MutableRepeatedMessage(&message, field, i),
                     at + "[" + std::to_string(i) + "]", document);
      }
    }
  }
}

void report_missing(const std::string& path, const std::string& example, Document& document) {
  const std::size_t dot = path.rfind('.');
  const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
  const bool block = !example.empty() && example.front() == '{';
  document.report(path, path + " is missing", "write, for example, " + name + (block ? " " : ": ") + example);
}

void check_required(const Message& message, const std::string& path, Document& document) {
  const auto* reflection = message.GetReflection();
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const std::string at = join_path(path, field->name());
    const int size =
        field->is_repeated() ? reflection->FieldSize(message, field) : reflection->HasField(message, field);
    const std::string& example = field->options().GetExtension(schema::required);
    const FieldDescriptor* instead =
        descriptor->FindFieldByName(field->options().GetExtension(schema::unless));
    const bool needed = !example.empty() && !(instead && reflection->HasField(message, instead));
    if (size == 0 && needed) report_missing(at, example, document);
    const bool partial = field->name().ends_with("_override");
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || partial || size == 0) continue;
    if (!field->is_repeated()) {
      check_required(reflection->GetMessage(message, field), at, document);
      continue;
    }
    for (int k = 0; k < size && !document.full(); ++k) {
      check_required(reflection->GetRepeatedMessage(message, field, k), at + "[" + std::to_string(k) + "]",
                     document);
    }
  }
}

}  // namespace podsim
