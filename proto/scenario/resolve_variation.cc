// What chance does to steps: jitter by name and override, garbage collection, stalls of input, late launches.
#include <set>

#include "proto/catalog/convert.h"
#include "proto/scenario.pb.h"
#include "proto/scenario/resolve.h"
#include "proto/text/ranges.h"

namespace podsim {
namespace {

Entity entity_of(schema::Jitter::Entity name, Entity missing) {
  switch (name) {
    case schema::Jitter::chip:
      return Entity::kChip;
    case schema::Jitter::host:
      return Entity::kHost;
    case schema::Jitter::job:
      return Entity::kJob;
    default:
      return missing;
  }
}

void set_jitter(const schema::Jitter& jitter, Adversities& result) {
  result.jitter.coefficient_of_variation = jitter.of_operation();
  StepVariation& variation = result.variation;
  variation.of_step = {jitter.of_chip_step(), jitter.of_host_step(), jitter.of_step()};
  variation.of_run = jitter.of_run();
  for (const schema::Hiccup& hiccup : jitter.hiccup())
    variation.hiccups.push_back(
        {entity_of(hiccup.of(), Entity::kJob), hiccup.probability(), hiccup.mean_share()});
}

Time milliseconds(double ms) { return Time::seconds(ms * 1e-3); }

void late_launches(const schema::Adversity& adversity, const FabricSpec& fabric, const std::string& path,
                   Document& document, Adversities& result) {
  std::set<int> late;  // chips
  for (int i = 0; i < adversity.late_launch_size(); ++i) {
    const schema::LateLaunch& launch = adversity.late_launch(i);
    const std::string at = join_path(path, "late_launch[" + std::to_string(i) + "]");
    const std::string chip = std::to_string(launch.chip());
    if (launch.chip() >= fabric.chips)
      document.report(join_path(at, "chip"),
                      join_path(at, "chip") + " must be below the " + std::to_string(fabric.chips) +
                          " chips, not " + chip,
                      "chips count from 0");
    else if (!late.insert(launch.chip()).second)
      document.report(join_path(at, "chip"), "chip " + chip + " has two late_launch blocks",
                      "late_ms, more_each_step_ms and random_ms of one block add up");
    else if (launch.late_ms() + launch.more_each_step_ms() + launch.random_ms() == 0)
      document.report(at, "a late launch is late by nothing", "write, for example, late_ms: 5");
    result.variation.late.push_back({launch.chip(), milliseconds(launch.late_ms()),
                                     milliseconds(launch.more_each_step_ms()),
                                     milliseconds(launch.random_ms())});
  }
}

}  // namespace

void resolve_variation(const schema::Adversity& adversity, const Catalog::Entries& entries,
                       const FabricSpec& fabric, const std::string& path, Document& document,
                       Adversities& result) {
  schema::Jitter jitter;
  jitter.set_name("own");
  if (adversity.has_jitter()) {
    const schema::Jitter* entry = find_jitter(entries, adversity.jitter());
    if (!entry)
      return report_unknown_name(entries, Catalog::Section::kJitters, adversity.jitter(),
                                 join_path(path, "jitter"), document);
    jitter = *entry;
  }
  merge_override(adversity.jitter_override(), jitter);
  check_required(jitter, join_path(path, "jitter_override"), document);
  set_jitter(jitter, result);
  if (adversity.has_jitter_coefficient_of_variation())
    result.jitter.coefficient_of_variation = adversity.jitter_coefficient_of_variation();
  if (adversity.has_garbage_collection()) {
    const schema::GarbageCollection& collection = adversity.garbage_collection();
    result.variation.collection = {entity_of(collection.of(), Entity::kChip), collection.every_steps(),
                                   milliseconds(collection.pause_ms()),
                                   collection.coefficient_of_variation()};
  }
  if (adversity.has_input_stall())
    result.variation.input = {adversity.input_stall().probability(),
                              milliseconds(adversity.input_stall().mean_ms())};
  late_launches(adversity, fabric, path, document, result);
}

}  // namespace podsim
