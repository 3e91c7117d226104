// Where a number stands in a message: the path of its field in words, "matmul.bf16.sustained".
#pragma once

#include <string>
#include <vector>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace podsim {

// The name of a list's element, its first field: "bf16" of a matmul, "flash2" of an attention kernel; empty
// where that is neither one name nor one text.
std::string element_name(const google::protobuf::Message& element);

// The index of the element of this name, or -1. REQUIRES: the field is a list of messages.
int element_named(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                  const std::string& name);

struct NumberField {
  google::protobuf::Message* message = nullptr;  // null where there is no such field
  const google::protobuf::FieldDescriptor* field = nullptr;
  std::string place;  // as a Document names it: "matmul[1].sustained"
};

// The floating-point field at the end of a path, set or not. Elements of lists go by the text of their first
// field. Nothing for a null message, a wrong path, and one that leads through a block that is not there.
NumberField find_number(google::protobuf::Message* message, const std::string& path);

// Paths of all floating-point fields that are set, in the order of the schema.
std::vector<std::string> number_paths(const google::protobuf::Message& message);

}  // namespace podsim
