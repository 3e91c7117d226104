// The encoder-decoder transformer as graphs: an encoder layer, the joint between the stacks, a decoder layer,
// the head. The embedding is that of a decoder model.
#pragma once

#include "workload/graph/graph.h"

namespace podsim {

struct Job;

// REQUIRES: job.model.decoder. The joint normalises the encoder's output, which every decoder layer reads
// from then on (Graph::context), and looks up the target tokens.
Graph encoder_layer_graph(const Job& job);
Graph joint_graph(const Job& job);
Graph decoder_layer_graph(const Job& job);
Graph decoder_head_graph(const Job& job);

}  // namespace podsim
