// Walks messages by reflection.
#include "proto/text/question_digest.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "engine/sha256.h"
#include "report/text/text.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

thread_local LookedUpEntries* looked_up = nullptr;

// The value of a field, or its element where `index` is not negative.
std::string value_text(const Message& message, const FieldDescriptor& field, int index) {
  const auto& of = *message.GetReflection();
  const auto value = [&](auto single, auto repeated) {
    return index < 0 ? (of.*single)(message, &field) : (of.*repeated)(message, &field, index);
  };
  using Reflection = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(value(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return std::to_string(value(&Reflection::GetInt64, &Reflection::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return std::to_string(value(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(value(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return shortest(value(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return shortest(static_cast<double>(value(&Reflection::GetFloat, &Reflection::GetRepeatedFloat)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return value(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return std::to_string(value(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = value(&Reflection::GetString, &Reflection::GetRepeatedString);
      return std::to_string(text.size()) + ":" + text;  // so that no text reads as something else
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return "{\n" +
         canonical_text(index < 0 ? of.GetMessage(message, &field)
                                  : of.GetRepeatedMessage(message, &field, index)) +
         "}";
}

}  // namespace

std::string canonical_text(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);  // by number
  std::string text;
  for (const FieldDescriptor* field : fields) {
    const int size = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 0;
    for (int i = size > 0 ? 0 : -1; i < size; ++i)
      text += field->name() + " " + value_text(message, *field, i) + "\n";
  }
  return text;
}

LookedUpEntries::LookedUpEntries() : outer_(looked_up) { looked_up = this; }
LookedUpEntries::~LookedUpEntries() { looked_up = outer_; }

void LookedUpEntries::note(const std::string& section, const std::string& name, const Message& entry) {
  if (looked_up != nullptr) looked_up->entries_[{section, name}] = &entry;
}

std::string LookedUpEntries::digest(const std::string& question) const {
  std::string text = question;
  for (const auto& [place, entry] : entries_)
    text += place.first + " " + place.second + "\n" + canonical_text(*entry);
  return sha256(text);
}

}  // namespace podsim
