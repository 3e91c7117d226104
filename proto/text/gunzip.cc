// Text out of files that are compressed by gzip.
#include "proto/text/gunzip.h"

#include <zlib.h>

#include "engine/check.h"

namespace podsim {

bool is_gzipped(const std::string& bytes) { return bytes.starts_with("\x1f\x8b"); }

std::optional<std::string> gunzipped(const std::string& bytes, std::size_t most_bytes) {
  constexpr std::size_t kBlock = 1 << 17;
  constexpr int kGzip = 16;  // added to the window's bits: the header is that of gzip, not of zlib
  z_stream stream = {};
  PODSIM_CHECK(inflateInit2(&stream, kGzip + MAX_WBITS) == Z_OK, "zlib takes these settings");
  std::string compressed = bytes, text;
  stream.next_in = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_in = static_cast<uInt>(compressed.size());
  int state = Z_OK;
  while (state == Z_OK && text.size() <= most_bytes) {
    const std::size_t had = text.size();
    text.resize(had + kBlock);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + had);
    stream.avail_out = static_cast<uInt>(kBlock);
    state = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
    // Another part may follow, as where compressed files are joined; zeros are padding.
    if (state == Z_STREAM_END && stream.avail_in > 0 && *stream.next_in != 0) state = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END && text.size() <= most_bytes) return std::nullopt;
  return text;
}

}  // namespace podsim
