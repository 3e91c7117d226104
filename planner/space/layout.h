// One point of a search: how a job lies on the chips of its cluster, in numbers.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "proto/scenario/write_layout.h"
#include "scheduler/question/layout_space.h"

namespace podsim {

struct FabricSpec;
struct Spec;

// INVARIANT of a canonical layout, one for each way to run: what an axis of one chip would say is not there.
// See canonical().
struct JobLayout {
  int tensor = 1, context = 1, pipeline = 1;
  int expert = 1;  // chips over which the experts are cut, those of `tensor` that do not cut an expert too
  int expert_tensor = 1;  // of `tensor`: over which each expert is cut
  int data = 1;           // replicas beside all of these
  StateSharding sharding = StateSharding::kDdp;
  int group = 1;                           // of data: chips that share one copy of the weights
  Recompute recompute = Recompute::kNone;  // kKeepNamed, kRemakeNamed: as the job's own policy says
  int recompute_layers = 0;
  int microbatch = 1;
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  int chunks = 1;

  int expert_axis() const { return expert * expert_tensor / tensor; }  // chips of the mesh axis
  int batch_ranks() const { return data * expert_axis(); }
  int chips() const { return tensor * context * pipeline * batch_ranks(); }
  friend auto operator<=>(const JobLayout&, const JobLayout&) = default;
};

// The same way to run in the words that stand for all others: without experts `expert` is 1 and
// `expert_tensor` is `tensor`; nothing to cut state over is ddp; hsdp in groups of one is ddp, in a group of
// all fsdp; one chunk of an interleaved schedule is 1F1B; recompute of none has no layers.
JobLayout canonical(JobLayout layout);

// Selective recompute spares the scores of attention, which fused kernels never keep: there it is none.
Recompute in_one_word(Recompute recompute, const Stack& stack);

// `context` = the preset that cuts sequences.
LayoutBlocks blocks_of(const JobLayout& layout, const std::string& context);

// The spec with this layout: what the loader makes of the scenario with these blocks. Numbers are changed in
// place, and no text is read. REQUIRES: the layout is legal (planner/space/space.h).
Spec with_layout(const Spec& spec, const JobLayout& layout);

// The layout that a spec has, where these words can say it.
std::optional<JobLayout> layout_of(const Spec& spec);

// The preset that cuts sequences over chips: the one that the job's rules name, or "context".
std::string context_preset(const Job& job);

// "tensor 8, pipeline 4 x 5 chunks, data 16 zero1, microbatch 1, recompute full".
std::string to_string(const JobLayout& layout);

// "zero1", "fsdp", ...; "none", "selective", "full", "own".
std::string to_string(StateSharding sharding);
std::string to_string(Recompute recompute);

}  // namespace podsim
