// Puts the layout into the parsed scenario and prints it.
#include "proto/scenario/write_layout.h"

#include <google/protobuf/text_format.h>

#include <initializer_list>
#include <sstream>
#include <utility>

#include "engine/check.h"
#include "proto/scenario.pb.h"
#include "proto/text/parse.h"
#include "workload/pipeline/schedules.h"

namespace podsim {
namespace {

using schema::JobChoice;

void set_recompute(const LayoutBlocks& layout, JobChoice& job) {
  if (layout.recompute) {
    for (const char* field : {"recompute_policy", "keep", "recompute_modules", "offload"})
      job.GetReflection()->ClearField(&job, JobChoice::descriptor()->FindFieldByName(field));
    job.set_recompute(*layout.recompute == Recompute::kNone        ? JobChoice::none
                      : *layout.recompute == Recompute::kSelective ? JobChoice::selective
                                                                   : JobChoice::full);
  }
  job.clear_recompute_layers();
  if (layout.recompute_layers > 0) job.set_recompute_layers(layout.recompute_layers);
}

void set_pipeline(const LayoutBlocks& layout, JobChoice& job) {
  job.clear_pipeline();
  if (!layout.schedule) return;
  schema::Pipeline::Schedule schedule = schema::Pipeline::SCHEDULE_UNSPECIFIED;
  const std::string name(schedule_traits(*layout.schedule).name);
  PODSIM_CHECK(schema::Pipeline::Schedule_Parse(name, &schedule), "the language has every schedule");
  job.mutable_pipeline()->set_schedule(schedule);
  if (layout.chunks > 1) job.mutable_pipeline()->set_chunks_per_stage(layout.chunks);
}

void set_layout(const LayoutBlocks& layout, JobChoice& job) {
  job.clear_mesh();
  for (const MeshAxis& axis : layout.mesh) {
    schema::MeshAxis& added = *job.add_mesh();
    added.set_name(axis.name);
    added.set_size(static_cast<schema::MeshAxis::Size>(axis.size));
  }
  job.clear_sharding();
  for (const std::string& preset : layout.sharding) job.add_sharding(preset);
  job.clear_rule();
  for (const ShardingRule& rule : layout.rules) {
    schema::Rule& added = *job.add_rule();
    added.set_dimension(rule.dimension);
    for (const std::string& axis : rule.axes) added.add_axis(axis);
  }
  set_pipeline(layout, job);
  job.set_microbatch_sequences(layout.microbatch);
  set_recompute(layout, job);
}

schema::Scenario overridden(const std::string& text, const std::vector<Override>& overrides) {
  Document document("scenario", text);
  schema::Scenario scenario;
  PODSIM_CHECK(parse(document, scenario), "the scenario has been loaded before");
  apply_overrides(overrides, scenario, document);
  return scenario;
}

std::string printed(const schema::Scenario& scenario) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  PODSIM_CHECK(printer.PrintToString(scenario, &text), "a scenario is text");
  return text;
}

}  // namespace

std::string scenario_with_overrides(const std::string& text, const std::vector<Override>& overrides) {
  return printed(overridden(text, overrides));
}

std::string scenario_without_varied(const std::string& text, const std::vector<Override>& overrides) {
  schema::Scenario scenario = overridden(text, overrides);
  if (scenario.has_plan()) scenario.mutable_plan()->clear_vary();
  return printed(scenario);
}

std::string scenario_at_list_price(const std::string& text, const std::vector<Override>& overrides) {
  schema::Scenario scenario = overridden(text, overrides);
  schema::ClusterChoice& cluster = *scenario.mutable_cluster();
  if (cluster.has_usd_per_chip_hour()) cluster.clear_contract();
  cluster.clear_usd_per_chip_hour();
  return printed(scenario);
}

WithoutOwnChip scenario_without_own_chip(const std::string& text, const std::vector<Override>& overrides) {
  schema::Scenario scenario = overridden(text, overrides);
  schema::ClusterChoice& cluster = *scenario.mutable_cluster();
  std::vector<std::string> left_out;
  const auto leave_out = [&](google::protobuf::Message& message, const std::string& place,
                             std::initializer_list<const char*> fields) {
    for (const char* name : fields) {
      const auto* field = message.GetDescriptor()->FindFieldByName(name);
      if (!message.GetReflection()->HasField(message, field)) continue;
      message.GetReflection()->ClearField(&message, field);
      left_out.push_back(place + name);
    }
  };
  if (cluster.has_usd_per_chip_hour()) leave_out(cluster, "cluster.", {"contract"});
  leave_out(cluster, "cluster.", {"usd_per_chip_hour", "embodied_kg", "chip_override"});
  if (cluster.has_owned())
    leave_out(*cluster.mutable_owned(), "cluster.owned.",
              {"chip_usd", "host_usd", "network_usd", "hall_usd"});
  return {printed(scenario), std::move(left_out)};
}

std::string scenario_to_tokens(const std::string& text, const std::vector<Override>& overrides,
                               double tokens) {
  schema::Scenario scenario = overridden(text, overrides);
  scenario.mutable_reliability()->clear_days();
  scenario.mutable_reliability()->set_target_tokens(tokens);
  return printed(scenario);
}

std::string scenario_with_layout(const std::string& text, const std::vector<Override>& overrides,
                                 const LayoutBlocks& layout, const std::string& comment, KeepSpace space) {
  schema::Scenario scenario = overridden(text, overrides);
  scenario.clear_plan();
  if (space == KeepSpace::kNo) scenario.clear_space();
  set_layout(layout, *scenario.mutable_job());
  std::string result;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) result += "# " + line + "\n";
  return result + printed(scenario);
}

ClusterWords cluster_words(const std::string& text, const std::vector<Override>& overrides) {
  Document document("scenario", text);
  schema::Scenario scenario;
  if (!parse(document, scenario)) return {};
  apply_overrides(overrides, scenario, document);
  const schema::Reliability& block = scenario.reliability();
  return {scenario.cluster().chip(),
          scenario.cluster().fabric(),
          scenario.cluster().price_term(),
          scenario.cluster().has_usd_per_chip_hour(),
          scenario.cluster().slices(),
          scenario.job().global_batch_sequences(),
          scenario.cluster().chips(),
          scenario.job().sequence_tokens(),
          scenario.has_reliability(),
          block.failure_size(),
          !block.has_step_error() || block.step_error()};
}

}  // namespace podsim
