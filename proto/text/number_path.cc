// Walks from a message to one of its numbers, and to all of them.
#include "proto/text/number_path.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>

#include "proto/text/document.h"

namespace podsim {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string element_name(const Message& element) {
  const FieldDescriptor* key = element.GetDescriptor()->field(0);
  if (key->is_repeated()) return "";
  if (key->cpp_type() == FieldDescriptor::CPPTYPE_ENUM)
    return element.GetReflection()->GetEnum(element, key)->name();
  if (key->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return element.GetReflection()->GetString(element, key);
  return "";
}

int element_named(const Message& message, const FieldDescriptor& field, const std::string& name) {
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i)
    if (element_name(reflection->GetRepeatedMessage(message, &field, i)) == name) return i;
  return -1;
}

namespace {

bool is_number(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE && !field.is_repeated();
}

void collect(const Message& message, const std::string& parent, std::vector<std::string>& paths) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string path = join_path(parent, field->name());
    if (is_number(*field)) paths.push_back(path);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      collect(reflection->GetMessage(message, field), path, paths);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      const Message& element = reflection->GetRepeatedMessage(message, field, i);
      if (!element_name(element).empty()) collect(element, join_path(path, element_name(element)), paths);
    }
  }
}

}  // namespace

NumberField find_number(Message* message, const std::string& path) {
  std::string place;
  for (std::size_t begin = 0; message && begin <= path.size();) {
    const auto next_word = [&] {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      std::string word = path.substr(begin, end - begin);
      begin = end + 1;
      return word;
    };
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(next_word());
    if (!field) return {};
    place = join_path(place, field->name());
    if (is_number(*field)) return begin > path.size() ? NumberField{message, field, place} : NumberField{};
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || begin > path.size()) return {};
    const auto* reflection = message->GetReflection();
    if (field->is_repeated()) {
      const int index = element_named(*message, *field, next_word());
      if (index < 0) return {};
      place += "[" + std::to_string(index) + "]";
      message = reflection->MutableRepeatedMessage(message, field, index);
    } else {
      message = reflection->HasField(*message, field) ? reflection->MutableMessage(message, field) : nullptr;
    }
  }
  return {};
}

std::vector<std::string> number_paths(const Message& message) {
  std::vector<std::string> paths;
  collect(message, "", paths);
  return paths;
}

}  // namespace podsim
