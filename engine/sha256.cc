// SHA-256 by nettle.
#include "engine/sha256.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

#include <array>
#include <cstdint>

namespace podsim {

namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

Digest digest_of(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  Digest digest{};
#if NETTLE_VERSION_MAJOR >= 4
  sha256_digest(&context, digest.data());
#else
  sha256_digest(&context, digest.size(), digest.data());
#endif
  return digest;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest_of(bytes)) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_base64(std::string_view bytes) {
  const Digest digest = digest_of(bytes);
  std::array<char, BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)> text{};
  base64_encode_raw(text.data(), digest.size(), digest.data());
  return {text.data(), text.size()};
}

}  // namespace podsim
