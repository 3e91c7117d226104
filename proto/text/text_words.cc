// Goes through a text as the tokenizer of text format does, but for numbers.
#include "proto/text/text_words.h"

#include <algorithm>
#include <utility>

namespace podsim {
namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_word(char c) { return is_name_letter(c) || is_decimal_digit(c); }

std::size_t skip_digits(std::string_view word, std::size_t at) {
  while (at < word.size() && is_decimal_digit(word[at])) ++at;
  return at;
}

bool is_hex(std::string_view word) {
  return word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X') &&
         word.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

// Decimal, with what the tokenizer allows after it: a fraction, an exponent, the f of C.
bool is_text_number(std::string_view word) {
  if (is_hex(word)) return true;
  std::size_t at = skip_digits(word, 0);
  if (at < word.size() && word[at] == '.') at = skip_digits(word, at + 1);
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    const std::size_t end = skip_digits(word, at);
    if (end == at) return false;
    at = end;
  }
  if (at < word.size() && (word[at] == 'f' || word[at] == 'F')) ++at;
  return at == word.size();
}

// Where the word ends that begins with a digit. `commas` = as between thousands, too.
std::size_t end_of_number(std::string_view text, std::size_t begin, bool commas) {
  std::size_t at = begin;
  for (; at < text.size(); ++at) {
    const bool digit_follows = at + 1 < text.size() && is_decimal_digit(text[at + 1]);
    const bool sign = (text[at] == '+' || text[at] == '-') && digit_follows &&
                      (text[at - 1] == 'e' || text[at - 1] == 'E') &&
                      is_text_number(text.substr(begin, at - 1 - begin));
    if (!in_word(text[at]) && text[at] != '.' && !sign && !(commas && text[at] == ',' && digit_follows))
      break;
  }
  return at;
}

// Behind the closing quote, or the end of the line.
std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == text[begin] || text[at] == '\n')
      return at + 1;
  }
  return text.size();
}

}  // namespace

std::vector<TextWord> malformed_numbers(std::string_view text) {
  std::vector<TextWord> words;
  int brackets = 0;
  bool is_value = false;  // a colon came last
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '-') {
      ++at;
      continue;
    }
    const bool expected = std::exchange(is_value, c == ':') || brackets > 0;
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = end_of_quoted(text, at);
    } else if (is_name_letter(c)) {
      while (at < text.size() && in_word(text[at])) ++at;
    } else if (is_decimal_digit(c)) {
      const std::size_t end = end_of_number(text, at, brackets == 0);
      const std::string_view word = text.substr(at, end - at);
      if (expected && !is_text_number(word)) words.push_back({at, std::string(word)});
      at = end;
    } else {
      brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
      ++at;
    }
  }
  return words;
}

std::size_t last_whole_word(std::string_view line, std::string_view word) {
  std::size_t code = 0;  // until the comment
  while (code < line.size() && line[code] != '#')
    code = line[code] == '"' || line[code] == '\'' ? end_of_quoted(line, code) : code + 1;
  line = line.substr(0, code);
  for (std::size_t at = line.rfind(word); at != std::string_view::npos && !word.empty();
       at = at == 0 ? std::string_view::npos : line.rfind(word, at - 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !in_word(line[at - 1]) || !in_word(word.front());
    if (begins && (end == line.size() || !in_word(line[end]) || !in_word(word.back()))) return at;
  }
  return std::string_view::npos;
}

}  // namespace podsim
