// Skips comments of both kinds, and matches brackets.
#include "ingest/hlo/scanner.h"

#include <algorithm>
#include <cctype>

namespace podsim::hlo {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == ':' ||
         c == '@';
}

constexpr std::size_t kShownLine = 120;  // characters of a line in a message

}  // namespace

bool Scanner::skip_comment() {
  if (looks_at("/*")) {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) fail("a comment is not closed");
    at_ = end + 2;
    return true;
  }
  if (looks_at("//")) {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }
  return false;
}

void Scanner::skip_blanks() {
  while (!at_end() && (peek() == ' ' || peek() == '\t' || peek() == '\r' || skip_comment()))
    if (peek() == ' ' || peek() == '\t' || peek() == '\r') ++at_;
}

void Scanner::skip_space() {
  for (skip_blanks(); !at_end() && peek() == '\n'; skip_blanks()) ++at_;
}

void Scanner::skip_line() {
  at_ = std::min(text_.find('\n', at_), text_.size());
  if (!at_end()) ++at_;
}

std::size_t Scanner::lines_of_body() {
  std::size_t lines = 0, at = at_;
  if (at < bodies_counted_to_) return 0;
  while ((at = text_.find('\n', at)) != std::string_view::npos) {
    at = std::min(text_.find_first_not_of(" \t", at + 1), text_.size());
    if (at == text_.size() || text_[at] == '}') break;
    ++lines;
  }
  bodies_counted_to_ = std::min(at, text_.size());
  return lines;
}

bool Scanner::take(char c) {
  skip_blanks();
  if (peek() != c || at_end()) return false;
  ++at_;
  return true;
}

bool Scanner::take(std::string_view word) {
  skip_blanks();
  if (!looks_at(word)) return false;
  at_ += word.size();
  return true;
}

void Scanner::expect(char c, const char* where) {
  skip_space();
  if (at_end() || peek() != c) fail(std::string("expected '") + c + "' " + where);
  ++at_;
}

std::string_view Scanner::name() {
  const std::size_t begin = at_;
  while (is_name_char(peek())) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view Scanner::digits() {
  const std::size_t begin = at_;
  while (std::isdigit(static_cast<unsigned char>(peek()))) ++at_;
  return text_.substr(begin, at_ - begin);
}

void Scanner::skip_string() {
  const std::size_t begin = at_++;
  while (!at_end() && peek() != '"') at_ += peek() == '\\' ? 2 : 1;
  if (at_end()) fail(begin, "a string is not closed");
  ++at_;
}

std::string_view Scanner::bracketed() {
  const std::size_t begin = at_;
  std::string open;
  do {
    const char c = peek();
    if (at_end()) fail(begin, std::string("'") + text_[begin] + "' is not closed");
    if (c == '"') {
      skip_string();
      continue;
    }
    if (c == '(' || c == '[' || c == '{') open += c;
    if (c == ')' || c == ']' || c == '}') {
      const char needed = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != needed) fail(std::string("'") + c + "' closes nothing");
      open.pop_back();
    }
    ++at_;
  } while (!open.empty());
  return text_.substr(begin, at_ - begin);
}

std::string_view Scanner::value() {
  skip_blanks();
  const std::size_t begin = at_;
  while (!at_end() && peek() != ',' && peek() != '\n' && peek() != ')' && peek() != ']' && peek() != '}') {
    if (peek() == '"') {
      skip_string();
    } else if (peek() == '(' || peek() == '[' || peek() == '{') {
      bracketed();
    } else {
      ++at_;
    }
  }
  std::size_t end = at_;
  while (end > begin && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
  return text_.substr(begin, end - begin);
}

int Scanner::line() const {
  const std::size_t to = std::min(at_, text_.size());
  if (to < counted_to_) counted_to_ = 0, counted_lines_ = 1;
  counted_lines_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_to_),
                                                text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  counted_to_ = to;
  return counted_lines_;
}

void Scanner::fail(std::size_t position, const std::string& message, const std::string& hint) const {
  const std::size_t at = std::min(position, text_.size());
  const std::size_t newline = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(text_.find('\n', begin), text_.size());
  Problem problem;
  problem.file = file_;
  problem.line = 1 + static_cast<int>(
                         std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  problem.column = static_cast<int>(at - begin) + 1;
  problem.message = message;
  problem.hint = hint;
  if (at - begin < kShownLine) {
    problem.source_line = std::string(text_.substr(begin, std::min(end - begin, kShownLine)));
    problem.caret = problem.column;
  }
  throw ParseError{problem};
}

void fail_in_line(const std::string& file, int line, const std::string& message, const std::string& hint) {
  Problem problem;
  problem.file = file;
  problem.line = line;
  problem.message = message;
  problem.hint = hint;
  throw ParseError{problem};
}

void place_in_line(std::string_view text, Problem& problem) {
  if (problem.line < 1 || problem.column > 0) return;
  std::size_t begin = 0;
  for (int line = 1; line < problem.line; ++line)
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  const std::string_view written = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t word = std::min(written.find_first_not_of(" \t"), written.size());
  problem.column = static_cast<int>(word) + 1;
  if (word >= kShownLine) return;
  problem.source_line = std::string(written.substr(0, kShownLine));
  problem.caret = problem.column;
}

}  // namespace podsim::hlo
