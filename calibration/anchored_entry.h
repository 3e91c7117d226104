// An entry of a stack under a new name, with some of its numbers changed.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/rewrite_numbers.h"

namespace podsim {

// The text of the entry with comments and layout, its aliases left out: they stay with the old name. Numbers
// of the stack that it does not state are added at its end, those of its parts at the head of their block.
// REQUIRES: `text` is an entry of the catalogue, `changes` are of its name.
std::string entry_under_new_name(const std::string& text, const std::string& name,
                                 const std::vector<NumberChange>& changes);

}  // namespace podsim
