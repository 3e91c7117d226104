// Lines of a text file, compressed or not, without holding the file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace podsim {

// Calls `take` for each line, without its end, until it returns false. The file may be compressed by gzip and
// begin with a byte-order mark of UTF-8. Why it cannot be read to its end, or empty.
std::string for_each_line(const std::string& path, const std::function<bool(std::string_view line)>& take);

}  // namespace podsim
