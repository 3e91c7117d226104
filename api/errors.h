// What goes wrong inside, as what callers are told.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "api/podsim/podsim.h"
#include "proto/text/problem.h"

namespace podsim {

// Thrown where a watch says so; nothing that callers see.
struct CancelledByWatch : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

// Tells the watch. Whether to go on; where not, the caller's flag says so too.
bool goes_on(const Effort& effort, const Advance& advance);

std::vector<Diagnostic> diagnostics_of(const std::vector<Problem>& problems);
Error input_error(const std::vector<Problem>& problems);
// Of an argument of a call: its place is the call, and what was given.
Error input_error(std::string call, std::string given, std::string message);

// Of the exception that is being handled.
Error error_of_exception();

void keep_the_process_alive();

// f(), or why it threw. From the first call on, failed CHECKs throw.
template <class T, class F>
Expected<T> guarded(F&& f) {
  keep_the_process_alive();
  try {
    return f();
  } catch (...) {
    return error_of_exception();
  }
}

}  // namespace podsim
