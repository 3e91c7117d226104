// Files of bounded size, and standard input.
#include "proto/text/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <utility>

#include "engine/sha256.h"
#include "proto/text/byte_order_mark.h"
#include "proto/text/gunzip.h"

namespace podsim {

namespace {

constexpr std::size_t kFirstPiece = 64 << 10;

struct Inputs {
  std::mutex mutex;
  std::set<std::string> paths;
  std::string standard_sha256;  // of standard input
};
Inputs& inputs() {
  static Inputs all;
  return all;
}

std::string told_size(std::size_t bytes) {
  constexpr std::size_t kMib = 1u << 20;
  return bytes % kMib == 0 && bytes > 0 ? std::to_string(bytes / kMib) + " MiB"
                                        : std::to_string(bytes) + " bytes";
}

// Reads to the end, or until there is one byte too many. `likely_bytes`, if not 0, is what there should be.
std::optional<std::string> read_stream(std::istream& in, const std::string& name,
                                       std::vector<Problem>& problems, std::size_t most_bytes,
                                       std::size_t likely_bytes) {
  errno = 0;
  // Grows as there is more: a pipe has no size, and a file may grow. One more byte than likely finds the end.
  std::string text;
  std::size_t piece = likely_bytes > 0 ? likely_bytes + 1 : kFirstPiece;
  while (in && text.size() <= most_bytes) {
    const std::size_t read = text.size();
    text.resize(std::min(most_bytes + 1, read + piece));
    piece = std::max(kFirstPiece, text.size());
    in.read(text.data() + read, static_cast<std::streamsize>(text.size() - read));
    text.resize(read + static_cast<std::size_t>(in.gcount()));
  }
  const auto refuse = [&](const std::string& why) {
    problems.push_back({name, 0, 0, why, "", ""});
    return std::nullopt;
  };
  // Of standard input that is closed or a directory the stream only says that it ends.
  if (in.bad() || (text.empty() && errno != 0))
    return refuse(std::string("cannot be read: ") + (errno ? std::strerror(errno) : "it ends with an error"));
  if (is_gzipped(text) && text.size() <= most_bytes) {
    auto unpacked = gunzipped(text, most_bytes);
    if (!unpacked) return refuse("the compressed file is damaged or cut short");
    text = *std::move(unpacked);
  }
  if (text.size() > most_bytes) return refuse("the file is larger than " + told_size(most_bytes));
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return refuse("the text is UTF-16: save it as UTF-8");
  return without_byte_order_mark(std::move(text));
}

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
  if (!in.is_open()) {
    const std::string why = errno ? std::strerror(errno) : "it cannot be opened";
    problems.push_back({path, 0, 0, "cannot read the file: " + why, "", ""});
    return std::nullopt;
  }
  note_input(path);
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  const bool is_known = !ignored && size <= most_bytes;
  return read_stream(in, path, problems, most_bytes, is_known ? static_cast<std::size_t>(size) : 0);
}

std::optional<InputText> read_input(const std::string& file, std::vector<Problem>& problems,
                                    std::size_t most_bytes) {
  const bool standard = file == "-";
  const std::string name = standard ? kStandardInput : file;
  auto text =
      standard ? read_stream(std::cin, name, problems, most_bytes, 0) : read_file(file, problems, most_bytes);
  if (!text) return std::nullopt;
  if (standard) {
    const std::lock_guard lock(inputs().mutex);
    inputs().standard_sha256 = sha256(*text);
  }
  return InputText{name, *std::move(text)};
}

std::string standard_input_sha256() {
  const std::lock_guard lock(inputs().mutex);
  return inputs().standard_sha256;
}

void note_input(const std::string& path) {
  const std::lock_guard lock(inputs().mutex);
  inputs().paths.insert(path);
}

void forget_inputs() {
  const std::lock_guard lock(inputs().mutex);
  inputs().paths.clear();
  inputs().standard_sha256.clear();
}

bool is_input(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const std::lock_guard lock(inputs().mutex);
  return std::ranges::any_of(inputs().paths, [&](const std::string& input) {
    std::error_code gone;
    return std::filesystem::equivalent(path, input, gone);
  });
}

}  // namespace podsim
