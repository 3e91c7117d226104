// Tokens: drawn, compared, and found in requests.
#include "serve/access.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::string_view kCookie = "podsim_token=", kBearer = "Bearer ", kQuery = "/?token=";

std::string_view header_named(const std::map<std::string, std::string>& headers, const std::string& name) {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

// The value of our cookie among "a=1; b=2".
std::string_view our_cookie(std::string_view cookies) {
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with(kCookie)) return one.substr(kCookie.size());
  }
  return {};
}

constexpr int kPortOfHttp = 80;  // which browsers leave out

// "localhost:8737", "[::1]:8737"
bool names_a_port(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  return host.find(':', bracket == std::string_view::npos ? 0 : bracket) != std::string_view::npos;
}

bool is_own_name(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

}  // namespace

Access::Access(std::string address, std::string token)
    : address_(std::move(address)), token_(std::move(token)) {
  PODSIM_CHECK(!token_.empty() || is_own_name(*address_), "whom others reach has a token");
}

bool equal_in_constant_time(std::string_view given, std::string_view expected) {
  // Volatile, so that no compiler leaves early.
  volatile unsigned char differs = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char known = expected.empty() ? '\0' : expected[i % expected.size()];
    differs = static_cast<unsigned char>(differs | (given[i] ^ known));
  }
  return differs == 0;
}

std::string random_token() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 32> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the machine gives no randomness for a token");
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

std::string explain_bad_token(std::string_view token) {
  constexpr std::size_t kShortest = 16, kLongest = 128;
  const bool plain = std::ranges::all_of(token, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (plain && token.size() >= kShortest && token.size() <= kLongest) return "";
  return "a token has 16 to 128 letters, digits, - and _; random draws one";
}

bool Access::knows_host(std::string_view host, int port) const {
  const std::string end = ":" + std::to_string(port);
  if (host.ends_with(end)) {
    host.remove_suffix(end.size());
  } else if (port != kPortOfHttp || names_a_port(host)) {
    return false;
  }
  if (address_ && address_->empty()) return !token_.empty();
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || (address_ && host == *address_);
}

bool Access::admits(const std::map<std::string, std::string>& headers) const {
  if (token_.empty()) return true;
  const std::string_view bearer = header_named(headers, "authorization");
  if (bearer.starts_with(kBearer) && equal_in_constant_time(bearer.substr(kBearer.size()), token_))
    return true;
  return equal_in_constant_time(our_cookie(header_named(headers, "cookie")), token_);
}

bool Access::brings_token(std::string_view target) const {
  return !token_.empty() && target.starts_with(kQuery) &&
         equal_in_constant_time(target.substr(kQuery.size()), token_);
}

std::string Access::cookie() const {
  return std::string(kCookie) + token_ + "; Path=/; HttpOnly; SameSite=Strict";
}

}  // namespace podsim
