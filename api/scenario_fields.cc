// The language of scenarios as a list, read off its schema.
#include <set>
#include <string>
#include <vector>

#include "api/podsim/podsim.h"
#include "proto/options.pb.h"
#include "proto/scenario.pb.h"
#include "proto/text/assign.h"

namespace podsim {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string type_name(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return field.message_type()->name();
    case FieldDescriptor::CPPTYPE_BOOL:
      return "boolean";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "number";
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
      return "string";
    default:
      return "integer";
  }
}

void add_fields_of(const Descriptor& message, std::set<std::string>& seen, std::vector<FieldInfo>& list) {
  if (!seen.insert(message.name()).second) return;
  std::vector<const Descriptor*> below;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    FieldInfo info{message.name(),      field.name(), type_name(field),
                   field.is_repeated(), {},           field.options().GetExtension(schema::range)};
    if (field.enum_type() != nullptr) info.values = value_names(*field.enum_type());
    if (field.message_type() != nullptr) below.push_back(field.message_type());
    list.push_back(std::move(info));
  }
  for (const Descriptor* each : below) add_fields_of(*each, seen, list);
}

}  // namespace

inline namespace v0 {

std::vector<FieldInfo> scenario_fields() {
  std::set<std::string> seen;
  std::vector<FieldInfo> list;
  add_fields_of(*schema::Scenario::descriptor(), seen, list);
  return list;
}

}  // namespace v0
}  // namespace podsim
