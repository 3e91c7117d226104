// Variants by way of the message.
#include "tests/swarm/scenario_variants.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>

#include "engine/check.h"
#include "proto/scenario.pb.h"

namespace podsim::testing {
namespace {

schema::Scenario parsed(const std::string& text) {
  schema::Scenario scenario;
  PODSIM_CHECK(google::protobuf::TextFormat::ParseFromString(text, &scenario), text);
  return scenario;
}

std::string printed(const schema::Scenario& scenario) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(scenario, &text);
  return text;
}

template <class List>
void reverse(List* list) {
  for (int i = 0, j = list->size() - 1; i < j; ++i, --j) list->SwapElements(i, j);
}

// Of what was drawn by chance the order may matter, so only what is named.
bool reverse_lists(schema::Scenario& scenario) {
  schema::Adversity& adversity = *scenario.mutable_adversity();
  reverse(adversity.mutable_slow_chip());
  reverse(adversity.mutable_slow_link());
  reverse(adversity.mutable_failed_link());
  reverse(adversity.mutable_failed_port());
  reverse(adversity.mutable_failed_switch());
  reverse(adversity.mutable_failed_ocs());
  reverse(adversity.mutable_late_launch());
  return true;
}

bool reverse_jobs(schema::Scenario& scenario) {
  reverse(scenario.mutable_jobs());
  return scenario.jobs_size() > 1;
}

bool add_axis(schema::Scenario& scenario) {
  if (!scenario.has_job()) return false;
  schema::MeshAxis& axis = *scenario.mutable_job()->add_mesh();
  axis.set_name("unit");
  axis.set_size(schema::MeshAxis::Size(1));
  return true;
}

bool rename_pipeline(schema::Scenario& scenario) {
  for (schema::MeshAxis& axis : *scenario.mutable_job()->mutable_mesh()) {
    if (axis.name() != "pipeline") continue;
    axis.set_name("stages");
    scenario.mutable_job()->mutable_pipeline()->set_axis("stages");
    return true;
  }
  return false;
}

// Of GPUs that hang on one switch and lie along one axis none is special.
bool next_chip(schema::Scenario& scenario) {
  const int chips = scenario.cluster().chips();
  const std::string& fabric = scenario.cluster().fabric();
  const auto& list = scenario.adversity().slow_chip();
  const bool one_switch = fabric == "dgx_h100" && !scenario.cluster().has_fabric_override() && chips <= 8;
  if (!one_switch || scenario.job().mesh_size() != 1 || list.size() != 1 || scenario.jobs_size() > 0)
    return false;
  schema::Adversity only;
  *only.add_slow_chip() = list.Get(0);
  const bool others = only.SerializeAsString() != scenario.adversity().SerializeAsString();
  const std::string axis = scenario.job().mesh(0).name();
  if (others || axis == "pipeline" || scenario.job().has_lengths() || scenario.job().has_lengths_override())
    return false;
  auto& slow = *scenario.mutable_adversity()->mutable_slow_chip(0);
  slow.set_chip((slow.chip() + 1) % chips);
  return true;
}

}  // namespace

std::string as_json(const std::string& text) {
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  const auto status = google::protobuf::util::MessageToJsonString(parsed(text), &json, options);
  PODSIM_CHECK(status.ok(), text);
  return json;
}

std::string as_binary(const std::string& text) { return parsed(text).SerializeAsString(); }

std::vector<ScenarioVariant> equal_variants(const std::string& text) {
  std::vector<ScenarioVariant> variants;
  const auto add = [&](const char* what, bool (*change)(schema::Scenario&)) {
    schema::Scenario scenario = parsed(text);
    const std::string before = printed(scenario);
    if (!change(scenario) || printed(scenario) == before) return;
    variants.push_back({what, printed(scenario)});
  };
  const auto rename = [](schema::Scenario& scenario) {
    scenario.set_name("other");
    return true;
  };
  add("another name", rename);
  add("lists in another order", [](schema::Scenario& s) { return s.has_adversity() && reverse_lists(s); });
  add("jobs in another order", reverse_jobs);
  add("an axis of one device more", add_axis);
  add("a pipeline axis of another name",
      [](schema::Scenario& s) { return s.has_job() && rename_pipeline(s); });
  add("another slow chip behind the same switch", next_chip);
  return variants;
}

}  // namespace podsim::testing
