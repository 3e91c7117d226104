// Models: those of the catalogue with few layers, three programs, and layers with times of their own.
#include "tests/swarm/random_model.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "engine/check.h"
#include "proto/scenario.pb.h"
#include "workload/job/model.h"

namespace podsim::testing {
namespace {

// name, sequence, least layers, experts
const std::vector<DrawnModel>& transformers() {
  static const auto transformer = [](const char* name, int sequence = 0, int least_layers = 1) {
    return DrawnModel{ModelKind::kTransformer, name, sequence, least_layers, false, true};
  };
  static const std::vector<DrawnModel> all = {
      transformer("llama3_8b"),       transformer("llama3_8b"),     transformer("llama3_70b"),
      transformer("gpt3_5b", 2048),   transformer("gpt3_5b", 1024), transformer("palm_8b"),
      transformer("gemma2_9b"),       transformer("mistral_7b"),    transformer("t5_large", 512),
      transformer("bert_large", 512), transformer("vit_l_16", 197)};
  return all;
}

const std::vector<DrawnModel>& mixtures() {
  static const auto mixture = [](const char* name, int least_layers) {
    return DrawnModel{ModelKind::kTransformer, name, 0, least_layers, true, true};
  };
  static const std::vector<DrawnModel> all = {mixture("mixtral_8x7b", 1),  mixture("mixtral_8x7b", 1),
                                              mixture("glam_64b_64e", 2),  mixture("gpt_oss_20b", 2),
                                              mixture("qwen3_30b_a3b", 1), mixture("deepseek_v3_mtp", 4)};
  return all;
}

constexpr const char* kPerceptron = R"(
  dimension { name: "embed" size: 512 } dimension { name: "ffn" size: 2048 }
  part { name: "mlp" data { name: "x" dims: "batch embed" }
    parameter { name: "w_in" dims: "embed ffn" } parameter { name: "w_out" dims: "ffn embed" }
    operation { kind: einsum input: ["x", "w_in"] output: "h" dims: "batch ffn" }
    operation { kind: elementwise input: "h" output: "a" }
    operation { kind: einsum input: ["a", "w_out"] output: "y" dims: "batch embed" }
    operation { kind: loss input: "y" output: "losses" } })";

constexpr const char* kBlocks = R"(
  dimension { name: "embed" size: 1024 } dimension { name: "ffn" size: 4096 }
  part { name: "stem" data { name: "ids" dims: "batch sequence" } parameter { name: "table" dims: "rows=999 embed" }
    operation { kind: embedding input: ["table", "ids"] output: "x" } }
  part { name: "block" layer: true input { name: "x" dims: "batch sequence embed" }
    parameter { name: "scale" dims: "embed" } parameter { name: "w_in" dims: "embed ffn" }
    parameter { name: "w_out" dims: "ffn embed" }
    operation { kind: norm input: ["x", "scale"] output: "n" }
    operation { kind: einsum input: ["n", "w_in"] output: "h" dims: "batch sequence ffn" }
    operation { kind: elementwise input: "h" output: "a" }
    operation { kind: einsum input: ["a", "w_out"] output: "o" dims: "batch sequence embed" }
    operation { kind: add input: ["x", "o"] output: "y" } }
  part { name: "head" input { name: "x" dims: "batch sequence embed" } parameter { name: "w" dims: "embed classes=999" }
    operation { kind: einsum input: ["x", "w"] output: "z" dims: "batch sequence classes=999" }
    operation { kind: loss input: "z" output: "l" } })";

constexpr const char* kImages = R"(
  dimension { name: "c" size: 8 } order { part: "stem" } order { part: ["body"] repeat: 2 } order { part: "head" }
  part { name: "stem" data { name: "i" dims: "batch h=32 w=32 3" } parameter { name: "f" dims: "5 5 3 c" }
    operation { kind: convolution input: ["i", "f"] output: "x" window { stride: 2 pad: 2 } }
    operation { kind: pool input: "x" output: "p" window { along: "h" size: 3 stride: 2 dilation: 2 pad_low: 1 } } }
  part { name: "body" layer: true input { name: "x" dims: "batch h=7 w=16 c" } parameter { name: "s" dims: "2 c" }
    operation { kind: norm input: ["x", "s"] output: "n" along: "h w" statistics: 2 }
    operation { kind: reshape input: "n" output: "r" dims: "batch (h=7 w=16) c" }
    operation { kind: reshape input: "r" output: "y" dims: "batch h=7 w=16 c" } }
  part { name: "head" input { name: "x" dims: "batch h=7 w=16 c" } parameter { name: "e" dims: "rows=99 c" }
    data { name: "ids" dims: "batch n=4" }
    operation { kind: reduce input: "x" output: "m" along: "h w" }
    operation { kind: embedding input: ["e", "ids"] output: "t" }
    operation { kind: einsum input: ["t", "m"] output: "d" equation: "bnc,bc->bn" }
    operation { kind: concatenate input: ["d", "d"] output: "z" along: "n" }
    operation { kind: loss input: "z" output: "l" } })";

void write_program(Draw& draw, int pieces, schema::JobChoice& job) {
  const char* text = draw.of({kPerceptron, kBlocks, kBlocks, kImages});
  const bool parsed = google::protobuf::TextFormat::ParseFromString(text, job.mutable_program());
  PODSIM_CHECK(parsed, text);
  for (schema::ProgramPart& part : *job.mutable_program()->mutable_part())
    if (part.layer() && job.program().order().empty())
      part.set_repeat(std::max(pieces, 2) * draw.between(1, 2));
  job.set_sequence_tokens(text == kBlocks ? draw.of({128, 512}) : 1);
}

void write_collective(Draw& draw, const std::map<std::string, int>& sizes,
                      schema::LayerCollective& collective) {
  collective.set_kind(
      static_cast<schema::LayerCollective::Kind>(draw.between(1, schema::LayerCollective::broadcast)));
  collective.set_bytes(draw.of({1e3, 1e6, 3e8}));
  if (draw.chance(0.6)) return;  // over all axes
  for (const auto& [axis, size] : sizes)
    if (axis != "pipeline" && draw.chance(0.5)) collective.add_axis(axis);
}

void write_measured(Draw& draw, int pieces, const std::map<std::string, int>& sizes, schema::JobChoice& job) {
  schema::MeasuredLayers& measured = *job.mutable_measured_layers();
  for (const char* name : {"first", "second"}) {
    schema::MeasuredLayer& layer = *measured.add_layer();
    layer.set_name(name);
    layer.set_count(pieces * draw.between(1, 3));
    layer.set_forward_us(draw.of({0.0, 10.0, 500.0}));
    if (draw.chance(0.7)) layer.set_input_gradient_us(draw.of({10.0, 500.0}));
    if (draw.chance(0.7)) layer.set_weight_gradient_us(draw.of({10.0, 500.0}));
    if (draw.chance(0.4)) write_collective(draw, sizes, *layer.mutable_forward_collective());
    if (draw.chance(0.3)) write_collective(draw, sizes, *layer.mutable_input_gradient_collective());
    if (draw.chance(0.7)) write_collective(draw, sizes, *layer.mutable_weight_gradient_collective());
    if (draw.chance(0.3)) layer.set_update_us(100);
    if (draw.chance(0.7)) layer.set_output_bytes(draw.of({1e4, 1e7}));
    if (draw.chance(0.5)) break;
  }
  if (draw.chance(0.4)) measured.set_update_us(1000);
  if (draw.chance(0.3)) measured.set_model_gflop_per_token(1);
  job.set_sequence_tokens(draw.of({1, 2048}));
}

void write_transformer(Draw& draw, const DrawnModel& model, int pieces, schema::JobChoice& job) {
  job.set_model(model.name);
  int layers = pieces * draw.between(1, 2);
  if (draw.chance(0.1)) ++layers;
  layers = std::max(layers, model.least_layers);
  for (const int pinned : job.pipeline().layers_per_chunk()) layers += pinned - layers / pieces;
  job.mutable_model_override()->set_layers(std::max(layers, 1));
  if (model.experts && draw.chance(0.3))
    job.mutable_model_override()->mutable_experts()->set_capacity_factor(draw.of({0.5, 1.0, 1.25}));
  if (model.experts && draw.chance(0.3))
    job.mutable_model_override()->mutable_experts()->set_imbalance(draw.of({1.0, 1.5}));
  if (draw.chance(0.1)) job.mutable_model_override()->set_tied_embedding(draw.chance(0.5));
  job.set_sequence_tokens(model.sequence > 0 ? model.sequence : draw.of({512, 1024, 2048, 4096, 8192}));
}

}  // namespace

DrawnModel draw_model_kind(Draw& draw) {
  const int kind = draw.below(20);
  if (kind < 9) return draw.of(transformers());
  if (kind < 13) return draw.of(mixtures());
  if (kind < 14) return {ModelKind::kImages, "resnet50", 1, 1, false, true};
  if (kind < 15) return {ModelKind::kTables, "dlrm_8_tables", 1, 1, false, false};
  if (kind < 17) return {ModelKind::kProgram, "", 0, 1, false, true};
  return {ModelKind::kMeasured, "", 0, 1, false, true};
}

void write_model(Draw& draw, const DrawnModel& model, int pieces, const std::map<std::string, int>& sizes,
                 schema::JobChoice& job) {
  switch (model.kind) {
    case ModelKind::kMeasured:
      return write_measured(draw, pieces, sizes, job);
    case ModelKind::kProgram:
      return write_program(draw, pieces, job);
    case ModelKind::kTransformer:
      return write_transformer(draw, model, pieces, job);
    case ModelKind::kImages:
    case ModelKind::kTables:
      job.set_model(model.name);
      job.set_sequence_tokens(1);
  }
}

}  // namespace podsim::testing
