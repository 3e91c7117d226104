// The software of a launcher's job: a stack of the catalogue, and what the launcher's file or the chip
// changes of it.
#pragma once

#include <string>
#include <vector>

#include "ingest/launchers/scenario_text.h"

namespace podsim {

// A stack that nobody names on the command line, and why it is this one.
struct OwnStack {
  std::string name, from;  // "maxtext_2025", "the launcher is MaxText"
};

// "gradients_overlapped: false", and where that is said.
struct StackChange {
  std::string field, from;
};

// The kernel that a file asks for; empty where it asks for none.
struct WantedAttention {
  std::string kernel, from;
};

// "stack: ..." of --stack, else `own`, and its "stack_override". The attention is `wanted` where the chip has
// it; where it lacks the kernel of the stack another stands in, and the line says that it is assumed.
void add_stack(ScenarioText& text, const Stated& stated, const OwnStack& own,
               std::vector<StackChange> changes = {}, const WantedAttention& wanted = {});

// False too of a chip that the catalogue does not have.
bool chip_has_attention(const std::string& chip, const std::string& kernel);

// Generic software for the fabric, where a layout is to be found and nobody names any; empty where it has to
// be named.
OwnStack generic_stack(const Stated& stated);

// `recipe`, or where the stack has no recipe of this name the plain format of as many bits: "fp8" of "mxfp8".
std::string recipe_of_stack(const std::string& stack, const std::string& recipe);

}  // namespace podsim
