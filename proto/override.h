// Sets scenario fields by their path, as --set does.
#pragma once

#include <vector>

#include "proto/document.h"

namespace google::protobuf {
class Message;
}

namespace podsim {

// Later overrides win. A field that is set this way is placed at --set in `document`.
void apply_overrides(const std::vector<Override>& overrides, google::protobuf::Message& message,
                     Document& document);

}  // namespace podsim
