// Answers of the verbs that choose as text format of proto/answers.proto.
#pragma once

#include <string>

namespace podsim {

// The same answer as text format; of a JSON array a message for each of its elements. `message` is one of the
// file's, SearchAnswer say. REQUIRES: `json` has no key that the message lacks.
std::string answer_textproto(const std::string& json, const std::string& message);

}  // namespace podsim
