// Kernel numbers of the catalogue to those of a chip.
#pragma once

#include "workload/job/kernel_numbers.h"

namespace podsim {

namespace schema {
class Chip;
class Kernels;
}  // namespace schema

// Those of its generation, with the chip's own bursts.
KernelNumbers to_kernels(const schema::Kernels& generation, const schema::Chip& chip);

}  // namespace podsim
