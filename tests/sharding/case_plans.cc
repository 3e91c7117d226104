// Reads the JSON of plans.
#include "tests/sharding/case_plans.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace podsim::testing {
namespace {

using nlohmann::json;

StepKind kind_of(const std::string& op, bool halo) {
  if (op == "slice") return StepKind::kSlice;
  if (op == "collective_permute") return halo ? StepKind::kHalo : StepKind::kPermute;
  if (op == "all_to_all") return StepKind::kAllToAll;
  if (op == "all_gather") return StepKind::kAllGather;
  if (op == "reduce_scatter") return StepKind::kReduceScatter;
  if (op == "all_reduce") return StepKind::kAllReduce;
  if (op == "compute") return StepKind::kCompute;
  throw std::runtime_error("unknown step " + op);
}

std::vector<int> read_dims(const json& step, const char* key) {
  if (!step.contains(key)) return {};
  if (step[key].is_number()) return {step[key].get<int>()};
  return step[key].get<std::vector<int>>();
}

ReadStep read_step(const Mesh& mesh, const json& written) {
  ReadStep read;
  read.tensor = written.at("tensor").get<std::string>();
  PlanStep& step = read.step;
  step.kind = kind_of(written.at("op").get<std::string>(), written.contains("halo"));
  step.after = read_layout(mesh, written.at("sharding_after"), written.at("unreduced_after"));
  step.count = written.at("count").get<int>();
  step.from_dims = read_dims(written, "from_dim");
  step.to_dims = read_dims(written, "to_dim");
  if (step.kind == StepKind::kCompute) return read;
  step.axes = read_axes(mesh, written.at("axes"));
  read.axes = written.at("axes").get<std::vector<std::string>>();
  step.operand = Bytes{written.at("operand_bytes").get<double>()};
  step.result = Bytes{written.at("result_bytes").get<double>()};
  step.sent = Bytes{written.at("send_bytes").get<double>()};
  if (step.kind == StepKind::kHalo) {
    step.halo_dim = written.at("dim").get<int>();
    step.halo_left = written.at("halo").get<std::string>() == "left";
    step.halo_width = written.at("width").get<std::int64_t>();
    step.halo_distance = written.value("distance", 1);
  }
  return read;
}

}  // namespace

AxisList read_axes(const Mesh& mesh, const std::vector<std::string>& list) {
  AxisList axes;
  for (const std::string& text : list) {
    const std::size_t colon = text.find(':');
    AxisRef ref = whole_axis(mesh, mesh.find(text.substr(0, colon)));
    if (colon != std::string::npos) {
      const std::size_t close = text.find(')');
      ref.pre = std::stoi(text.substr(colon + 2, close - colon - 2));
      ref.size = std::stoi(text.substr(close + 1));
    }
    axes.push_back(ref);
  }
  return axes;
}

Layout read_layout(const Mesh& mesh, const std::vector<std::vector<std::string>>& sharding,
                   const std::vector<std::string>& unreduced) {
  Layout layout;
  for (const std::vector<std::string>& dim : sharding) layout.dims.push_back(merged(read_axes(mesh, dim)));
  layout.unreduced = canonical(read_axes(mesh, unreduced));
  return layout;
}

std::map<std::string, ReadPlan> read_plans(const std::string& text,
                                           const std::map<std::string, Mesh>& meshes) {
  std::map<std::string, ReadPlan> plans;
  const json file = json::parse(text);
  for (const json& written : file.at("cases")) {
    const auto id = written.at("id").get<std::string>();
    ReadPlan& plan = plans[id];
    plan.error = written.value("error", "");
    for (const json& step : written.at("steps")) plan.steps.push_back(read_step(meshes.at(id), step));
    if (!plan.error.empty()) continue;
    plan.propagated = written.value("propagated", std::vector<std::string>{});
    plan.flops = written.at("flops_per_device").get<double>();
    plan.sent = written.at("send_bytes").get<double>();
  }
  return plans;
}

}  // namespace podsim::testing
