// Pipeline schedules: which piece of the model lies where, and in which order a stage runs its passes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/pipeline/schedules.h"

namespace podsim {

struct Job;

PipelineShape pipeline_shape(const Job& job);

// A chunk of a stage.
struct PipelinePlace {
  int stage, chunk;
  friend bool operator==(const PipelinePlace&, const PipelinePlace&) = default;
};

// The model in pieces of consecutive layers, in forward order: as many as there are places, or half as many
// where each lies on two stages (DualPipe).
int piece_count(const PipelineShape& shape);

// The piece that a place holds: chunk x stages + stage, one after the other; down the stages and up again
// (ZB-V); or down the stages with one chunk and up with the other (DualPipe).
int piece_at(const PipelineShape& shape, PipelinePlace place);

// Where a microbatch comes from and goes to, forward; nothing at the ends of the model. May be another chunk
// of the same stage.
std::optional<PipelinePlace> place_before(const PipelineShape& shape, PipelinePlace place);
std::optional<PipelinePlace> place_after(const PipelineShape& shape, PipelinePlace place);

// Why a schedule cannot run in this shape ("6 microbatches are fewer than ..."), or empty.
std::string explain_invalid(const PipelineShape& shape);

// The order of one stage. Every (microbatch, chunk) of it occurs once forward and then once backward, either
// whole or as input gradient and later weight gradient; shifting apart. DualPipe sends the first half of the
// microbatches through chunks 0 and the second half through chunks 1.
//   GPipe: all forwards, then all backwards in reverse order.
//   1F1B: stages - stage - 1 warm-up forwards, then one forward and one backward in turn (PipeDream-flush).
//   interleaved: Megatron-LM's order over chunks (Narayanan et al. 2021, section 2.2): warm-up of
//   2 (stages - stage - 1) + (chunks - 1) stages forwards.
//   shifting (GSPMD): microbatches x chunks + stages - 1 iterations forward and as many backward on every
//   stage, chunk after chunk; in stages - 1 of them a stage computes on padding. `microbatch` is the
//   iteration.
//   ZB-H1 (Qi et al., arXiv 2401.10241, section 2.2): 1F1B in which stage s keeps s weight gradients back, so
//   that all stages hold `stages` microbatches and the drain is filled. Idle (stages - 1)(F + B - W) where
//   W <= B.
//   ZB-V (section 6 there): chunk 0 runs down the stages and chunk 1 up again. Closed form of the pattern for
//   F = B = W, found by search over the orders of its phases: no stage idles between its first pass and its
//   last, and none holds more than 2 x stages chunks.
//   DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1): the order of the authors' published code, from
//   memory.
// REQUIRES: explain_invalid(shape) is empty.
std::vector<PipelineTask> pipeline_order(const PipelineShape& shape, int stage);

// How many forward passes of a step each chunk of the stage makes, and as many backward; those on padding
// count. REQUIRES: explain_invalid(shape) is empty.
std::vector<int> passes_of_chunks(const PipelineShape& shape, int stage);

// Of which microbatch the documents are that a task of this stage computes on. Padding has the masks of the
// pass next to it: of the stage's first one before, of its last one after.
int documents_of(const PipelineShape& shape, int stage, const PipelineTask& task);

// The most that is held at once along an order when a forward pass of chunk c takes held[c] and the end of
// its backward (its weight gradient, where that comes apart) gives it back.
double most_held(const std::vector<PipelineTask>& order, const std::vector<double>& held);

// The same where only for_weights[c] is held from the input gradient to the weight gradient.
double most_held(const std::vector<PipelineTask>& order, const std::vector<double>& held,
                 const std::vector<double>& for_weights);

}  // namespace podsim
