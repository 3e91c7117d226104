// Where a JSON reader stands in the text, and how it says what is wrong there.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

namespace podsim {

// Walks the text and tells how far the JSON lexer has read, which is where the token it reports ends.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *read_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** read_;
};

// The opening quote of the string whose closing quote is at `closing`: no quote inside a string is without
// its backslash.
std::size_t opening_quote(const std::string& text, std::size_t closing);

// The part of the JSON library's message after its own name and place.
std::string syntax_message(std::string message);

}  // namespace podsim
