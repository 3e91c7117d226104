// CHECK: the program's own invariants, on in every build. A user's mistake never reaches one.
#pragma once

#include <string>

namespace podsim {

// Prints `file:line: CHECK failed: condition: message` and aborts; after throw_failed_checks(), throws that.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace podsim

#define PODSIM_CHECK(condition, message)                                               \
  do {                                                                                 \
    if (!(condition)) ::podsim::check_failed(__FILE__, __LINE__, #condition, message); \
  } while (false)
