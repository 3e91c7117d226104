// What a step of training has, which the file of a model does not tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/launchers/settings.h"

namespace podsim {

struct StepSizes {
  std::optional<std::int64_t> batch_sequences, sequence_tokens;
  std::string batch_from = "--set global_batch_sequences", sequence_from = "--set sequence_tokens";
};

// As stated. Where a layout is to be found what is missing is assumed, and says so; else it is needed.
// `longest` = tokens that the model has positions for.
StepSizes read_step_sizes(Configuration& settings, const Stated& stated, std::optional<std::int64_t> longest,
                          std::vector<Needed>& needs);

}  // namespace podsim
