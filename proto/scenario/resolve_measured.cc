// Measured layers of a job: units, and what they leave without meaning.
#include <algorithm>
#include <cstdint>

#include "engine/spelling.h"
#include "proto/measured.pb.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/job_resolver.h"

namespace podsim {
namespace {

LayerCollective to_collective(const schema::LayerCollective& from) {
  static_assert(schema::LayerCollective::all_reduce - 1 == int(CollectiveKind::kAllReduce) &&
                schema::LayerCollective::broadcast - 1 == int(CollectiveKind::kBroadcast));
  if (!from.has_bytes()) return {};
  return {static_cast<CollectiveKind>(from.kind() - 1),
          {from.axis().begin(), from.axis().end()},
          Bytes{from.bytes()}};
}

MeasuredLayer to_layer(const schema::MeasuredLayer& from) {
  MeasuredLayer layer;
  layer.name = from.name();
  if (from.has_count()) layer.count = from.count();
  layer.forward = Time::microseconds(from.forward_us());
  layer.input_gradient = Time::microseconds(from.input_gradient_us());
  layer.weight_gradient = Time::microseconds(from.weight_gradient_us());
  layer.update = Time::microseconds(from.update_us());
  layer.forward_collective = to_collective(from.forward_collective());
  layer.input_gradient_collective = to_collective(from.input_gradient_collective());
  layer.weight_gradient_collective = to_collective(from.weight_gradient_collective());
  layer.output = Bytes{from.output_bytes()};
  return layer;
}

bool takes_time(const MeasuredLayer& layer) {
  return layer.forward + layer.input_gradient + layer.weight_gradient + layer.update > Time{} ||
         layer.forward_collective.bytes.value + layer.input_gradient_collective.bytes.value +
                 layer.weight_gradient_collective.bytes.value >
             0;
}

// Fields of a job that speak of operations of a model, which measured layers do not have.
constexpr const char* kOfOperations[] = {
    "model",          "model_override",    "program",  "annotation",        "partitioner",
    "precision",      "gemm_precision",    "adapters", "recompute",         "recompute_policy",
    "keep",           "recompute_modules", "offload",  "offload_optimizer", "recompute_layers",
    "recompute_every"};

}  // namespace

void JobResolver::measured_layers() {
  const schema::MeasuredLayers& from = choice_.measured_layers();
  const auto* reflection = choice_.GetReflection();
  for (const char* name : kOfOperations) {
    const auto* field = choice_.GetDescriptor()->FindFieldByName(name);
    const bool there = field->is_repeated() ? reflection->FieldSize(choice_, field) > 0
                                            : reflection->HasField(choice_, field);
    if (there)
      document_.report(at(name), "measured layers have no operations for which " + at(name) + " could count",
                       "remove one of them");
  }
  MeasuredLayers& measured = job_.measured.emplace();
  measured.name = from.has_name() ? from.name() : "measured layers";
  for (const schema::MeasuredLayer& layer : from.layer()) measured.layers.push_back(to_layer(layer));
  measured.update = Time::microseconds(from.update_us());
  measured.model_flops_per_token = Flops{from.model_gflop_per_token() * 1e9};
  job_.model.name = measured.name;
}

// REQUIRES: the mesh is known.
void JobResolver::check_measured() {
  if (!job_.measured) return;
  std::vector<std::string> axes;
  for (const MeshAxis& axis : job_.mesh.axes)
    if (axis.name != job_.pipeline_axis) axes.push_back(axis.name);
  const auto check = [&](const std::string& field, const schema::LayerCollective& collective) {
    for (int i = 0; i < collective.axis_size(); ++i) {
      const std::string& name = collective.axis(i);
      if (std::find(axes.begin(), axes.end(), name) != axes.end()) continue;
      const bool stages = name == job_.pipeline_axis;
      document_.report(at(field + ".axis[" + std::to_string(i) + "]"),
                       stages ? "mesh axis \"" + name + "\" holds the pipeline stages"
                              : "the mesh has no axis \"" + name + "\"",
                       suggest(name, axes, "layers can send along"));
    }
  };
  std::int64_t layers = 0;
  for (int i = 0; i < choice_.measured_layers().layer_size(); ++i) {
    const schema::MeasuredLayer& layer = choice_.measured_layers().layer(i);
    const std::string field = "measured_layers.layer[" + std::to_string(i) + "].";
    check(field + "forward_collective", layer.forward_collective());
    check(field + "input_gradient_collective", layer.input_gradient_collective());
    check(field + "weight_gradient_collective", layer.weight_gradient_collective());
    layers += job_.measured->layers[static_cast<std::size_t>(i)].count;
  }
  if (layers > kMostMeasuredLayers)
    document_.report(at("measured_layers"), std::to_string(layers) + " measured layers; at most " +
                                                std::to_string(kMostMeasuredLayers) + " are possible");
  else if (job_.measured->update == Time{} && std::ranges::none_of(job_.measured->layers, takes_time))
    document_.report(at("measured_layers"), "the measured layers take no time",
                     "write, for example, layer { name: \"block\" forward_us: 850 }");
}

}  // namespace podsim
