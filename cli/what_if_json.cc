// The keys of what-if figures, those of data ranks, stages and steps as objects by number.
#include "cli/what_if_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "proto/writing/result_json.h"

namespace podsim {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_none(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// By training step.
Json by_step(const WhatIf& result, const std::vector<double>& values) {
  Json json = Json::object();
  for (std::size_t s = 0; s < values.size(); ++s) json[std::to_string(result.steps[s])] = values[s];
  return json;
}

struct Keyed {
  std::string key;
  const Slowdown* slowdown;
};

Json means(const std::vector<Keyed>& slowdowns) {
  Json json = Json::object();
  for (const Keyed& one : slowdowns) json[one.key] = one.slowdown->mean;
  return json;
}

Json per_step(const WhatIf& result, const std::vector<Keyed>& slowdowns) {
  Json json = Json::object();
  for (std::size_t s = 0; s < result.steps.size(); ++s) {
    Json& of_step = json[std::to_string(result.steps[s])] = Json::object();
    for (const Keyed& one : slowdowns) of_step[one.key] = one.slowdown->per_step[s];
  }
  return json;
}

std::vector<Keyed> numbered(const std::vector<Slowdown>& slowdowns) {
  std::vector<Keyed> keyed;
  for (std::size_t i = 0; i < slowdowns.size(); ++i) keyed.push_back({std::to_string(i), &slowdowns[i]});
  return keyed;
}

Json worker_json(const Worker& worker) {
  return {{"data_rank", worker.data_rank},
          {"stage", worker.stage},
          {"rank", worker.global_rank},
          {"alike", worker.alike}};
}

Json repair_json(const Repair& repair) {
  return {{"repaired_step_s", repair.repaired_s},
          {"alone_step_s", repair.alone_s},
          {"gained", number_or_none(repair.gained)},
          {"caused", number_or_none(repair.caused)}};
}

void add_decompositions(const WhatIf& result, Json& json) {
  std::vector<Keyed> types;
  for (const TypeSlowdown& type : result.by_type) types.push_back({type.type, &type.slowdown});
  const auto ranks = numbered(result.by_data_rank), stages = numbered(result.by_stage);
  json["S_by_optype"] = means(types);
  json["S_by_dp_rank"] = means(ranks);
  json["S_by_stage"] = means(stages);
  Json& workers = json["S_by_worker"] = Json::object();
  for (std::size_t w = 0; w < result.workers.size(); ++w)
    workers[std::to_string(result.workers[w].data_rank)][std::to_string(result.workers[w].stage)] =
        result.by_worker[w];
  json["S_by_optype_per_step"] = per_step(result, types);
  json["S_by_dp_rank_per_step"] = per_step(result, ranks);
  json["S_by_stage_per_step"] = per_step(result, stages);
}

}  // namespace

std::string what_if_json(const WhatIf& result, const std::string& trace_sha256) {
  Json json = result_json<nlohmann::ordered_json>(trace_sha256);
  json.update({{"S", result.S.mean},
               {"waste", result.waste},
               {"M_W", number_or_none(result.few_workers.gained)},
               {"M_S", number_or_none(result.last_stage.gained)},
               {"T_s", result.T_s},
               {"T_ideal_s", result.T_ideal_s},
               {"launch_slowdown", result.launch.mean},
               {"length_correlation", number_or_none(result.length_correlation)},
               {"likely_cause", result.likely_cause}});
  json["notes"] = result.notes;
  json["culprits"] = Json::array();
  for (const Culprit& culprit : result.culprits) {
    Json one = worker_json(culprit.worker);
    one["S"] = culprit.slowdown;
    json["culprits"].push_back(std::move(one));
  }
  json["waits"] = Json::array();
  for (const WaitedFor& wait : result.waits)
    json["waits"].push_back({{"waiter", worker_json(wait.waiter)},
                             {"last", worker_json(wait.last)},
                             {"per_step_s", wait.per_step_s}});
  json["few_workers"] = repair_json(result.few_workers);
  json["few_workers"]["workers"] = Json::array();
  for (const Worker& worker : result.few) json["few_workers"]["workers"].push_back(worker_json(worker));
  json["last_stage"] = repair_json(result.last_stage);
  json["step_time_s"] = by_step(result, result.traced_s);
  json["recorded_step_time_s"] = by_step(result, result.recorded_s);
  json["S_per_step"] = by_step(result, result.S.per_step);
  json["launch_slowdown_per_step"] = by_step(result, result.launch.per_step);
  add_decompositions(result, json);
  return json.dump(2) + "\n";
}

}  // namespace podsim
