// Numbers of questions.
#include "proto/writing/result_json.h"

#include "engine/sha256.h"

namespace podsim {

std::string question_sha256(const std::string& words, const std::vector<std::string>& texts) {
  std::vector<std::string> digests;
  for (const std::string& text : texts) digests.push_back(sha256(text));
  return question_of_digests(words, digests);
}

std::string question_of_digests(const std::string& words, const std::vector<std::string>& digests) {
  std::string all = words;
  for (const std::string& digest : digests) all += "\n" + digest;
  return sha256(all);
}

}  // namespace podsim
