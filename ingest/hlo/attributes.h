// The attributes of an HLO instruction as they are written, packed into one text.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "ingest/hlo/short_list.h"

namespace podsim::hlo {

// Modules have tens of thousands of instructions with a few short attributes each: one text for all takes
// less memory than two for each would.
class Attributes {
 public:
  class Iterator {
   public:
    using value_type = std::pair<std::string_view, std::string_view>;  // key, value
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    value_type operator*() const;
    Iterator& operator++();
    Iterator operator++(int);
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.rest_.size() == b.rest_.size(); }

   private:
    std::string_view rest_;
  };

  void add(std::string_view key, std::string_view value);
  void remove(std::string_view key);                 // all that have it
  void release_spare() { packed_.release_spare(); }  // memory, where no more are added
  // The value of the first with this key, or empty. What is returned lives until attributes change.
  std::string_view of(std::string_view key) const;
  bool has(std::string_view key) const;

  // In the order in which they were added.
  Iterator begin() const { return Iterator({packed_.begin(), packed_.size()}); }
  Iterator end() const { return {}; }

 private:
  ShortList<char, 8> packed_;  // of each the lengths of key and value, seven bits a byte, and both
};

}  // namespace podsim::hlo
