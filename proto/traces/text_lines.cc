// Lines out of zlib's stream, which passes plain files through.
#include "proto/traces/text_lines.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "proto/text/read_file.h"

namespace podsim {
namespace {

constexpr std::size_t kBlockBytes = 1u << 17;
constexpr std::size_t kLongestLine = 1u << 20;  // bytes; longer is no text of lines
constexpr std::size_t kMostBytes =
    256u << 20;  // after decompression: a small file may hold a thousand times its size
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";  // of UTF-8

std::string_view without_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

std::string for_each_line(const std::string& path, const std::function<bool(std::string_view line)>& take) {
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return std::string("cannot be opened: ") + std::strerror(errno);
  note_input(path);
  gzbuffer(file.get(), kBlockBytes);
  std::vector<char> block(kBlockBytes);
  std::string begun;  // of a line that goes on in the next block
  for (std::size_t bytes = 0;;) {
    const int read = gzread(file.get(), block.data(), static_cast<unsigned>(block.size()));
    if (read < 0) {
      int code = 0;
      const char* const message = gzerror(file.get(), &code);
      return std::string("cannot be read: ") + (code == Z_ERRNO ? std::strerror(errno) : message);
    }
    std::string_view left(block.data(), static_cast<std::size_t>(read));
    if (bytes == 0 && left.starts_with(kUtf8Mark)) left.remove_prefix(kUtf8Mark.size());
    bytes += static_cast<std::size_t>(read);
    if (bytes > kMostBytes) return "holds more than " + std::to_string(kMostBytes >> 20) + " MiB of text";
    for (auto end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      std::string_view line = left.substr(0, end);
      if (!begun.empty()) line = begun += line;
      if (!take(without_return(line))) return "";
      begun.clear();
      left.remove_prefix(end + 1);
    }
    begun += left;
    if (begun.size() > kLongestLine)
      return "a line is longer than " + std::to_string(kLongestLine) + " bytes";
    if (read == 0) break;
  }
  // A compressed file that is cut short ends without an error of its own.
  if (int code = 0; gzerror(file.get(), &code) != nullptr && code == Z_BUF_ERROR)
    return "the file is cut short";
  if (!begun.empty()) take(without_return(begun));
  return "";
}

}  // namespace podsim
