// Which fields of a message a text has set, by their paths.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace podsim {

// Whether the field at this path, through blocks that are not lists, is set. REQUIRES: the type has it.
bool is_set(const google::protobuf::Message& message, std::string_view path);

// Calls `visit` with the path and the block of every block in `message`, itself first, lists element by
// element. Blocks below one for which it returns false are left out.
void visit_blocks(const google::protobuf::Message& message, const std::string& path,
                  const std::function<bool(const std::string&, const google::protobuf::Message&)>& visit);

// Calls `visit` with the path of every field that is set and has a value or a list, not a single block.
void visit_fields(const google::protobuf::Message& message, const std::string& path,
                  const std::function<void(const std::string&)>& visit);

}  // namespace podsim
