// Loads scenarios for podsim search.
#include "proto/scenario/load_space.h"

#include "proto/scenario.pb.h"
#include "proto/scenario/idle_questions.h"
#include "proto/scenario/read_scenario.h"
#include "proto/scenario/resolve.h"
#include "proto/text/set_fields.h"
#include "workload/pipeline/schedules.h"

namespace podsim {
namespace {

template <class Repeated>
std::vector<int> numbers(const Repeated& values) {
  return {values.begin(), values.end()};
}

StateSharding to_sharding(int value) {
  switch (value) {
    case schema::Space::zero1:
      return StateSharding::kZero1;
    case schema::Space::zero2:
      return StateSharding::kZero2;
    case schema::Space::fsdp:
      return StateSharding::kFsdp;
    case schema::Space::hsdp:
      return StateSharding::kHsdp;
    default:
      return StateSharding::kDdp;
  }
}

Recompute to_recompute(int value) {
  return value == schema::JobChoice::full        ? Recompute::kFull
         : value == schema::JobChoice::selective ? Recompute::kSelective
                                                 : Recompute::kNone;
}

LayoutSpace to_space(const schema::Space& block) {
  LayoutSpace space;
  space.tensor = numbers(block.tensor());
  space.context = numbers(block.context());
  space.pipeline = numbers(block.pipeline());
  space.expert = numbers(block.expert());
  space.expert_tensor = numbers(block.expert_tensor());
  space.microbatch = numbers(block.microbatch());
  space.chunks = numbers(block.chunks());
  space.fsdp_group = numbers(block.fsdp_group());
  space.recompute_layers = numbers(block.recompute_layers());
  for (const int value : block.schedule()) {
    const auto& name = schema::Pipeline::Schedule_Name(schema::Pipeline::Schedule(value));
    if (const auto schedule = schedule_named(name)) space.schedule.push_back(*schedule);
  }
  for (const int value : block.sharding()) space.sharding.push_back(to_sharding(value));
  for (const int value : block.recompute()) space.recompute.push_back(to_recompute(value));
  if (block.has_memory_headroom_fraction()) space.memory_headroom_share = block.memory_headroom_fraction();
  return space;
}

}  // namespace

void refuse_unsearchable(const schema::Scenario& scenario, Document& document) {
  if (scenario.jobs_size() > 0)
    document.report("jobs[0]", "a search lays out one job", "write job { ... } instead of jobs");
  if (scenario.job().has_program())
    document.report("job.program", "a search lays out models of layers, not programs",
                    "name a model: podsim catalog models");
  if (scenario.job().has_measured_layers())
    document.report("job.measured_layers", "measured times belong to the layout that they were measured in");
  if (scenario.job().annotation_size() > 0)
    document.report("job.annotation[0]", "annotated tensors name axes of one mesh, and a search changes it",
                    "leave the annotations out");
  for (const char* field : {"lengths", "lengths_override", "shapes"})
    if (is_set(scenario, std::string("job.") + field))
      document.report(std::string("job.") + field, "a search compares steps that are all the same",
                      "leave the lengths of documents out, and put them beside the layout that was found");
  if (scenario.has_adversity())
    document.report("adversity", "a search compares layouts of a healthy cluster",
                    "leave the block out, and put it beside the layout that was found");
}

LoadSearchResult load_search(const std::string& file_name, const std::string& text, const Catalog& catalog,
                             const std::vector<Override>& overrides) {
  LoadSearchResult result;
  const auto resolve = [&](const schema::Scenario& scenario, Document& document) {
    refuse_unsearchable(scenario, document);
    auto spec = resolve_spec(scenario, catalog.entries(), document);
    warn_of_other_questions(AskedOf::kSearch, scenario, document);
    if (spec && spec->job.program)
      document.report("job.model", "a search lays out models of layers, not programs",
                      "podsim catalog models tells which are");
    if (spec && document.clean()) result.question = {*std::move(spec), to_space(scenario.space())};
  };
  ScenarioRead read = read_scenario(file_name, text, overrides, RequiredFields::kOfAllBlocks, resolve);
  if (result.question) result.question->spec.sha256 = std::move(read.sha256);
  result.problems = std::move(read.problems);
  result.warnings = std::move(read.warnings);
  return result;
}

}  // namespace podsim
