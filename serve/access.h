// Who may ask a server: by the name that it is asked for, and by a token where others than this machine reach
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace podsim {

// Whether they are equal, in a time that tells nothing of where they differ.
bool equal_in_constant_time(std::string_view given, std::string_view expected);

// 256 bits of the machine's own randomness, in hexadecimal digits.
std::string random_token();

// Why a text is no token, or empty: 16 to 128 letters, digits, - and _.
std::string explain_bad_token(std::string_view token);

class Access {
 public:
  // On this machine alone, to whoever asks.
  Access() = default;

  // Also by `address`, as it stands in a URL; "" = any name, where every address is listened on. Everybody
  // needs the token, or nobody where it is empty. REQUIRES: a token, where the address is not this machine's
  // own.
  Access(std::string address, std::string token);

  // Of browsers on this machine: `localhost` and its addresses, with the port, which may be left out where it
  // is 80.
  bool knows_host(std::string_view host, int port) const;

  // Headers by their names in lower case: the token stands in `authorization`, or in the cookie.
  bool admits(const std::map<std::string, std::string>& headers) const;

  // Whether `target` brings the right token, as the address that is printed does.
  bool brings_token(std::string_view target) const;

  // What a browser that brought it keeps.
  std::string cookie() const;

 private:
  std::optional<std::string> address_;
  std::string token_;
};

}  // namespace podsim
