// Fields by reflection: what a field accepts, in words, and setting one from text.
#include "proto/text/assign.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/number_text.h"
#include "engine/spelling.h"
#include "proto/options.pb.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Whole numbers may be written as 1e6, which people do for large counts.
template <class Integer>
std::optional<Integer> parse_integer(const std::string& text) {
  if (const auto exact = whole_text_as<Integer>(text)) return exact;
  const auto value = whole_text_as<double>(text);
  if (!value || *value != std::floor(*value)) return std::nullopt;
  // 2^53: beyond it a double no longer holds every whole number.
  if (std::abs(*value) > 9007199254740992.0 || *value < 0) return std::nullopt;
  if (*value > static_cast<double>(std::numeric_limits<Integer>::max())) return std::nullopt;
  return static_cast<Integer>(*value);
}

// Calls `set` or `add` of reflection, whichever the field takes.
template <class Set, class Add, class Value>
void set_or_add(Message& message, const FieldDescriptor& field, Set set, Add add, Value value) {
  const auto* reflection = message.GetReflection();
  if (field.is_repeated()) {
    (reflection->*add)(&message, &field, value);
  } else {
    (reflection->*set)(&message, &field, value);
  }
}

std::string quoted(const std::string& value) {
  constexpr std::size_t kShown = 40;
  return "\"" + (value.size() > kShown ? value.substr(0, kShown) + "..." : value) + "\"";
}

std::string without_quotes(const std::string& value) {
  const bool quotes = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quotes ? value.substr(1, value.size() - 2) : value;
}

// A whole number, but larger than any of the field's type.
bool is_too_large(const FieldDescriptor& field, const std::string& value) {
  if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) return false;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return !parse_integer<std::int32_t>(value);
    case FieldDescriptor::CPPTYPE_UINT64:
      return !parse_integer<std::uint64_t>(value);
    case FieldDescriptor::CPPTYPE_ENUM:
      return takes_numbers(field) && !parse_integer<std::int32_t>(value);
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> field_names(const google::protobuf::Descriptor& message) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) names.push_back(message.field(i)->name());
  return names;
}

bool takes_numbers(const FieldDescriptor& field) { return field.options().HasExtension(schema::range); }

std::vector<std::string> value_names(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) names.push_back(type.value(i)->name());
  }
  return names;
}

std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) list += (i ? ", " : "") + names[i];
  if (names.size() > kShown) list += ", and " + std::to_string(names.size() - kShown) + " more";
  return list;
}

std::string suggest(const std::string& name, const std::vector<std::string>& candidates,
                    const std::string& what) {
  const std::string near = meant_name(name, candidates);
  if (!near.empty()) return "did you mean \"" + near + "\"?";
  return candidates.empty() ? "" : what + ": " + list_names(candidates);
}

std::string meant_name(const std::string& name, const std::vector<std::string>& candidates) {
  static const std::map<std::string, std::string> kOfOtherTools = {
      {"seq_length", "sequence_tokens"},
      {"seq_len", "sequence_tokens"},
      {"sequence_length", "sequence_tokens"},
      {"micro_batch_size", "microbatch_sequences"},
      {"1f1b", "one_f_one_b"},
      {"1F1B", "one_f_one_b"}};
  const auto other = kOfOtherTools.find(name);
  if (other != kOfOtherTools.end() && std::ranges::count(candidates, other->second) > 0) return other->second;
  return closest_name(name, candidates);
}

std::string suggest_field(const std::string& name, const google::protobuf::Descriptor& message,
                          const google::protobuf::Descriptor& root) {
  const std::vector<std::string> names = field_names(message);
  if (meant_name(name, names).empty()) {
    std::string blocks;
    for (int i = 0; i < root.field_count(); ++i) {
      const auto* block = root.field(i)->message_type();
      if (block != nullptr && block->FindFieldByName(name) != nullptr)
        blocks += (blocks.empty() ? "" : " or ") + root.field(i)->name();
    }
    if (!blocks.empty()) return "it is a field of " + blocks;
    if (root.FindFieldByName(name) != nullptr) return "it stands outside of all blocks";
  }
  return suggest(name, names, "its fields");
}

std::string describe_value(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return "a whole number";
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "a whole number, not negative";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return (takes_numbers(field) ? "a whole number or " : "one of ") +
             list_names(value_names(*field.enum_type()));
    case FieldDescriptor::CPPTYPE_STRING:
      return "text in quotes";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "fields in braces";
  }
  return "";
}

ValueProblem wrong_value(const FieldDescriptor& field, const std::string& value) {
  if (is_too_large(field, without_quotes(value))) return {"is out of range: " + value, ""};
  ValueProblem problem{"must be " + describe_value(field) + ", not " + value, ""};
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
    const std::string name = without_quotes(value), near = meant_name(name, value_names(*field.enum_type()));
    if (!near.empty()) problem.hint = near == name ? "write it without quotes" : "did you mean " + near + "?";
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    problem.hint = "write " + field.name() + ": " + quoted(value);
  }
  return problem;
}

std::optional<ValueProblem> assign(Message& message, const FieldDescriptor& field, const std::string& value) {
  using google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      if (const auto number = parse_integer<std::int32_t>(value)) {
        set_or_add(message, field, &Reflection::SetInt32, &Reflection::AddInt32, *number);
        return std::nullopt;
      }
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      if (const auto number = parse_integer<std::uint64_t>(value)) {
        set_or_add(message, field, &Reflection::SetUInt64, &Reflection::AddUInt64, *number);
        return std::nullopt;
      }
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      if (const auto number = number_as_written<double>(value)) {  // ranges tell of what is infinite or none
        set_or_add(message, field, &Reflection::SetDouble, &Reflection::AddDouble, *number);
        return std::nullopt;
      }
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      if (value == "true" || value == "false") {
        set_or_add(message, field, &Reflection::SetBool, &Reflection::AddBool, value == "true");
        return std::nullopt;
      }
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      if (const auto* entry = field.enum_type()->FindValueByName(value); entry && entry->number() != 0) {
        set_or_add(message, field, &Reflection::SetEnum, &Reflection::AddEnum, entry);
        return std::nullopt;
      }
      if (const auto number = parse_integer<std::int32_t>(value); number && takes_numbers(field)) {
        set_or_add(message, field, &Reflection::SetEnumValue, &Reflection::AddEnumValue, *number);
        return std::nullopt;
      }
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      set_or_add(message, field, &Reflection::SetString, &Reflection::AddString, value);
      return std::nullopt;
    default:
      break;
  }
  return wrong_value(field, quoted(value));
}

}  // namespace podsim
