// How many random cases a law is held against: fewer with the address sanitizer, which makes each dozens of
// times slower.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define PODSIM_TESTS_ARE_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PODSIM_TESTS_ARE_SLOW 1
#endif
#endif

namespace podsim::testing {

// A tenth of them with the address sanitizer, all of them without.
constexpr int rounds(int all) {
#if defined(PODSIM_TESTS_ARE_SLOW)
  return all / 10;
#else
  return all;
#endif
}

}  // namespace podsim::testing
