// A number of a scenario that a plan takes as unknown.
#pragma once

#include <string>
#include <vector>

#include "proto/text/document.h"
#include "proto/text/override.h"
#include "scheduler/question/training_plan.h"

namespace podsim {

namespace schema {
class VariedNumber;
}

// The scenario around it.
struct VariedSetting {
  bool weeks = false;                      // a run of weeks is asked for
  const std::vector<Override>& overrides;  // what the command and the plan say in its place
};

// Told is where the path leads to no number, to one that a plan chooses itself, or to one that has no effect
// or nothing to multiply, and where the range is none. The name of the chip is as it is written. REQUIRES:
// check_ranges and check_required have seen the block, which is no band; the document's text can be parsed.
VariedNumber resolve_varied(const schema::VariedNumber& block, const std::string& place,
                            const VariedSetting& setting, Document& document);

}  // namespace podsim
