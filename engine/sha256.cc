// SHA-256 by nettle.
#include "engine/sha256.h"

#include <nettle/sha2.h>
#include <nettle/version.h>

#include <array>
#include <cstdint>

namespace podsim {

std::string sha256(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
#if NETTLE_VERSION_MAJOR >= 4
  sha256_digest(&context, digest.data());
#else
  sha256_digest(&context, digest.size(), digest.data());
#endif
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace podsim
