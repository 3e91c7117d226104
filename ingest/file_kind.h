// What a file of somebody else's tools is, told by its content.
#pragma once

#include <string>
#include <string_view>

namespace podsim {

enum class FileKind { kHlo, kNcclTests, kStableHlo, kJson, kBinary, kUnknown };

// By the first words, not by the name of the file. O(text).
FileKind file_kind(std::string_view text);

// In words: "an HLO module".
std::string describe(FileKind kind);

}  // namespace podsim
