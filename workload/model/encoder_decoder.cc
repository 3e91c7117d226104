// The encoder-decoder transformer as graphs: an encoder layer, the joint between the stacks, a decoder layer,
// the head. Source: T5, arXiv 1910.10683, section 2.1.
#include "workload/model/encoder_decoder.h"

#include <utility>

#include "workload/model/transformer_blocks.h"

namespace podsim {
namespace {

TransformerBuilder on_targets(const Job& job) { return TransformerBuilder(job, job.model.decoder->tokens); }

}  // namespace

Graph encoder_layer_graph(const Job& job) {
  TransformerBuilder b(job);
  b.graph.input = b.residual("layer input");
  b.graph.output = b.residual("layer output");
  b.encoder_layer(b.graph.input, b.graph.output);
  return std::move(b.graph);
}

Graph joint_graph(const Job& job) {
  TransformerBuilder source(job), target = on_targets(job);
  const TensorId x = source.graph.input = source.residual("encoder output");
  const TensorId memory = source.graph.context = source.residual("memory");
  source.norm("encoder norm", x, memory);
  target.graph = std::move(source.graph);
  const TensorId out = target.graph.output = target.residual("target embedding");
  target.look_up({{target.embedding_table(true), "vd"}}, out);
  return std::move(target.graph);
}

Graph decoder_layer_graph(const Job& job) {
  TransformerBuilder source(job), target = on_targets(job);
  const TensorId memory = source.residual("memory");
  target.graph = std::move(source.graph);
  target.graph.context = memory;
  target.graph.input = target.residual("layer input");
  target.graph.output = target.residual("layer output");
  target.decoder_layer(target.graph.input, target.graph.output, memory, job.sequence);
  return std::move(target.graph);
}

Graph decoder_head_graph(const Job& job) {
  TransformerBuilder b = on_targets(job);
  const TensorId x = b.graph.input = b.residual("head input");
  b.loss(x, job.model.tied_embedding);
  return std::move(b.graph);
}

}  // namespace podsim
