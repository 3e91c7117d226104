// Words of text format that its parser does not take for what people mean by them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podsim {

struct TextWord {
  std::size_t begin = 0;  // byte of the text
  std::string word;
};

// Values outside of quotes and comments, behind a colon or in brackets, that begin as a number does and are
// none: "1f1b", "8k", "512GPU", and, outside of brackets, "1,024". The parser takes each for a number and
// something after it. Ascending.
std::vector<TextWord> malformed_numbers(std::string_view text);

// Where `word` stands last in a line as a whole word of its own, before its comment; npos where it does not.
std::size_t last_whole_word(std::string_view line, std::string_view word);

}  // namespace podsim
