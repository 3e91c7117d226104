// Bytes to a protobuf message: text format, JSON or binary, with the place of every field.
#pragma once

#include <string_view>

#include "proto/text/document.h"

namespace google::protobuf {
class Message;
}

namespace podsim {

// REQUIRES: `message` is empty. False when the text is so broken that further checks would only echo it;
// otherwise single wrong fields are reported, left unset and spoiled, and the rest is there.
bool parse(Document& document, google::protobuf::Message& message);

// The three formats.
bool parse_text(Document& document, google::protobuf::Message& message);
bool parse_json(Document& document, google::protobuf::Message& message);
bool parse_binary(Document& document, google::protobuf::Message& message);

// Text format of ours, whose fields are known to be right: their values without their places. False where it
// is none. REQUIRES: `message` is empty.
bool parse_known_text(std::string_view text, google::protobuf::Message& message);

// Limits that make a hostile file fail fast.
inline constexpr std::size_t kMaxTextBytes = 4u << 20;
inline constexpr int kMaxDepth = 64;        // nested blocks
inline constexpr int kMaxBlocks = 100'000;  // blocks in one file

}  // namespace podsim
