// Numbers of catalogue entries by path, for calibration.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>

#include "proto/catalog_entries.h"
#include "proto/load.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// An element of a list goes by the text of its first field: matmul.bf16, attention.flash2.
std::string element_name(const Message& element) {
  const FieldDescriptor* key = element.GetDescriptor()->field(0);
  if (key->cpp_type() == FieldDescriptor::CPPTYPE_ENUM)
    return element.GetReflection()->GetEnum(element, key)->name();
  if (key->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
    return element.GetReflection()->GetString(element, key);
  return "";
}

Message* element_named(Message& message, const FieldDescriptor& field, const std::string& name) {
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    Message* element = reflection->MutableRepeatedMessage(&message, &field, i);
    if (element_name(*element) == name) return element;
  }
  return nullptr;
}

struct NumberField {
  Message* message = nullptr;
  const FieldDescriptor* field = nullptr;
};

// The floating-point field at the end of a path, or nothing.
NumberField find_number(Message* message, const std::string& path) {
  for (std::size_t begin = 0; message && begin <= path.size();) {
    const auto next_word = [&] {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      std::string word = path.substr(begin, end - begin);
      begin = end + 1;
      return word;
    };
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(next_word());
    if (!field) return {};
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE && !field->is_repeated())
      return begin > path.size() ? NumberField{message, field} : NumberField{};
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || begin > path.size()) return {};
    if (field->is_repeated()) {
      message = element_named(*message, *field, next_word());
    } else {
      const auto* reflection = message->GetReflection();
      message = reflection->HasField(*message, field) ? reflection->MutableMessage(message, field) : nullptr;
    }
  }
  return {};
}

}  // namespace

std::optional<double> Catalog::number(Section section, const std::string& name,
                                      const std::string& path) const {
  const NumberField found = find_number(find_entry(*entries_, section, name), path);
  if (!found.field || !found.message->GetReflection()->HasField(*found.message, found.field))
    return std::nullopt;
  return found.message->GetReflection()->GetDouble(*found.message, found.field);
}

bool Catalog::set_number(Section section, const std::string& name, const std::string& path, double value) {
  const NumberField found = find_number(find_entry(*entries_, section, name), path);
  if (!found.field) return false;
  found.message->GetReflection()->SetDouble(found.message, found.field, value);
  return true;
}

}  // namespace podsim
