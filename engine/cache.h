// Bringing memory near the processor before it is needed.
#pragma once

#include <cstddef>

namespace podsim {

// As on every x86-64 and most of ARM; where it is another, only time is lost.
inline constexpr std::size_t kCacheLine = 64;  // bytes

// Begins to load `bytes` bytes from there, and does not wait for them.
inline void fetch(const void* from, std::size_t bytes) {
  const char* line = static_cast<const char*>(from);
  for (std::size_t offset = 0; offset < bytes; offset += kCacheLine) __builtin_prefetch(line + offset);
  asm volatile("");  // or GCC takes callers that only fetch for functions without effect, and drops them
}

template <class Object>
void fetch(const Object& object) {
  fetch(&object, sizeof object);
}

}  // namespace podsim
