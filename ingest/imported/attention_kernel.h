// The attention kernel of software on a chip that may not have it.
#pragma once

#include <string>

#include "workload/job/chip.h"

namespace podsim {

bool has_attention_kernel(const Chip& chip, const std::string& kernel);

// `kernel`, or where the chip does not have it what stands in for it there: cuDNN's, the flash attention that
// came before it, that of TPUs, or scores written out. `kernel` where the chip has none of these.
std::string attention_kernel_on(const Chip& chip, const std::string& kernel);

}  // namespace podsim
