// JSON of plans: axes by name, dimensions by number, bytes of one execution on one device.
#include "proto/writing/write_shard_plans.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "proto/writing/result_json.h"

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

Json axes_json(const Mesh& mesh, const AxisList& axes) {
  Json list = Json::array();
  for (const AxisRef& ref : axes) list.push_back(to_string(mesh, ref));
  return list;
}

Json sharding_json(const Mesh& mesh, const Layout& layout) {
  Json list = Json::array();
  for (const AxisList& dim : layout.dims) list.push_back(axes_json(mesh, dim));
  return list;
}

// One dimension as a number, several as a list.
Json dims_json(const std::vector<int>& dims) { return dims.size() == 1 ? Json(dims[0]) : Json(dims); }

// Whole numbers as such, as long as they are exact.
Json count_json(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  return std::abs(value) <= kExact ? Json(std::llround(value)) : Json(value);
}

Json step_json(const Mesh& mesh, const CaseStep& named) {
  const PlanStep& step = named.step;
  Json json = {{"op", step_name(step.kind)}, {"tensor", named.tensor}};
  if (step.kind != StepKind::kCompute) json["axes"] = axes_json(mesh, step.axes);
  if (!step.from_dims.empty()) json["from_dim"] = dims_json(step.from_dims);
  if (!step.to_dims.empty()) json["to_dim"] = dims_json(step.to_dims);
  if (step.kind == StepKind::kHalo) {
    json["dim"] = step.halo_dim;
    json["halo"] = step.halo_left ? "left" : "right";
    json["width"] = step.halo_width;
    if (step.halo_distance > 1) json["distance"] = step.halo_distance;
  }
  json["sharding_after"] = sharding_json(mesh, step.after);
  json["unreduced_after"] = axes_json(mesh, step.after.unreduced);
  json["count"] = step.count;
  if (step.kind != StepKind::kCompute) {
    json["operand_bytes"] = whole_bytes(step.operand);
    json["result_bytes"] = whole_bytes(step.result);
  }
  json["send_bytes"] = whole_bytes(step.sent);
  return json;
}

// The head of a case up to its steps, and the rest, without the braces around them.
std::string without_braces(const Json& object) {
  const std::string text = object.dump();
  return text.substr(1, text.size() - 2);
}

std::string case_text(const PlannedCase& planned) {
  const CasePlan& plan = planned.plan;
  const Mesh& mesh = planned.question.mesh;
  Json head = {{"id", planned.question.id}};
  if (!plan.error.empty()) {
    head["error"] = plan.error;
    return "{" + without_braces(head) + ",\"steps\":[]}";
  }
  Json tail = Json::object();
  if (!plan.propagated.empty()) {
    tail["propagated"] = Json::array();
    for (const Annotation& annotation : plan.propagated)
      tail["propagated"].push_back(to_string(mesh, annotation));
  }
  tail["flops_per_device"] = count_json(plan.flops);
  tail["send_bytes"] = sent_in_all(plan);
  if (planned.seconds) tail["time_s"] = *planned.seconds;
  std::string text = "{" + without_braces(head) + ",\"steps\":[";
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    text += (s > 0 ? ",\n  " : "\n  ") + step_json(mesh, plan.steps[s]).dump();
  return text + "],\n " + without_braces(tail) + "}";
}

}  // namespace

std::string step_name(StepKind kind) {
  switch (kind) {
    case StepKind::kSlice:
      return "slice";
    case StepKind::kPermute:
    case StepKind::kHalo:
      return "collective_permute";
    case StepKind::kAllToAll:
      return "all_to_all";
    case StepKind::kAllGather:
      return "all_gather";
    case StepKind::kReduceScatter:
      return "reduce_scatter";
    case StepKind::kAllReduce:
      return "all_reduce";
    case StepKind::kCompute:
      return "compute";
  }
  return "";
}

std::string write_shard_plans(const std::vector<PlannedCase>& cases, const std::string& scenario_sha256) {
  std::string text =
      "{" + without_braces(result_json<nlohmann::ordered_json>(scenario_sha256)) + ",\n\"cases\":[";
  for (std::size_t c = 0; c < cases.size(); ++c) text += (c > 0 ? ",\n" : "\n") + case_text(cases[c]);
  return text + "\n]}\n";
}

}  // namespace podsim
