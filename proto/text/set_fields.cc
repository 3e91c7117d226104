// Which fields of a message a text has set, by reflection.
#include "proto/text/set_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "engine/check.h"
#include "proto/text/document.h"

namespace podsim {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool is_set(const Message& message, std::string_view path) {
  const std::size_t dot = path.find('.');
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
  PODSIM_CHECK(field != nullptr, "the schema has no field " + std::string(path));
  const auto* reflection = message.GetReflection();
  if (field->is_repeated()) return reflection->FieldSize(message, field) > 0;
  if (!reflection->HasField(message, field)) return false;
  return dot == std::string_view::npos ||
         is_set(reflection->GetMessage(message, field), path.substr(dot + 1));
}

void visit_blocks(const Message& message, const std::string& path,
                  const std::function<bool(const std::string&, const Message&)>& visit) {
  if (!visit(path, message)) return;
  std::vector<const FieldDescriptor*> fields;
  const auto* reflection = message.GetReflection();
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string at = join_path(path, field->name());
    if (!field->is_repeated()) {
      visit_blocks(reflection->GetMessage(message, field), at, visit);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i)
      visit_blocks(reflection->GetRepeatedMessage(message, field, i), at + "[" + std::to_string(i) + "]",
                   visit);
  }
}

void visit_fields(const Message& message, const std::string& path,
                  const std::function<void(const std::string&)>& visit) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string at = join_path(path, field->name());
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated())
      visit_fields(message.GetReflection()->GetMessage(message, field), at, visit);
    else
      visit(at);
  }
}

}  // namespace podsim
