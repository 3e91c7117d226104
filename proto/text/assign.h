// Fields by reflection: what a field accepts, in words, and setting one from text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Descriptor;
class EnumDescriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace podsim {

// What is wrong with a value, completed by the path in front: "must be a whole number, not 1.5".
struct ValueProblem {
  std::string message;
  std::string hint;
};

// "a whole number", "true or false", "one of fp32, bf16, ...", "text in quotes".
std::string describe_value(const google::protobuf::FieldDescriptor& field);

// That `value` is not what the field takes, with the nearest name where the field takes names.
ValueProblem wrong_value(const google::protobuf::FieldDescriptor& field, const std::string& value);

// Sets a scalar field, or appends to a repeated one. REQUIRES: the field is not a message.
std::optional<ValueProblem> assign(google::protobuf::Message& message,
                                   const google::protobuf::FieldDescriptor& field, const std::string& value);

// Whether values have a range: all numbers, and an enumeration whose field takes any number beside its names.
bool takes_numbers(const google::protobuf::FieldDescriptor& field);

std::vector<std::string> field_names(const google::protobuf::Descriptor& message);
std::vector<std::string> value_names(
    const google::protobuf::EnumDescriptor& type);  // without the unspecified one

// `did you mean "name"?`, or the candidates when none is close.
std::string suggest(const std::string& name, const std::vector<std::string>& candidates,
                    const std::string& what);

// The name that is meant: one that is spelled almost so, or what other tools call so ("seq_length", "1f1b"),
// or empty.
std::string meant_name(const std::string& name, const std::vector<std::string>& candidates);

// Of a field that a message does not have: the one that is meant, or the blocks of `root`, which is the
// whole, that have it, or the fields that there are.
std::string suggest_field(const std::string& name, const google::protobuf::Descriptor& message,
                          const google::protobuf::Descriptor& root);

// "a, b, c", cut after a dozen.
std::string list_names(const std::vector<std::string>& names);

}  // namespace podsim
