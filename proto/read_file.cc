// Files of bounded size.
#include "proto/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace podsim {

namespace {

constexpr std::size_t kFirstPiece = 64 << 10;

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::vector<Problem>& problems,
                                     std::size_t most_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    problems.push_back({path, 0, 0, "this is a directory, not a file", "", ""});
    return std::nullopt;
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;  // grows as there is more: a pipe has no size, and most files are small
  while (in && text.size() <= most_bytes) {
    const std::size_t read = text.size();
    text.resize(std::min(most_bytes + 1, std::max(kFirstPiece, 2 * read)));
    in.read(text.data() + read, static_cast<std::streamsize>(text.size() - read));
    text.resize(read + static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad()) {
    const std::string why = errno ? std::strerror(errno) : "it cannot be read";
    problems.push_back({path, 0, 0, "cannot read the file: " + why, "", ""});
    return std::nullopt;
  }
  return text;
}

}  // namespace podsim
