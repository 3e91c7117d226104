// What the schema's options say of each field: its range, and whether it must be there.
#pragma once

#include "proto/text/document.h"

namespace google::protobuf {
class Message;
}

namespace podsim {

// Reports every number outside its range, every nan and infinity, unnamed enum values, unprintable text and
// lists that are too long, in `message` and all below it. ENSURES: what was wrong is unset and spoiled, so
// that what is there is good.
void check_ranges(google::protobuf::Message& message, const std::string& path, Document& document);

// Reports every required field that is missing, in `message` and the blocks that are there. Blocks named
// *_override hold only what differs and are not looked into.
void check_required(const google::protobuf::Message& message, const std::string& path, Document& document);

// "cluster.chips is missing" with what to write.
void report_missing(const std::string& path, const std::string& example, Document& document);

}  // namespace podsim
