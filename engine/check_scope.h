// What this thread is at work on, for the message of a CHECK that fails.
//
// A CHECK that fails in one of a thousand draws says nothing if nobody can have that draw again. Whoever
// begins a piece of work names it; nothing is copied or formatted until a CHECK fails.
#pragma once

#include <cstdint>
#include <string>

namespace podsim {

// What a failed CHECK tells beside its condition. Each may be null: not known.
struct Work {
  const std::string* scenario = nullptr;  // its name
  const std::uint64_t* seed = nullptr;    // of the draw, not only of the scenario
  const std::int64_t* now_ps = nullptr;   // simulated time; read when a CHECK fails
};

// Names the work of the thread from here to the end of the scope; what is null stays as it was outside.
// REQUIRES: all that `work` points to outlives the scope; scopes of a thread end in the reverse order.
class CheckScope {
 public:
  explicit CheckScope(const Work& work);
  ~CheckScope();
  CheckScope(const CheckScope&) = delete;
  CheckScope& operator=(const CheckScope&) = delete;

 private:
  Work outside_;
};

// From now on a CHECK of this process that fails throws std::logic_error instead of ending it: for programs
// of others that podsim is a part of. The first call of the library (api/errors.h) does so.
void throw_failed_checks();

// The work of this thread, for threads that carry on a part of it.
Work current_work();

}  // namespace podsim
