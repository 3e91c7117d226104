// What is random in the adversities: jitter by name and override, garbage collection.
#include "proto/convert.h"
#include "proto/ranges.h"
#include "proto/resolve.h"
#include "proto/scenario.pb.h"

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

}  // namespace

void resolve_variation(const schema::Adversity& adversity, const Catalog::Entries& entries,
                       const std::string& path, Document& document, Adversities& result) {
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
  if (!adversity.has_garbage_collection()) return;
  const schema::GarbageCollection& collection = adversity.garbage_collection();
  result.variation.collection = {entity_of(collection.of(), Entity::kChip), collection.every_steps(),
                                 Time::seconds(collection.pause_ms() * 1e-3),
                                 collection.coefficient_of_variation()};
}

}  // namespace podsim
