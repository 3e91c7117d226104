// A report as JSON. Written by hand because every picosecond of a time must show, which no JSON library
// offers.
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "proto/write.h"
#include "report/result_header.h"
#include "report/text.h"

namespace podsim {
namespace {

// A string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number(double value) { return std::isfinite(value) ? shortest(value) : "null"; }

// Indented JSON, key by key. An empty key is for array elements.
class JsonText {
 public:
  void open(const std::string& key, char bracket) {
    begin(key);
    text_ += bracket;
    closing_.push_back(bracket == '{' ? '}' : ']');
    first_ = true;
  }
  void close() {
    const char bracket = closing_.back();
    closing_.pop_back();
    if (!first_) new_line();
    text_ += bracket;
    first_ = false;
  }
  void raw(const std::string& key, const std::string& value) {
    begin(key);
    text_ += value;
  }
  void add(const std::string& key, const std::string& value) { raw(key, quoted(value)); }
  void add(const std::string& key, double value) { raw(key, number(value)); }
  void add(const std::string& key, Time value) { raw(key, exact_seconds(value)); }
  void add(const std::string& key, bool value) { raw(key, value ? "true" : "false"); }
  void add_whole(const std::string& key, std::int64_t value) { raw(key, std::to_string(value)); }
  void add(const std::string& key, const std::vector<std::string>& values) {
    open(key, '[');
    for (const std::string& value : values) add("", value);
    close();
  }
  std::string finish() { return std::move(text_) + "\n"; }

 private:
  void begin(const std::string& key) {
    if (!first_) text_ += ',';
    if (!closing_.empty()) new_line();
    first_ = false;
    if (!key.empty()) text_ += quoted(key) + ": ";
  }
  void new_line() { text_ += "\n" + std::string(2 * closing_.size(), ' '); }

  std::string text_, closing_;
  bool first_ = true;
};

void add_header(JsonText& json, const std::string& scenario_sha256) {
  const ResultHeader header = result_header(scenario_sha256);
  json.add("podsim", header.podsim);
  json.add_whole("schema", header.schema);
  if (!header.scenario_sha256.empty()) json.add("scenario_sha256", header.scenario_sha256);
}

void add_question(JsonText& json, const Report& report) {
  json.add("scenario", report.scenario);
  json.add("question", report.question);
  json.add("chip", report.chip);
  json.add_whole("chips", report.chips);
  json.add("fabric", report.fabric);
  json.add("model", report.model);
  json.add("stack", report.stack);
  json.raw("seed", std::to_string(report.seed));
  json.add_whole("steps", report.steps);
}

// `low` and `high` are keys; null where the seeds are too few.
void add_interval(JsonText& json, const std::string& low, const std::string& high,
                  const std::optional<ConfidenceInterval>& interval) {
  json.raw(low, interval ? exact_seconds(interval->low) : "null");
  json.raw(high, interval ? exact_seconds(interval->high) : "null");
}

void add_ensemble(JsonText& json, const EnsembleReport& ensemble) {
  json.open("ensemble", '{');
  json.add_whole("seeds", ensemble.seeds);
  json.add("step_time_min_s", ensemble.shortest);
  json.add("step_time_max_s", ensemble.longest);
  json.add("step_time_standard_deviation_s", ensemble.standard_deviation);
  json.add("step_time_coefficient_of_variation", ensemble.coefficient_of_variation);
  add_interval(json, "mean_low_s", "mean_high_s", ensemble.mean);
  add_interval(json, "p50_low_s", "p50_high_s", ensemble.p50);
  add_interval(json, "p99_low_s", "p99_high_s", ensemble.p99);
  json.close();
}

void add_times(JsonText& json, const Report& report) {
  json.add("step_time_s", report.step_time);
  json.add("step_time_p50_s", report.step_time_p50);
  json.add("step_time_p99_s", report.step_time_p99);
  const StepTimeBand band = report.band.value_or(StepTimeBand{});
  json.raw("step_time_low_s", report.band ? exact_seconds(band.low) : "null");
  json.raw("step_time_high_s", report.band ? exact_seconds(band.high) : "null");
  json.add("step_time_band", band.kind);
  json.add_whole("step_time_band_rows", band.rows);
  if (report.ensemble) add_ensemble(json, *report.ensemble);
  json.add("compute_s", report.compute);
  json.open("exposed_communication_s", '{');
  json.add("total", report.exposed_communication);
  json.open("by", '[');
  for (const ExposedCommunication& exposed : report.exposed) {
    json.open("", '{');
    json.add("axes", exposed.axes);
    json.add("kind", exposed.kind);
    json.add("time_s", exposed.time);
    json.close();
  }
  json.close();
  json.close();
  json.add("pipeline_bubble_s", report.pipeline_bubble);
  json.add("straggler_delay_s", report.straggler_delay);
  json.add("optimizer_s", report.optimizer);
  json.add("input_stall_s", report.input_stall);
  json.add("offload_wait_s", report.offload_wait);
  json.add("skew_wait_s", report.skew_wait);
  json.add("evaluation_s", report.evaluation);
}

void add_rates(JsonText& json, const Report& report) {
  json.add("model_flops_per_token_causal", report.model_flops_per_token_causal);
  json.add("model_flops_per_token_full", report.model_flops_per_token_full);
  json.add("mfu_causal", report.mfu_causal);
  json.add("mfu_full", report.mfu_full);
  json.add("hfu_full", report.hfu_full);
  json.add("mfu_bf16_full", report.mfu_bf16_full);
  json.add("tokens_per_step", report.tokens_per_step);
  json.add("tokens_per_s", report.tokens_per_s);
  json.add("tokens_per_s_per_chip", report.tokens_per_s_per_chip);
  json.add("parameters", report.parameters);
}

void add_memory_parts(JsonText& json, const MemoryParts& memory) {
  json.add("weights", memory.weights);
  json.add("gradients", memory.gradients);
  json.add("optimizer", memory.optimizer);
  json.add("activations", memory.activations);
  json.add("logits", memory.logits);
  json.add("buffers", memory.buffers);
  json.add("fragmentation", memory.fragmentation);
}

void add_memory(JsonText& json, const MemoryReport& memory) {
  json.open("memory_per_chip_gib", '{');
  json.add("total", memory.total);
  json.add("capacity", memory.capacity);
  add_memory_parts(json, memory);
  json.close();
  json.open("memory_by_stage_gib", '[');
  for (const MemoryParts& stage : memory.stages) {
    json.open("", '{');
    json.add("total", stage.total);
    add_memory_parts(json, stage);
    json.close();
  }
  json.close();
  json.add_whole("memory_worst_stage", memory.worst_stage);
  json.add("fits", memory.fits);
  json.open("memory_advice", '[');
  for (const MemoryChange& change : memory.advice) {
    json.open("", '{');
    json.add("change", change.change);
    json.add("total_gib", change.total);
    json.add("step_time_s", change.step_time);
    json.add("fits", change.fits);
    json.close();
  }
  json.close();
}

void add_costs(JsonText& json, const Report& report) {
  json.add("cost_usd_per_million_tokens", report.cost_usd_per_million_tokens);
  json.add("cost_usd_per_hour", report.cost_usd_per_hour);
  json.add("price", report.price);
  json.add("energy_j_per_token", report.energy_j_per_token);
  json.add("power_kw", report.power_kw);
}

void add_slow_entries(JsonText& json, const Report& report) {
  if (report.slow_entries.empty()) return;
  json.open("slow_entries", '[');
  for (const SlowEntry& entry : report.slow_entries) {
    json.open("", '{');
    json.add("what", entry.what);
    json.add_whole("parts", entry.parts);
    json.add_whole("chips", entry.chips);
    json.add_whole("links", entry.links);
    if (entry.flap) {
      json.add("stood_still_s", entry.flap->stood_still);
      json.add("library_timeout_s", entry.flap->library_timeout);
      json.add("restart", entry.flap->restart());
    }
    json.close();
  }
  json.close();
}

void add_or_null(JsonText& json, const std::string& key, const std::optional<double>& value) {
  value ? json.add(key, *value) : json.raw(key, "null");
}

// The keys of podsim replay.
void add_what_if(JsonText& json, const WhatIf& result) {
  json.open("what_if", '{');
  json.add("S", result.S.mean);
  json.add("waste", result.waste);
  add_or_null(json, "M_W", result.few_workers.gained);
  add_or_null(json, "M_S", result.last_stage.gained);
  json.add("T_s", result.T_s);
  json.add("T_ideal_s", result.T_ideal_s);
  json.add("likely_cause", result.likely_cause);
  json.open("S_by_optype", '{');
  for (const TypeSlowdown& type : result.by_type) json.add(type.type, type.slowdown.mean);
  json.close();
  json.open("S_by_dp_rank", '{');
  for (int row = 0; row < result.data_ranks(); ++row)
    json.add(std::to_string(result.rank_number(row)), result.by_data_rank[row].mean);
  json.close();
  json.open("dp_ranks_alike", '{');
  for (int row = 0; row < result.data_ranks(); ++row)
    json.add_whole(std::to_string(result.rank_number(row)), result.ranks_alike[row]);
  json.close();
  json.open("S_by_stage", '{');
  for (int stage = 0; stage < result.stages(); ++stage)
    json.add(std::to_string(stage), result.by_stage[stage].mean);
  json.close();
  json.open("culprits", '[');
  for (const Culprit& culprit : result.culprits) {
    json.open("", '{');
    json.add_whole("data_rank", culprit.worker.data_rank);
    json.add_whole("stage", culprit.worker.stage);
    json.add_whole("rank", culprit.worker.global_rank);
    json.add_whole("alike", culprit.worker.alike);
    json.add("S", culprit.slowdown);
    json.close();
  }
  json.close();
  json.close();
}

void add_network(JsonText& json, const Report& report) {
  json.open("link_utilisation", '{');
  for (const LinkUse& use : report.link_use) {
    json.open(use.kind, '{');
    json.add("mean", use.mean_utilisation);
    json.add("max", use.max_utilisation);
    json.close();
  }
  json.close();
  json.open("fault_costs", '[');
  for (const FaultCost& fault : report.fault_costs) {
    json.open("", '{');
    json.add("what", fault.what);
    json.add("cost_s", fault.cost);
    json.close();
  }
  json.close();
  add_slow_entries(json, report);
  json.open("slow_parties", '[');
  for (const SlowParty& party : report.slow_parties) {
    json.open("", '{');
    json.add("who", party.who);
    json.add("caused_chip_s", party.caused_chip_s);
    json.add("waited_chip_s", party.waited_chip_s);
    json.close();
  }
  json.close();
  if (report.verdict) {
    json.open("verdict", '{');
    json.add("S", report.verdict->slowdown);
    json.add("cause", report.verdict->cause);
    json.add("share", report.verdict->share);
    json.add("replay", report.verdict->replay);
    json.close();
  }
  if (report.what_if) add_what_if(json, *report.what_if);
  json.add("algorithms", report.algorithms);
  json.add_whole("chip_classes", report.chip_classes);
  json.add_whole("group_classes", report.group_classes);
  json.add_whole("link_classes", report.link_classes);
  json.add_whole("events", report.events);
  json.add_whole("periods_skipped", report.periods_skipped);
}

void add_figures(JsonText& json, const Report& report) {
  add_question(json, report);
  add_times(json, report);
  add_rates(json, report);
  add_memory(json, report.memory);
  add_costs(json, report);
  add_network(json, report);
}

void add_report(JsonText& json, const std::string& key, const Report& report) {
  json.open(key, '{');
  add_figures(json, report);
  json.close();
}

void add_job(JsonText& json, const JobReport& job) {
  json.open("", '{');
  json.add("name", job.name);
  json.add_whole("first_chip", job.first_chip);
  json.add_whole("chips", job.alone.chips);
  json.add("step_time_alone_s", job.alone.step_time);
  json.add("step_time_together_s", job.together.step_time);
  json.add("slowdown", job.slowdown());
  json.add("exposed_communication_alone_s", job.alone.exposed_communication);
  json.add("exposed_communication_together_s", job.together.exposed_communication);
  add_report(json, "alone", job.alone);
  add_report(json, "together", job.together);
  json.close();
}

}  // namespace

std::string report_json(const Report& report) {
  JsonText json;
  json.open("", '{');
  add_header(json, report.scenario_sha256);
  add_figures(json, report);
  json.close();
  return json.finish();
}

std::string report_json(const JobsReport& report) {
  JsonText json;
  json.open("", '{');
  add_header(json, report.scenario_sha256);
  json.add("scenario", report.scenario);
  json.add("question", report.question);
  json.add("chip", report.chip);
  json.add_whole("chips", report.chips);
  json.add("fabric", report.fabric);
  json.raw("seed", std::to_string(report.seed));
  json.open("jobs", '[');
  for (const JobReport& job : report.jobs) add_job(json, job);
  json.close();
  json.close();
  return json.finish();
}

}  // namespace podsim
