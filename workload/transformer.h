// The dense transformer as three graphs: the embedding, one layer, and the head with its loss.
#pragma once

#include "workload/graph.h"
#include "workload/job.h"

namespace podsim {

// Sizes are those of one microbatch over all batch shards. Letters: b batch, s sequence, t key sequence, d
// embed, n heads (query, key and value in one block each), h head_dim, g matrices into the feed-forward block
// (2 when gated), f ffn, v vocabulary, p learned positions.
Graph embedding_graph(const Job& job);
Graph layer_graph(const Job& job);
Graph head_graph(const Job& job);

}  // namespace podsim
