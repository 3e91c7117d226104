// Random numbers addressed by what they are for, so that adding one draw never shifts another.
#pragma once

#include <cstdint>

namespace podsim {

enum class RandomPurpose : std::uint64_t { kJitter = 1, kTest = 2, kFlowWeight = 3 };

// The same four coordinates give the same bits on every platform.
// Method: SplitMix64 finaliser (Steele, Lea, Flood 2014) chained over the coordinates.
std::uint64_t random_bits(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity,
                          std::uint64_t index);

// Uniform in the open interval (0, 1).
double random_uniform(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index);

// Standard normal by inversion. Source: Wichura, algorithm AS 241 (PPND16), 1988; relative error about 1e-16.
double random_normal(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index);

// Lognormal with mean 1 and the given coefficient of variation (standard deviation over mean), >= 0.
class Lognormal {
 public:
  explicit Lognormal(double coefficient_of_variation);
  double operator()(double standard_normal) const;

 private:
  double mu_, sigma_;
};

// Mixes a value into a running 64-bit hash; both orders give different results.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value);

}  // namespace podsim
