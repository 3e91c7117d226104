// Files of bounded size.
#include "proto/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace podsim {

std::optional<std::string> read_file(const std::string& path, std::vector<Problem>& problems,
                                     std::size_t most_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    problems.push_back({path, 0, 0, "this is a directory, not a file", "", ""});
    return std::nullopt;
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  if (in) in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    const std::string why = errno ? std::strerror(errno) : "it cannot be read";
    problems.push_back({path, 0, 0, "cannot read the file: " + why, "", ""});
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace podsim
