// SHA-256 by nettle.
#include "engine/sha256.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <nettle/version.h>

#include <array>
#include <cstdint>
#include <istream>

#include "engine/check.h"

namespace podsim {

namespace {

using Digest = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

void add(sha256_ctx& context, std::string_view bytes) {
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

Digest end(sha256_ctx& context) {
  Digest digest{};
#if NETTLE_VERSION_MAJOR >= 4
  sha256_digest(&context, digest.data());
#else
  sha256_digest(&context, digest.size(), digest.data());
#endif
  return digest;
}

Digest digest_of(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  add(context, bytes);
  return end(context);
}

std::string hexadecimal(const Digest& digest) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  PODSIM_CHECK(text.size() == 2 * digest.size(), "a byte is two digits");
  return text;
}

}  // namespace

std::string sha256(std::string_view bytes) { return hexadecimal(digest_of(bytes)); }

std::string sha256(std::istream& in) {
  constexpr std::size_t kPiece = 64 << 10;
  sha256_ctx context;
  sha256_init(&context);
  std::string piece(kPiece, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    add(context, std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  return hexadecimal(end(context));
}

std::string sha256_base64(std::string_view bytes) {
  const Digest digest = digest_of(bytes);
  std::array<char, BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)> text{};
  base64_encode_raw(text.data(), digest.size(), digest.data());
  return {text.data(), text.size()};
}

}  // namespace podsim
