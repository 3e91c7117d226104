// Bytes that one piece of the model needs on one device beside its weights.
#pragma once

#include <vector>

#include "workload/partition/block_builder.h"
#include "workload/partition/program.h"
#include "workload/partition/recompute.h"

namespace podsim {

struct Job;

// Per microbatch.
struct PartFootprint {
  std::vector<KeptActivation> kept;  // from forward to backward, without logits
  Bytes remade;                      // computed again or fetched: they exist while the piece is in backward
  Bytes output;                      // the activation handed on
  // Weights as one device holds them while it computes, where that is more than its shard; else zero.
  Bytes gathered;        // together
  Bytes largest_gather;  // the largest at once
  Bytes logits;
  // What weight gradients read, activations and gradients: all that is held from the input gradient on where
  // the weight gradient comes apart.
  Bytes for_weights;

  Bytes stored() const;     // of `kept`, on the chip
  Bytes offloaded() const;  // of `kept`, on the host
};

// A part whose forward and backward operations are planned.
struct PlannedPart {
  const Job& job;
  const Graph& graph;
  const Backward& backward;
  const BlockBuilder& blocks;
  const Retention& retention;
};

PartFootprint footprint_of(const PlannedPart& part, const Block& forward);

}  // namespace podsim
