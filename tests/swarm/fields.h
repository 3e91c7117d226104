// Every field that a message has, however deep: to change it, or to leave it out.
#pragma once

#include <vector>

namespace google::protobuf {
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace podsim::testing {

struct FieldPlace {
  google::protobuf::Message* message;
  const google::protobuf::FieldDescriptor* field;
  int element;  // of a list; -1 = not a list

  bool is_message() const;
  // The message there. REQUIRES: is_message().
  google::protobuf::Message* inner() const;
  void remove() const;
  bool is_number() const;
  double number() const;                // REQUIRES: is_number(), as below
  void set_number(double value) const;  // the nearest of its type towards zero
};

// Blocks before what is in them; they stay valid until something is removed.
std::vector<FieldPlace> field_places(google::protobuf::Message& message);

}  // namespace podsim::testing
