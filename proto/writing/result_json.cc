// Numbers of questions.
#include "proto/writing/result_json.h"

#include "engine/sha256.h"

namespace podsim {

std::string question_sha256(const std::string& words, const std::vector<std::string>& texts) {
  std::string all = words;
  for (const std::string& text : texts) all += "\n" + sha256(text);
  return sha256(all);
}

}  // namespace podsim
