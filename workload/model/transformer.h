// Pieces of transformers as graphs: embedding, layers of each kind, head with its loss, prediction of further
// tokens.
#pragma once

#include "workload/model/transformer_blocks.h"

namespace podsim {

struct Job;

Graph embedding_graph(const Job& job);
Graph layer_graph(const Job& job, LayerKind kind = {});
Graph head_graph(const Job& job);
// Predicts one token further: joins the activation with the embedding of the next token, one layer, and the
// output table once more. Hands its input on unchanged. Source: DeepSeek-V3, arXiv 2412.19437, section 2.2.
Graph prediction_graph(const Job& job, LayerKind kind);

}  // namespace podsim
