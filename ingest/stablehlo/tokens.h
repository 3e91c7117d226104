// The words of MLIR text: names, strings and marks, without comments.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/text/problem.h"

namespace podsim::stablehlo {

// A word has letters, digits, and any of _.$@%#!^ ("%arg0", "#stablehlo.channel_handle", "tensor"); a string
// its text between the quotes, as written; a mark is one character, but for ->.
struct Token {
  enum class Kind : unsigned char { kWord, kString, kMark } kind = Kind::kMark;
  std::string_view text;
  std::size_t at = 0;  // byte of the file
};

// The token that closes each bracket of (), [] and {} by its index; 0 for all others.
struct Tokens {
  std::vector<Token> all;
  std::vector<std::size_t> partner;

  bool is(std::size_t i, std::string_view text) const {
    return i < all.size() && all[i].kind != Token::Kind::kString && all[i].text == text;
  }
  bool is_string(std::size_t i, std::string_view text) const {
    return i < all.size() && all[i].kind == Token::Kind::kString && all[i].text == text;
  }
};

// Nothing, and a problem with its place, where a string or a bracket is not closed, or closes what is not
// open.
std::optional<Tokens> tokens_of(const std::string& file, std::string_view text,
                                std::vector<Problem>& problems);

// A problem at a byte of the text.
Problem problem_at(const std::string& file, std::string_view text, std::size_t at, const std::string& message,
                   const std::string& hint = "");

}  // namespace podsim::stablehlo
