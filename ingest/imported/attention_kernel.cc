// The best first.
#include "ingest/imported/attention_kernel.h"

#include <algorithm>

namespace podsim {

bool has_attention_kernel(const Chip& chip, const std::string& kernel) {
  return std::any_of(chip.attention.begin(), chip.attention.end(),
                     [&](const AttentionRate& rate) { return rate.kernel == kernel; });
}

std::string attention_kernel_on(const Chip& chip, const std::string& kernel) {
  if (has_attention_kernel(chip, kernel)) return kernel;
  for (const char* other : {"cudnn", "flash2", "flash1", "splash", "unfused"})
    if (has_attention_kernel(chip, other)) return other;
  return kernel;
}

}  // namespace podsim
