// One pass over the text.
#include "ingest/stablehlo/tokens.h"

#include <algorithm>
#include <cctype>

namespace podsim::stablehlo {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_.$@%#!^").find(c) != std::string_view::npos;
}

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

// Behind a string that begins at `at`; npos where it does not end in its line.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

Problem problem_at(const std::string& file, std::string_view text, std::size_t at, const std::string& message,
                   const std::string& hint) {
  constexpr std::size_t kMostShown = 200;
  at = std::min(at, text.size());
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  const std::size_t end = std::min(text.find('\n', at), text.size());
  Problem problem{
      file,
      static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1,
      static_cast<int>(at - begin) + 1,
      message,
      "",
      hint};
  if (end - begin <= kMostShown) problem.source_line = std::string(text.substr(begin, end - begin));
  return problem;
}

std::optional<Tokens> tokens_of(const std::string& file, std::string_view text,
                                std::vector<Problem>& problems) {
  Tokens tokens;
  std::vector<std::size_t> open;
  const auto refuse = [&](std::size_t at, const std::string& message) {
    problems.push_back(problem_at(file, text, at, message));
    return std::nullopt;
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      i = end;
      continue;
    }
    if (c == '/' && end < text.size() && text[end] == '/') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '"') {
      end = string_end(text, i);
      if (end == std::string_view::npos) return refuse(i, "the string is not closed in its line");
      tokens.all.push_back({Token::Kind::kString, text.substr(i + 1, end - i - 2), i});
    } else if (is_word(c)) {
      while (end < text.size() && is_word(text[end])) ++end;
      tokens.all.push_back({Token::Kind::kWord, text.substr(i, end - i), i});
    } else {
      if (c == '-' && end < text.size() && text[end] == '>') ++end;
      tokens.all.push_back({Token::Kind::kMark, text.substr(i, end - i), i});
    }
    tokens.partner.push_back(0);
    const std::size_t index = tokens.all.size() - 1;
    if (c == '(' || c == '[' || c == '{') open.push_back(index);
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || closing(tokens.all[open.back()].text[0]) != c) {
        return refuse(i,
                      open.empty()
                          ? std::string(1, c) + " closes nothing"
                          : std::string(1, c) + " stands where " + closing(tokens.all[open.back()].text[0]) +
                                " should close what line " +
                                std::to_string(problem_at(file, text, tokens.all[open.back()].at, "").line) +
                                " opens");
      }
      tokens.partner[open.back()] = index;
      open.pop_back();
    }
    i = end;
  }
  if (!open.empty())
    return refuse(tokens.all[open.back()].at,
                  "the text ends before this " + std::string(tokens.all[open.back()].text) + " is closed");
  return tokens;
}

}  // namespace podsim::stablehlo
