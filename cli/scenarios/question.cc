// Reads the files once more, as they are.
#include "cli/scenarios/question.h"

#include <fstream>

#include "engine/sha256.h"
#include "proto/text/read_file.h"
#include "proto/writing/result_json.h"

namespace podsim {

std::string sha256_of_files(const std::string& words, const std::vector<std::string>& files) {
  std::vector<std::string> digests;
  const std::string of_standard_input = standard_input_sha256();
  for (const std::string& file : files) {
    if (!of_standard_input.empty() && (file == "-" || file == kStandardInput)) {
      digests.push_back(of_standard_input);
      continue;
    }
    std::ifstream in(file, std::ios::binary);
    digests.push_back(sha256(in));
  }
  return question_of_digests(words, digests);
}

}  // namespace podsim
