// Text out of files that are compressed by gzip.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace podsim {

// Whether the bytes are such a file.
bool is_gzipped(const std::string& bytes);

// What it holds, but not much more than `most_bytes` of it; nothing where it is damaged or cut short.
std::optional<std::string> gunzipped(const std::string& bytes, std::size_t most_bytes);

}  // namespace podsim
