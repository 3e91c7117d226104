// Assumed as podsim init does (planner/starter.cc).
#include "ingest/launchers/step_sizes.h"

#include <algorithm>

namespace podsim {

StepSizes read_step_sizes(Configuration& settings, const Stated& stated, std::optional<std::int64_t> longest,
                          std::vector<Needed>& needs) {
  constexpr std::int64_t kUsualSequence = 4096, kTokensPerChip = 8192;
  StepSizes sizes;
  sizes.batch_sequences = settings.integer("global_batch_sequences");
  sizes.sequence_tokens = settings.integer("sequence_tokens");
  const bool assume = stated.plan && stated.chips;
  if (assume && !sizes.sequence_tokens) {
    sizes.sequence_tokens = std::min(longest.value_or(kUsualSequence), kUsualSequence);
    sizes.sequence_from = "assumed (--set sequence_tokens=N)";
  }
  if (assume && !sizes.batch_sequences) {
    const std::int64_t length = std::max<std::int64_t>(1, *sizes.sequence_tokens);
    sizes.batch_sequences = *stated.chips * std::max<std::int64_t>(1, kTokensPerChip / length);
    sizes.batch_from = "assumed: about 8,192 tokens a chip (--set global_batch_sequences=N)";
  }
  if (!sizes.batch_sequences) needs.push_back({"global_batch_sequences", "--set global_batch_sequences=N"});
  if (!sizes.sequence_tokens) needs.push_back({"sequence_tokens", "--set sequence_tokens=N"});
  return sizes;
}

}  // namespace podsim
