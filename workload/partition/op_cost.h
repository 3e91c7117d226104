// Time of one local operation on one chip under one software stack.
#pragma once

#include "workload/partition/program.h"

namespace podsim {

struct Chip;
struct Stack;

// Roofline with tile and wave quantisation; docs/theory/model.md has every equation and source. Device time
// only: launch limits are those of a block. A matmul or attention never takes less than flops / peak and hbm
// / achievable HBM rate, any other operation never less than the part of its HBM time that the chip cannot
// hide. REQUIRES: of a matmul, chip.matmul holds op.dtype (bf16 and fp16 stand for each other); of attention,
// bf16, and chip.attention holds stack.attention_kernel. The loader reports what is missing before.
double op_seconds(const ComputeOp& op, const Chip& chip, const Stack& stack);

// The least that it could take by the peaks of the chip's matrix units and of its HBM, whatever the software;
// of measured operations nothing is known. REQUIRES: as op_seconds.
double roofline_seconds(const ComputeOp& op, const Chip& chip);

// How many times longer a GPU matmul takes because output tiles do not fill the matrix and waves of tiles do
// not fill the compute units, when `groups` such matmuls run as one kernel; at least 1 when the best tile has
// no penalty. Source: cost of tiles in docs/theory/model.md. REQUIRES: chip.tiles is not empty, as it is of
// chips whose matrix units work block by block.
double tile_loss(double m, double n, const Chip& chip, double groups = 1);

// Seconds for which the device idles between kernels that the host has launched in time.
double gap_seconds(double kernels, const Stack& stack);

// Seconds for which the device waits for the host after it has updated that many weights.
double update_seconds(int weights, const Stack& stack);

// Seconds that the host needs to launch kernels and collectives, whatever the device does meanwhile.
double host_seconds(double kernels, double collectives, const Stack& stack);

}  // namespace podsim
