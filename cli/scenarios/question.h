// What a verb was asked that takes no scenario, as the number by which its results say it.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// The SHA-256 of words that say the question and of the bytes of the files that it is about. Of
// standard input ("-") those that have been read.
std::string sha256_of_files(const std::string& words, const std::vector<std::string>& files);

}  // namespace podsim
