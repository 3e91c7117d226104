// By how much each computation of a chip is longer or shorter under jitter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cache.h"
#include "engine/check.h"
#include "engine/random.h"
#include "scheduler/folding/system.h"
#include "scheduler/simulation/state/simulate_options.h"

namespace podsim {

// Factors with mean 1 that the computations of a chip class take one after another, drawn kDraws at a time
// because that is faster than one by one. They depend on the seed, the class's representative and how many
// have come before, and so on nothing that happens in the simulation.
class JitterDraws {
 public:
  // How far a chip is. Kept by who keeps the chip, beside what is read of it at the same time.
  struct Position {
    std::uint64_t taken = 0;
    std::uint32_t made = 0;  // of those to come
  };

  // Without jitter there are none.
  JitterDraws(const System& system, const SimulateOptions& options);
  bool any() const { return !streams_.empty(); }

  // REQUIRES: any().
  double next(std::int32_t chip, Position& at) {
    make(chip, at);
    --at.made;
    return ahead_[chip].factors[at.taken++ % Lognormal::kDraws];
  }

  // How many of those to come are known: one at least. REQUIRES: any().
  std::int32_t known(std::int32_t chip, Position& at) {
    PODSIM_CHECK(any(), "there is jitter");
    make(chip, at);
    return static_cast<std::int32_t>(at.made);
  }
  // The one after `after` others. REQUIRES: after < known().
  double peek(std::int32_t chip, const Position& at, std::int32_t after) const {
    return ahead_[chip].factors[(at.taken + static_cast<std::size_t>(after)) % Lognormal::kDraws];
  }

  // No draw is less.
  double least() const { return least_; }

  // Loads what next() needs.
  void fetch_chip(std::int32_t chip) const {
    if (any()) fetch(ahead_[chip]);
  }

 private:
  // Those of a chip that have been drawn together; taken and to come.
  struct alignas(kCacheLine) Ahead {
    std::array<double, Lognormal::kDraws> factors;
  };

  // Some are to come from here on.
  void make(std::int32_t chip, Position& at) {
    if (at.made > 0) return;
    distribution_.draw(streams_[chip], at.taken, ahead_[chip].factors);
    at.made = Lognormal::kDraws;
  }

  const Lognormal distribution_;
  const double least_;
  std::vector<RandomStream> streams_;  // [chip], empty without jitter
  std::vector<Ahead> ahead_;           // the same
};

}  // namespace podsim
