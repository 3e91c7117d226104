// Files of bounded size, and standard input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/parse.h"
#include "proto/text/problem.h"

namespace podsim {

// Of files of other tools: profiles and modules are large.
inline constexpr std::size_t kMostImportBytes = std::size_t{1} << 30;

// The bytes of a file, unpacked where gzip has compressed it, without a byte-order mark of UTF-8 in front; or
// nothing and one more problem. A file that is larger than `most_bytes` is a problem, and no more of it is
// read.
std::optional<std::string> read_file(const std::string& path, std::vector<Problem>& problems,
                                     std::size_t most_bytes = kMaxTextBytes);

// The same of what the user named: "-" is standard input, which problems call so.
struct InputText {
  std::string name, text;
};
std::optional<InputText> read_input(const std::string& file, std::vector<Problem>& problems,
                                    std::size_t most_bytes = kMaxTextBytes);

// The name of standard input in problems, and the SHA-256 of what has been read of it, which cannot be read
// again; empty where nothing has.
inline constexpr const char* kStandardInput = "standard input";
std::string standard_input_sha256();

// The most that tables of measurements may hold.
inline constexpr std::size_t kMaxTableBytes = 64u << 20;

// Files that this program has read must not be written: `note_input` is for those that are read otherwise
// than above. Whether `path` is one of them, be it by another name or through a link.
void note_input(const std::string& path);
bool is_input(const std::string& path);
void forget_inputs();  // another command line begins in this process

}  // namespace podsim
