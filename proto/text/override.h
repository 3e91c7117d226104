// Sets scenario fields by their path, as --set does.
#pragma once

#include <string>
#include <vector>

#include "proto/text/document.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
class Message;
}  // namespace google::protobuf

namespace podsim {

// "job.microbatch_sequences=2": sets a scenario field by its path, as --set does. Repeated fields:
// job.mesh[0].size, or job.mesh.tensor.size by the element's name; one past the last index appends; repeated
// scalars take a comma list.
struct Override {
  std::string path;
  std::string value;
};

// Later overrides win. A field that is set this way is placed at --set in `document`.
void apply_overrides(const std::vector<Override>& overrides, google::protobuf::Message& message,
                     Document& document);

// The field with a value, or a list of values, that a path leads to; null where there is none.
const google::protobuf::FieldDescriptor* field_at(const google::protobuf::Descriptor& root,
                                                  const std::string& path);

}  // namespace podsim
