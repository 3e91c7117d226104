// Changes numbers in the text of a catalogue file and nothing else: comments, layout and order stay.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"

namespace podsim {

struct NumberChange {
  Catalog::Section section = Catalog::Section::kChips;
  std::string entry, path;  // as Catalog::number takes them
  double value = 0;
};

struct RewrittenFile {
  std::string text;               // unchanged where there are problems
  std::vector<std::size_t> done;  // indices of the changes whose numbers this file states, in order
  std::vector<Problem> problems;  // why the file cannot be read, or numbers beyond their range
};

// Writes the shortest text of each new number in place of the old one; a number that has its value already
// keeps its text. REQUIRES: `text` is text format. Changes of entries that the file does not have are left.
RewrittenFile rewrite_numbers(const std::string& file, const std::string& text,
                              const std::vector<NumberChange>& changes);

}  // namespace podsim
