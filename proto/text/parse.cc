// Which format a text is in; the binary one.
#include "proto/text/parse.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr const char* kFormats =
    "a scenario is protobuf text format (name: \"...\"), JSON or binary protobuf";

// The first byte that no text has, or npos. Bytes above 0x7f may be UTF-8.
std::size_t first_control_byte(std::string_view text) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v');
  };
  const auto at = std::find_if(text.begin(), text.end(), control);
  return at == text.end() ? std::string_view::npos : static_cast<std::size_t>(at - text.begin());
}

// Is there anything but white space and # comments?
bool has_content(std::string_view text) {
  bool comment = false;
  for (const char c : text) {
    if (c == '\n')
      comment = false;
    else if (c == '#')
      comment = true;
    else if (!comment && c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v')
      return true;
  }
  return false;
}

bool has_unknown_fields(const Message& message) {
  const auto* reflection = message.GetReflection();
  if (!reflection->GetUnknownFields(message).empty()) return true;
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (has_unknown_fields(reflection->GetMessage(message, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      if (has_unknown_fields(reflection->GetRepeatedMessage(message, field, i))) return true;
    }
  }
  return false;
}

}  // namespace

bool parse_binary(Document& document, Message& message) {
  const google::protobuf::LogSilencer silence;  // the library would print about invalid UTF-8 by itself
  if (!message.ParseFromString(document.text())) {
    document.report_file("this is not a binary " + message.GetDescriptor()->name(), kFormats);
    return false;
  }
  if (has_unknown_fields(message)) {
    document.report_file(
        "this binary file has fields that a " + message.GetDescriptor()->name() + " does not have", kFormats);
    return false;
  }
  return true;
}

bool parse(Document& document, Message& message) {
  const std::string& text = document.text();
  if (text.size() > kMaxTextBytes) {
    document.report_file("the file is larger than 4 MiB");
    return false;
  }
  if (!has_content(text)) {
    document.report_at({1, 1}, "the file is empty", "start from scenarios/llama3_70b_512_h100.textproto");
    return false;
  }
  if (document.file().ends_with(".pb") || document.file().ends_with(".binpb"))
    return parse_binary(document, message);
  if (const std::size_t control = first_control_byte(text); control != std::string_view::npos) {
    const google::protobuf::LogSilencer silence;
    if (message.ParseFromString(text) && !has_unknown_fields(message)) return true;
    message.Clear();
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(text[control]);
    const std::string hex = {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    document.report_at(document.position(control), "this is not text: it has the byte " + hex, kFormats);
    return false;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n\f\v");
  if (document.file().ends_with(".json") || text[first] == '{') return parse_json(document, message);
  return parse_text(document, message);
}

}  // namespace podsim
