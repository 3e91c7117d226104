// Time of one local operation on one chip under one software stack.
#pragma once

#include "workload/program.h"

namespace podsim {

// Roofline with tile and wave quantisation; docs/model.md has every equation and source. Never less than flops / peak.
// Device time only: launch limits are those of a block.
double op_seconds(const ComputeOp& op, const Chip& chip, const Stack& stack);

// Seconds added to the operations of one block because kernels cannot be launched faster: gaps between kernels, and what the
// host needs beyond the device. `device_s` = sum of op_seconds of the block; kernels = number of kernels in the block.
double launch_seconds(double device_s, double kernels, const Stack& stack);

}  // namespace podsim
