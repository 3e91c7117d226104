// A scenario with a reliability block to a question about weeks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/scenario/load.h"
#include "scheduler/reliability/weeks/reliability_question.h"

namespace podsim {

struct LoadReliabilityResult {
  std::optional<ReliabilityQuestion> question;  // present when there are no problems
  std::vector<Problem> problems;
  std::vector<Problem> warnings;
};

// As load_scenario, but the block is required and a job is not.
LoadReliabilityResult load_reliability(const std::string& file_name, const std::string& text,
                                       const Catalog& catalog, const std::vector<Override>& overrides);
LoadReliabilityResult load_reliability_file(const std::string& path, const Catalog& catalog,
                                            const std::vector<Override>& overrides);

// The mix of failures of its fabric that a scenario in text format has where its block reliability names
// neither a mix nor a failure: who adds a failure to it has to name this mix beside it. Empty where the block
// names one, or the fabric has none.
std::string mix_for_lack_of_failures(const std::string& text, const Catalog& catalog);

}  // namespace podsim
