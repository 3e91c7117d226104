// The whole model as tensor programs: each kind of piece once, and the order in which pieces follow.
#include "workload/model/model_program.h"

#include <algorithm>
#include <utility>

#include "workload/model/adapters.h"
#include "workload/model/encoder_decoder.h"
#include "workload/model/program_graph.h"
#include "workload/model/transformer.h"
#include "workload/model/vision.h"

namespace podsim {

bool is_local(const Model& model, int layer) {
  return model.attention_window > 0 && (model.full_every == 0 || (layer + 1) % model.full_every != 0);
}

namespace {

// Collects pieces in order.
class Sequence {
 public:
  int kind(const std::string& name, bool layer, Graph graph) {
    program_.parts.push_back({name, layer, std::move(graph)});
    return static_cast<int>(program_.parts.size()) - 1;
  }
  void append(int part, int count = 1) {
    program_.sequence.insert(program_.sequence.end(), static_cast<std::size_t>(count), part);
  }
  ModelProgram take() { return std::move(program_); }

 private:
  ModelProgram program_;
};

LayerKind kind_of_layer(const Model& model, int layer) {
  LayerKind kind;
  if (model.experts && layer >= model.experts->dense_layers) {
    const int place = layer - model.experts->dense_layers + 1;
    kind.experts = place % model.experts->every == 0;
  }
  kind.local = is_local(model, layer);
  return kind;
}

std::string name_of(const Model& model, LayerKind kind) {
  const bool mixed = model.attention_window > 0 && model.full_every > 0;
  return std::string(mixed && kind.local ? "local " : "") + (kind.experts ? "expert layer" : "layer");
}

ModelProgram stack_of_layers(const Job& job) {
  const Model& model = job.model;
  Sequence pieces;
  pieces.append(pieces.kind("embedding", false, model.vision ? patch_graph(job) : embedding_graph(job)));
  std::vector<std::pair<LayerKind, int>> kinds;
  for (int layer = 0; layer < model.layers; ++layer) {
    const LayerKind kind = kind_of_layer(model, layer);
    auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.first == kind; });
    if (known == kinds.end()) {
      kinds.emplace_back(kind, pieces.kind(name_of(model, kind), true, layer_graph(job, kind)));
      known = kinds.end() - 1;
    }
    pieces.append(known->second);
  }
  if (model.prediction_layers > 0) {
    const LayerKind last = kind_of_layer(model, model.layers - 1);
    pieces.append(pieces.kind("prediction", true, prediction_graph(job, last)), model.prediction_layers);
  }
  pieces.append(pieces.kind("head", false, model.vision ? class_graph(job) : head_graph(job)));
  return pieces.take();
}

ModelProgram encoder_and_decoder(const Job& job) {
  Sequence pieces;
  pieces.append(pieces.kind("embedding", false, embedding_graph(job)));
  pieces.append(pieces.kind("encoder layer", true, encoder_layer_graph(job)), job.model.layers);
  pieces.append(pieces.kind("joint", false, joint_graph(job)));
  pieces.append(pieces.kind("decoder layer", true, decoder_layer_graph(job)), job.model.decoder->layers);
  pieces.append(pieces.kind("head", false, decoder_head_graph(job)));
  return pieces.take();
}

template <typename Weigh>
double sum_of_parameters(const ModelProgram& program, Weigh&& weigh) {
  double count = 0;
  for (int part : program.sequence) {
    for (const Tensor& tensor : program.parts[static_cast<std::size_t>(part)].graph.tensors) {
      if (is_parameter(tensor) && !tensor.shared) count += elements(tensor) * weigh(tensor);
    }
  }
  return count;
}

// A matrix of experts that tokens are sent to.
bool of_experts(const Tensor& tensor) {
  return !tensor.dims.empty() && tensor.dims.front().logical == "param_experts";
}

// Layers whose times were measured, as pieces without operations.
ModelProgram measured_program(const Job& job) {
  ModelProgram program;
  for (const MeasuredLayer& layer : job.measured->layers) {
    program.sequence.insert(program.sequence.end(), static_cast<std::size_t>(layer.count),
                            static_cast<int>(program.parts.size()));
    program.parts.push_back({layer.name, true, {}});
  }
  return program;
}

}  // namespace

ModelProgram model_program(const Job& job) {
  ModelProgram program = job.measured        ? measured_program(job)
                         : job.program       ? program_graphs(job).model
                         : job.model.decoder ? encoder_and_decoder(job)
                                             : stack_of_layers(job);
  if (job.adapters)
    for (ModelPart& part : program.parts) freeze_and_adapt(*job.adapters, part.layer, part.graph);
  annotate(job.mesh, job.annotations, "annotation", program);
  return program;
}

double parameter_count(const ModelProgram& program) {
  return sum_of_parameters(program, [](const Tensor&) { return 1.0; });
}

double trained_parameters(const ModelProgram& program) {
  return sum_of_parameters(program, [](const Tensor& tensor) { return tensor.frozen ? 0.0 : 1.0; });
}

double expert_parameters(const ModelProgram& program) {
  return sum_of_parameters(program, [](const Tensor& tensor) { return of_experts(tensor) ? 1.0 : 0.0; });
}

double active_parameters(const Job& job, const ModelProgram& program) {
  if (!job.model.experts) return parameter_count(program);
  const double share = static_cast<double>(job.model.experts->experts_per_token) / job.model.experts->experts;
  return sum_of_parameters(program, [&](const Tensor& tensor) { return of_experts(tensor) ? share : 1.0; });
}

}  // namespace podsim
