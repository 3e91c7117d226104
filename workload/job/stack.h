// One software stack as data: what it fuses, what it overlaps, what it costs to launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/units.h"
#include "workload/job/precision.h"

namespace podsim {

// How a mixture of experts runs.
struct ExpertExecution {
  double gemm_factor = 1;         // rate of grouped matmuls over Stack::gemm_factor
  std::optional<double> traffic;  // HBM traffic of routing, permutation, activation and combination over that
                                  // of perfect fusion; nothing = Stack::elementwise_traffic
  std::optional<double> permutation_traffic;  // likewise, of permutation and combination; nothing = traffic
  double kernels = 0;             // forward kernels of a layer with experts beyond those of another layer
  double kernels_per_expert = 0;  // and for each expert that the device holds
  bool synchronises = false;      // the host waits for the token counts before it launches them
  std::optional<double> exchange_hidden;  // share of dispatch and combination that runs beside the pass of
                                          // another microbatch; nothing = as other activations
  bool once_per_domain = false;  // a token crosses to an NVLink domain once for all its experts there
  // Elements: side of the output tile of a grouped matmul, whose rows end and begin with an expert's, and of
  // its inner dimension; 0 = the tiles of the chip.
  int tile_rows = 0, tile = 0;
  friend bool operator==(const ExpertExecution&, const ExpertExecution&) = default;
};

// Which chains of element-wise kernels run as one; where one does not, each of its kernels reads and writes
// what lies between, and autograd keeps it.
struct FusedKernels {
  bool norm = true;        // with its conversion to fp32 and back
  bool rotary = true;      // embedding of positions
  bool activation = true;  // with the product of a gated block
  bool dropout = true;     // with the sum that follows
  friend bool operator==(const FusedKernels&, const FusedKernels&) = default;
};

struct Stack {
  std::string name;
  std::string attention_kernel;  // a name in Chip::attention
  double attention_block = 0;    // tokens: side of the blocks that a masked kernel computes whole; 0 = exact
  double gemm_factor = 1;        // all GEMM rates x this
  bool pads_matmuls = true;      // widths are padded until rows of matrices begin at multiples of 16 bytes
  double elementwise_traffic = 1;  // HBM traffic of memory-bound operations over that of perfect fusion
  FusedKernels fused;
  double kernels_per_layer = 0;  // forward kernels of an ordinary layer; 0 = one compiled program
  double backward_kernels = 0;   // backward ones of it, without those that recompute repeats
  double loss_kernels = 0;       // forward kernels of the piece with the loss; as many backward
  Time host_launch;              // host time per kernel
  Time host_collective;        // host time per collective, of a pass or of the step, and per send to a stage
  double optimizer_calls = 0;  // kernels of the optimizer that the host launches per weight of the device
  int launch_queue = 0;        // launches that the host may be ahead of the device; 0 = any number
  bool graphs_captured = false;   // layers are launched as graphs, not kernel by kernel
  double graph_launch_share = 1;  // host time per kernel of a graph over that of a launch
  Time kernel_gap;                // device idle between kernels
  double tensor_hidden =
      0;  // share of tensor-axis activation collectives that runs beside the neighbouring matmul
  int tensor_chunks = 1;  // pieces of a matmul, beside which its activation collective runs piece by piece
  bool windowed_einsum =
      false;  // matmuls run their gathers and scatters as rings beside them where that pays
  int prefetch_forward =
      1;  // blocks that a weight gather of a forward pass is ahead of its use; 0 = at its use
  int prefetch_backward = 1;         // of a backward pass
  bool gradients_overlapped = true;  // gradient reduction runs beside the backward pass
  // The same of gradients whose optimizer state is cut, and the gather of what it has updated runs beside the
  // next forward pass; nothing = as gradients_overlapped.
  std::optional<bool> sharded_state_overlapped;
  bool gathers_by_owner = false;  // updated weights are sent out by their owners, one weight after the other
  // The last stage of a pipeline has as many layers fewer as its head has the work of.
  bool balances_stages = false;
  bool keeps_gathered = false;  // backward reads gathered activations as forward left them
  // Of an activation that several devices have, each sends a share, and the receivers gather the whole.
  bool scatter_gather_sends = false;
  double send_exposed = 0;         // share of a pipeline send that the sender waits for
  Bytes gradient_bucket;           // reductions of the step join until they have this much; 0 = one per block
  std::optional<int> host_copies;  // copies to the host that may be under way; nothing = any number
  double interference = 0;  // compute runs 1 / (1 + this) as fast while a collective moves data on the chip
  // Share of computation that chips wait for the slowest of their hosts, per doubling of the hosts that step
  // together; on tori of the slices, for the chips of one run in lock step.
  double skew_per_doubling = 0;
  // Share of what the fabric's channels sustain between servers that collectives reach.
  double network_share = 1;
  // With less than this share of HBM free, the caching allocator gives memory back and asks for it anew:
  // operations take up to 1 + retry_stall times as long, in proportion to what lacks.
  double retry_free_share = 0;
  double retry_stall = 0;
  // Per weight tensor that a stage updates, after its gradients: norm, clipping, checks and copies, for which
  // the device waits for the host; of captured graphs graph_launch_share of it.
  Time update_per_weight;
  Time fixed_step;                    // per-step cost of anything else, whatever the step does
  double gradient_bytes = 4;          // bytes per gradient element as matmuls write it and on the wire
  double gradient_memory_bytes = 0;   // bytes per element where gradients add up; 0 = gradient_bytes
  double optimizer_state_bytes = 12;  // master weight and moments, per parameter
  double optimizer_traffic = 1;       // HBM traffic of the update over reading and writing that state once
  double gradient_pass_bytes =
      0;                          // HBM traffic per gradient element and step: zeroing, norm, clipping, casts
  double gradient_add_bytes = 0;  // HBM traffic per gradient element and microbatch of adding it to the sum
  bool recompute_stops_early =
      true;               // full recompute skips the last projection of a layer, whose output nobody needs
  double cast_bytes = 0;  // PrecisionRecipe::cast_bytes of recipes without their own
  std::vector<PrecisionRecipe> recipes;  // beside the formats as they are, at cast_bytes
  double loss_bytes_per_logit = 13;      // HBM traffic of softmax and loss, forward and backward together
  double weight_passes =
      0;  // HBM passes over each weight gather or reduction of a layer, in and out of its buffers
  double logit_bytes = 6;  // memory per logit between forward and backward: 16 bits, and fp32 for the softmax
  bool gathers_layers = true;  // weights of a layer are gathered together; else each at its use
  Bytes workspace;             // buffers of libraries, per chip
  Bytes communicator_buffers;  // of the collective library, per group that a chip is in
  ExpertExecution experts;
  double attention_factor = 1;  // rates of the attention kernel x this
  double sink_attention = 1;    // rate of attention with sinks over that of the same without
  double fragmentation = 0.04;  // share of HBM lost to the allocator and libraries
  friend bool operator==(const Stack&, const Stack&) = default;
};

// Whether the collectives around the optimizer run beside the passes: of a piece whose state is cut or whole.
inline bool overlapped(const Stack& stack, bool state_cut) {
  return state_cut ? stack.sharded_state_overlapped.value_or(stack.gradients_overlapped)
                   : stack.gradients_overlapped;
}

}  // namespace podsim
