// What chance does to whole steps, beyond the jitter of single operations (docs/theory/jitter.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/units.h"

namespace podsim {

// Who has draws of its own: each chip, each host with all its chips, or the job as a whole.
enum class Entity : unsigned char { kChip, kHost, kJob };
inline constexpr std::size_t kEntities = 3;

// In some steps all that an entity computes takes 1 + x times as long, x exponential.
struct Hiccup {
  Entity of = Entity::kJob;
  double probability = 0;  // in a step, [0, 1]
  double mean = 0;         // of x
};

// A worker stands still while its interpreter collects garbage.
struct GarbageCollection {
  Entity of = Entity::kChip;            // kJob: all at once, between two steps; else anywhere in a step
  double every_steps = 0;               // between two collections of one worker; 0 = never
  Time pause;                           // mean
  double coefficient_of_variation = 0;  // of pauses, lognormal
};

// Now and then the load of a batch stalls on one host, for an exponential time.
struct InputStalls {
  double probability = 0;  // of one host and one batch
  Time mean;
};

// The host of a chip launches its collectives of gradients late: by all three together.
struct LateLaunch {
  std::int32_t chip = 0;
  Time always;
  Time per_step;  // more in every further step
  Time random;    // mean of an exponential time of each step
};

// Factors of computation have mean 1, hiccups included: of one entity alone the mean step stays what it is,
// unless a step without a hiccup would compute faster than the peaks of the chip.
struct StepVariation {
  std::array<double, kEntities> of_step{};  // [Entity] coefficient of variation of a lognormal factor, a step
  double of_run = 0;                        // the same of all chips and steps of one draw
  std::vector<Hiccup> hiccups;
  GarbageCollection collection;
  InputStalls input;
  std::vector<LateLaunch> late;
  bool uneven_lengths = false;  // microbatches have the documents that they draw, else all the same load

  bool factors() const;  // something multiplies computation
  bool any() const;
  bool of_each(Entity entity) const;  // something is drawn for every chip, or every host
  // Positions of a step differ by chance, so that its loops do not repeat.
  bool amid_steps() const {
    return uneven_lengths || !late.empty() || (collection.every_steps > 0 && collection.of != Entity::kJob);
  }
  void leave_out_factors();
};

}  // namespace podsim
