// Everything that reads what a user or another program wrote, by name, so that any bytes can be held against
// it.
#pragma once

#include <span>
#include <string>

namespace podsim::testing {

struct Reader {
  const char* name;  // of the target and of the folder with its first inputs
  // Reads the bytes, and aborts where what comes out breaks the reader's promise: problems or a result, each
  // problem with words and a place.
  void (*read)(const std::string& bytes);
};

std::span<const Reader> readers();

// Null for an unknown name.
const Reader* reader_named(const std::string& name);

}  // namespace podsim::testing
