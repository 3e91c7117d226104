// Kernels that a user measured by themselves, as evidence of numbers of a stack.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "proto/text/problem.h"
#include "scheduler/question/spec.h"

namespace podsim {

// The kernels of one kind in one table.
struct AnchorKernels {
  std::string id;      // "matmuls of kernels.csv", "collectives of all_reduce.log"
  std::string number;  // of the stack, by its path, that their rate is a multiple of: "gemm_factor"
  Stack stack;         // under which they are predicted
  bool alone = false;  // on a cool chip by themselves; else inside a training step
  int rows = 0;
  double error = 0;  // median of log(predicted / measured), with the stack as it is
  std::string text;  // what was measured
};

struct ReadAnchorKernels {
  std::vector<AnchorKernels> kernels;
  std::vector<std::string> unused;  // "12 rows of group_matmul": what tells of no number that may be moved
  std::vector<Problem> problems;
};

// Whether the columns are those of a table of kernels, alone or inside a step.
bool is_anchor_kernel_table(const std::string& text);

// Either the columns that `podsim validate` takes of kernels (rows of other chips than the scenario's are
// unused), or operation (matmul, sdp_fwd, sdp_bwd), peak_tflops, shape and share_of_peak of kernels that ran
// inside a step on the scenario's chip. A shape is "b=1;m=4096;k=5120;n=1536;layout=TN" of a matmul
// [m,k] x [k,n], where NT is a weight gradient, or "batch=1;seq_len=4096;head_num=32;qk_head_dim=128;
// v_head_dim=128" of causal attention, whose share counts the FLOPs without the mask. REQUIRES: one job.
ReadAnchorKernels read_anchor_kernels(const std::string& file, const std::string& text, const Spec& spec,
                                      const Catalog& catalog);

}  // namespace podsim
