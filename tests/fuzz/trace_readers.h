// Recorded traces from any bytes: as a table of text, and as the stream that decompresses to one.
#pragma once

#include <string>

namespace podsim::testing {

// The bytes up to the first NUL are what describes the run, the rest the table. What can be read is replayed.
void traces(const std::string& bytes);

// The bytes are the file.
void traces_gzip(const std::string& bytes);

}  // namespace podsim::testing
