// Characters of an HLO text one after another, with their places.
#pragma once

#include <string>
#include <string_view>

#include "proto/text/problem.h"

namespace podsim::hlo {

// Thrown where the text cannot be read, and caught by parse_modules.
struct ParseError {
  Problem problem;
};

class Scanner {
 public:
  Scanner(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool looks_at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  std::size_t position() const { return at_; }
  void go_to(std::size_t position) { at_ = position; }

  void skip_blanks();  // within the line, and comments
  void skip_space();   // also over line ends
  void skip_line();
  bool take(char c);  // after blanks
  bool take(std::string_view word);
  void expect(char c, const char* where);

  // Letters, digits and _ . - : @; empty where none stands there.
  std::string_view name();
  std::string_view digits();
  // From an opening bracket to the one that closes it, with both; strings in it may hold brackets.
  std::string_view bracketed();
  // Up to a comma, a line end or a closing bracket outside of brackets and strings.
  std::string_view value();

  // How long the body is that begins here, where each instruction and bracket has a line; 0 within what has
  // been counted before, so that all bodies together take one pass over the text.
  std::size_t lines_of_body();

  int line() const;
  [[noreturn]] void fail(std::size_t position, const std::string& message,
                         const std::string& hint = "") const;
  [[noreturn]] void fail(const std::string& message) const { fail(at_, message); }

 private:
  bool skip_comment();
  void skip_string();

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t bodies_counted_to_ = 0;
  mutable std::size_t counted_to_ = 0;  // lines up to here are known
  mutable int counted_lines_ = 1;
};

// Throws a ParseError of that line.
[[noreturn]] void fail_in_line(const std::string& file, int line, const std::string& message,
                               const std::string& hint = "");

// A problem of a line of the text that has no column: its first word.
void place_in_line(std::string_view text, Problem& problem);

}  // namespace podsim::hlo
