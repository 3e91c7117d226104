// Places and messages of the JSON readers.
#include "proto/text/json_text.h"

namespace podsim {

std::size_t opening_quote(const std::string& text, std::size_t closing) {
  std::size_t at = closing;
  while (at > 0) {
    --at;
    if (text[at] != '"') continue;
    std::size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) break;
  }
  return at;
}

// "[json.exception...] parse error at line 3, column 5: syntax error while ..."
std::string syntax_message(std::string message) {
  constexpr std::size_t kLongest = 200;
  if (const std::size_t column = message.find("column "); column != std::string::npos) {
    if (const std::size_t colon = message.find(": ", column); colon != std::string::npos)
      message = message.substr(colon + 2);
  }
  if (message.starts_with("[json.exception")) message.erase(0, message.find("] ") + 2);
  if (message.size() > kLongest) message.resize(kLongest);
  return message;
}

}  // namespace podsim
