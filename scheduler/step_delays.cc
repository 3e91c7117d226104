// Draws factors and pauses of one step after the other.
#include "scheduler/step_delays.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace podsim {
namespace {

constexpr std::array<Entity, kEntities> kAllEntities = {Entity::kChip, Entity::kHost, Entity::kJob};

// Entities of all kinds in one numbering.
std::uint64_t numbered(Entity entity, std::uint64_t number) {
  return number * kEntities + static_cast<std::uint64_t>(entity);
}

}  // namespace

bool StepVariation::factors() const {
  return of_run > 0 || !hiccups.empty() ||
         std::any_of(of_step.begin(), of_step.end(), [](double variation) { return variation > 0; });
}

void StepVariation::leave_out_factors() {
  of_step = {};
  of_run = 0;
  hiccups.clear();
}

bool StepVariation::any() const { return factors() || collection.every_steps > 0; }

bool StepVariation::of_each(Entity entity) const {
  return of_step[static_cast<std::size_t>(entity)] > 0 ||
         (collection.every_steps > 0 && collection.of == entity) ||
         std::any_of(hiccups.begin(), hiccups.end(), [&](const Hiccup& each) { return each.of == entity; });
}

StepDelays::StepDelays(const System& system, const SimulateOptions& options)
    : system_(system),
      variation_(options.variation),
      seed_(options.seed),
      any_(variation_.any()),
      of_step_{Lognormal(variation_.of_step[0]), Lognormal(variation_.of_step[1]),
               Lognormal(variation_.of_step[2])},
      of_run_(variation_.of_run),
      of_pause_(variation_.collection.coefficient_of_variation),
      first_chip_(system.meshes.size(), std::numeric_limits<ChipId>::max()) {
  for (const ChipClass& chip : system.chips) {
    ChipId& first = first_chip_[system.step.stages[chip.program].job];
    first = std::min(first, chip.representative);
  }
  if (variation_.collection.every_steps == 0) return;
  Instruction pause;
  pause.kind = Instruction::Kind::kPause;
  pause.bucket = Bucket::kPause;
  pauses_.assign(system.chips.size(), {kNever, {pause}});
}

double StepDelays::begin_step(std::int32_t chip, int step) {
  if (!pauses_.empty()) draw_pause(chip, static_cast<std::uint64_t>(step));
  return factor(chip, static_cast<std::uint64_t>(step));
}

std::uint64_t StepDelays::number_of(Entity entity, std::int32_t c) const {
  const ChipClass& chip = system_.chips[c];
  switch (entity) {
    case Entity::kChip:
      return numbered(entity, static_cast<std::uint64_t>(chip.representative));
    case Entity::kHost:
      return numbered(entity, static_cast<std::uint64_t>(chip.representative / system_.chips_per_host));
    case Entity::kJob:
      break;
  }
  return numbered(Entity::kJob,
                  static_cast<std::uint64_t>(first_chip_[system_.step.stages[chip.program].job]));
}

double StepDelays::factor(std::int32_t chip, std::uint64_t step) const {
  double factor = 1;
  if (variation_.of_run > 0)
    factor *= of_run_(random_normal(seed_, RandomPurpose::kRunJitter, number_of(Entity::kJob, chip), 0));
  for (const Entity entity : kAllEntities) {
    const auto e = static_cast<std::size_t>(entity);
    if (variation_.of_step[e] == 0) continue;
    factor *= of_step_[e](random_normal(seed_, RandomPurpose::kStepJitter, number_of(entity, chip), step));
  }
  for (std::size_t h = 0; h < variation_.hiccups.size(); ++h) {
    const Hiccup& hiccup = variation_.hiccups[h];
    const std::uint64_t entity = mix(h, number_of(hiccup.of, chip));
    if (random_uniform(seed_, RandomPurpose::kHiccup, entity, 2 * step) < hiccup.probability)
      factor *= 1 + hiccup.mean * random_exponential(seed_, RandomPurpose::kHiccup, entity, 2 * step + 1);
    factor /= 1 + hiccup.probability * hiccup.mean;
  }
  return factor;
}

// A worker collects every n steps from a phase of its own on, so that it does in any one step with
// probability 1 / n.
void StepDelays::draw_pause(std::int32_t chip, std::uint64_t step) {
  const GarbageCollection& collection = variation_.collection;
  const std::uint64_t worker = number_of(collection.of, chip);
  const auto draw = [&](std::uint64_t index) {
    return random_uniform(seed_, RandomPurpose::kCollection, worker, index);
  };
  const double phase = draw(0), done = static_cast<double>(step) / collection.every_steps + phase;
  Pause& pause = pauses_[chip];
  pause.before = kNever;
  const double collections = std::floor(done) - std::floor(done - 1 / collection.every_steps);
  if (collections == 0) return;
  const auto positions = static_cast<double>(system_.step.stages[system_.chips[chip].program].order.size());
  pause.before =
      collection.of == Entity::kJob ? 0 : static_cast<std::int32_t>(draw(2 * step + 1) * positions);
  const double drawn =
      of_pause_(random_normal(seed_, RandomPurpose::kCollection, worker, 2 * step + 2)) * collections;
  pause.segment.front().duration = Time::seconds(collection.pause.in_seconds() * drawn);
}

}  // namespace podsim
