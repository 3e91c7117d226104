// How many random cases a law is held against: fewer with the address sanitizer, which makes each dozens of
// times slower, and as many as one asks for by the environment (docs/testing.md).
#pragma once

#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#define PODSIM_TESTS_ARE_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PODSIM_TESTS_ARE_SLOW 1
#endif
#endif

namespace podsim::testing {

// One of so many of them with the address sanitizer, all of them without.
constexpr int rounds(int all, [[maybe_unused]] int one_of = 20) {
#if defined(PODSIM_TESTS_ARE_SLOW)
  return all / one_of;
#else
  return all;
#endif
}

// As the variable says, if it is set.
inline int asked_for(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace podsim::testing
