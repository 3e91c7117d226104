// Reads the files once more, as they are.
#include "cli/question.h"

#include <fstream>
#include <iterator>

#include "proto/writing/result_json.h"

namespace podsim {

std::string sha256_of_files(const std::string& words, const std::vector<std::string>& files) {
  std::vector<std::string> texts;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return question_sha256(words, texts);
}

}  // namespace podsim
