// A report as text format of proto/report.proto.
#include <google/protobuf/text_format.h>

#include "proto/report.pb.h"
#include "proto/write.h"
#include "report/result_header.h"

namespace podsim {
namespace {

void set_question(const Report& report, schema::RunReport& out) {
  out.set_scenario(report.scenario);
  out.set_question(report.question);
  out.set_chip(report.chip);
  out.set_chips(report.chips);
  out.set_fabric(report.fabric);
  out.set_model(report.model);
  out.set_stack(report.stack);
  out.set_seed(report.seed);
  out.set_steps(report.steps);
}

void set_ensemble(const EnsembleReport& ensemble, schema::EnsembleEntry& out) {
  out.set_seeds(ensemble.seeds);
  out.set_step_time_min_ps(ensemble.shortest.ps);
  out.set_step_time_max_ps(ensemble.longest.ps);
  out.set_step_time_standard_deviation_ps(ensemble.standard_deviation.ps);
  out.set_step_time_coefficient_of_variation(ensemble.coefficient_of_variation);
  out.set_mean_low_ps(ensemble.mean.low.ps);
  out.set_mean_high_ps(ensemble.mean.high.ps);
  if (ensemble.p50) {
    out.set_p50_low_ps(ensemble.p50->low.ps);
    out.set_p50_high_ps(ensemble.p50->high.ps);
  }
  if (ensemble.p99) {
    out.set_p99_low_ps(ensemble.p99->low.ps);
    out.set_p99_high_ps(ensemble.p99->high.ps);
  }
}

void set_times(const Report& report, schema::RunReport& out) {
  out.set_step_time_ps(report.step_time.ps);
  out.set_step_time_p50_ps(report.step_time_p50.ps);
  out.set_step_time_p99_ps(report.step_time_p99.ps);
  if (report.band) {
    out.set_step_time_low_ps(report.band->low.ps);
    out.set_step_time_high_ps(report.band->high.ps);
    out.set_step_time_band(report.band->kind);
    out.set_step_time_band_rows(report.band->rows);
  }
  if (report.ensemble) set_ensemble(*report.ensemble, *out.mutable_ensemble());
  out.set_compute_ps(report.compute.ps);
  out.set_exposed_communication_ps(report.exposed_communication.ps);
  for (const ExposedCommunication& exposed : report.exposed) {
    auto* entry = out.add_exposed();
    entry->set_axes(exposed.axes);
    entry->set_kind(exposed.kind);
    entry->set_time_ps(exposed.time.ps);
  }
  out.set_pipeline_bubble_ps(report.pipeline_bubble.ps);
  out.set_straggler_delay_ps(report.straggler_delay.ps);
  out.set_optimizer_ps(report.optimizer.ps);
  out.set_input_stall_ps(report.input_stall.ps);
  out.set_offload_wait_ps(report.offload_wait.ps);
  out.set_skew_wait_ps(report.skew_wait.ps);
  if (report.evaluation.ps > 0) out.set_evaluation_ps(report.evaluation.ps);
}

void set_rates(const Report& report, schema::RunReport& out) {
  out.set_model_flops_per_token_causal(report.model_flops_per_token_causal);
  out.set_model_flops_per_token_full(report.model_flops_per_token_full);
  out.set_mfu_causal(report.mfu_causal);
  out.set_mfu_full(report.mfu_full);
  out.set_hfu_full(report.hfu_full);
  out.set_mfu_bf16_full(report.mfu_bf16_full);
  out.set_tokens_per_step(report.tokens_per_step);
  out.set_tokens_per_s(report.tokens_per_s);
  out.set_tokens_per_s_per_chip(report.tokens_per_s_per_chip);
  out.set_parameters(report.parameters);
}

void set_memory(const MemoryReport& memory, schema::RunReport& out) {
  auto* entry = out.mutable_memory();
  entry->set_weights_gib(memory.weights);
  entry->set_gradients_gib(memory.gradients);
  entry->set_optimizer_gib(memory.optimizer);
  entry->set_activations_gib(memory.activations);
  entry->set_logits_gib(memory.logits);
  entry->set_buffers_gib(memory.buffers);
  entry->set_fragmentation_gib(memory.fragmentation);
  entry->set_total_gib(memory.total);
  entry->set_capacity_gib(memory.capacity);
  entry->set_worst_stage(memory.worst_stage);
  for (const MemoryParts& parts : memory.stages) {
    auto* stage = entry->add_stage();
    stage->set_weights_gib(parts.weights);
    stage->set_gradients_gib(parts.gradients);
    stage->set_optimizer_gib(parts.optimizer);
    stage->set_activations_gib(parts.activations);
    stage->set_logits_gib(parts.logits);
    stage->set_buffers_gib(parts.buffers);
    stage->set_fragmentation_gib(parts.fragmentation);
    stage->set_total_gib(parts.total);
  }
  for (const MemoryChange& change : memory.advice) {
    auto* advice = entry->add_advice();
    advice->set_change(change.change);
    advice->set_total_gib(change.total);
    advice->set_step_time_ps(change.step_time.ps);
    advice->set_fits(change.fits);
  }
  out.set_fits(memory.fits);
}

void set_costs(const Report& report, schema::RunReport& out) {
  out.set_cost_usd_per_hour(report.cost_usd_per_hour);
  out.set_cost_usd_per_million_tokens(report.cost_usd_per_million_tokens);
  out.set_price(report.price);
  out.set_power_kw(report.power_kw);
  out.set_energy_j_per_token(report.energy_j_per_token);
}

void set_what_if(const WhatIf& from, schema::WhatIfEntry& out) {
  out.set_slowdown(from.S.mean);
  out.set_waste(from.waste);
  if (from.few_workers.gained) out.set_few_workers_gain(*from.few_workers.gained);
  if (from.last_stage.gained) out.set_last_stage_gain(*from.last_stage.gained);
  out.set_step_s(from.T_s);
  out.set_ideal_step_s(from.T_ideal_s);
  for (const TypeSlowdown& type : from.by_type) {
    auto* entry = out.add_by_optype();
    entry->set_optype(type.type);
    entry->set_slowdown(type.slowdown.mean);
  }
  for (int row = 0; row < from.data_ranks(); ++row) {
    auto* entry = out.add_by_data_rank();
    entry->set_data_rank(from.rank_number(row));
    entry->set_alike(from.ranks_alike[row]);
    entry->set_slowdown(from.by_data_rank[row].mean);
  }
  for (const Slowdown& stage : from.by_stage) out.add_by_stage(stage.mean);
  for (const Culprit& culprit : from.culprits) {
    auto* entry = out.add_culprits();
    entry->set_data_rank(culprit.worker.data_rank);
    entry->set_stage(culprit.worker.stage);
    entry->set_rank(culprit.worker.global_rank);
    entry->set_alike(culprit.worker.alike);
    entry->set_slowdown(culprit.slowdown);
  }
  out.set_likely_cause(from.likely_cause);
}

void set_network(const Report& report, schema::RunReport& out) {
  for (const LinkUse& use : report.link_use) {
    auto* entry = out.add_link_utilisation();
    entry->set_kind(use.kind);
    entry->set_mean(use.mean_utilisation);
    entry->set_max(use.max_utilisation);
  }
  for (const FaultCost& fault : report.fault_costs) {
    auto* entry = out.add_fault_costs();
    entry->set_what(fault.what);
    entry->set_cost_ps(fault.cost.ps);
  }
  for (const SlowEntry& slow : report.slow_entries) {
    auto* entry = out.add_slow_entries();
    entry->set_what(slow.what);
    entry->set_parts(slow.parts);
    entry->set_chips(slow.chips);
    entry->set_links(slow.links);
    if (!slow.flap) continue;
    entry->set_stood_still_ps(slow.flap->stood_still.ps);
    entry->set_library_timeout_ps(slow.flap->library_timeout.ps);
    entry->set_restart(slow.flap->restart());
  }
  for (const SlowParty& party : report.slow_parties) {
    auto* entry = out.add_slow_parties();
    entry->set_who(party.who);
    entry->set_caused_chip_s(party.caused_chip_s);
    entry->set_waited_chip_s(party.waited_chip_s);
  }
  if (report.verdict) {
    auto* entry = out.mutable_verdict();
    entry->set_slowdown(report.verdict->slowdown);
    entry->set_cause(report.verdict->cause);
    entry->set_share(report.verdict->share);
    entry->set_replay(report.verdict->replay);
  }
  if (report.what_if) set_what_if(*report.what_if, *out.mutable_what_if());
  for (const std::string& algorithm : report.algorithms) out.add_algorithms(algorithm);
  out.set_chip_classes(report.chip_classes);
  out.set_group_classes(report.group_classes);
  out.set_link_classes(report.link_classes);
  out.set_events(report.events);
  out.set_periods_skipped(report.periods_skipped);
}

void set_report(const Report& report, schema::RunReport& out) {
  set_question(report, out);
  set_times(report, out);
  set_rates(report, out);
  set_memory(report.memory, out);
  set_costs(report, out);
  set_network(report, out);
}

void set_job(const JobReport& job, schema::JobEntry& out) {
  out.set_name(job.name);
  out.set_first_chip(job.first_chip);
  out.set_chips(job.alone.chips);
  out.set_step_time_alone_ps(job.alone.step_time.ps);
  out.set_step_time_together_ps(job.together.step_time.ps);
  out.set_slowdown(job.slowdown());
  out.set_exposed_communication_alone_ps(job.alone.exposed_communication.ps);
  out.set_exposed_communication_together_ps(job.together.exposed_communication.ps);
  set_report(job.alone, *out.mutable_alone());
  set_report(job.together, *out.mutable_together());
}

// The printer goes by numbers: the header is printed by itself to stand first.
template <class Message>
std::string print(const std::string& scenario_sha256, const Message& message) {
  const ResultHeader header = result_header(scenario_sha256);
  Message first;
  first.set_podsim(header.podsim);
  first.set_schema(header.schema);
  if (!header.scenario_sha256.empty()) first.set_scenario_sha256(header.scenario_sha256);
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string above, text;
  printer.PrintToString(first, &above);
  printer.PrintToString(message, &text);
  return "# proto-file: proto/report.proto\n# proto-message: " + message.GetTypeName() + "\n" + above + text;
}

}  // namespace

std::string report_textproto(const Report& report) {
  schema::RunReport out;
  set_report(report, out);
  return print(report.scenario_sha256, out);
}

std::string report_textproto(const JobsReport& report) {
  schema::JobsRunReport out;
  out.set_scenario(report.scenario);
  out.set_question(report.question);
  out.set_chip(report.chip);
  out.set_chips(report.chips);
  out.set_fabric(report.fabric);
  out.set_seed(report.seed);
  for (const JobReport& job : report.jobs) set_job(job, *out.add_jobs());
  return print(report.scenario_sha256, out);
}

}  // namespace podsim
