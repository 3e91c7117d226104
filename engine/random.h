// Random numbers addressed by what they are for, so that adding one draw never shifts another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace podsim {

// What a draw is for. The numbers are part of every result that was ever printed: a new purpose takes a new
// one, none is given to another purpose.
enum class RandomPurpose : std::uint64_t {
  kJitter = 1,
  kTest = 2,
  kFlowWeight = 3,
  kSlowChoice = 10,  // who is slow
  kSlowFactor = 11,  // how slow
  kSlowSlot = 12,    // when
  kFailure = 40,
  kRunJitter = 30,
  kStepJitter = 31,
  kHiccup = 32,
  kCollection = 33,
  kInputStall = 34,
  kLateLaunch = 35,
  kDocument = 36,
  kAvailability = 80,
  kQueuedJob = 81,
  kStepError = 90,
  kPrice = 91,
  kRunOverFailures = 92,
  kPower = 93,
  kVaried = 94,
};

// Mixes a value into a running 64-bit hash; both orders give different results.
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  const auto finalise = [](std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  };
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;  // of SplitMix64
  return finalise(hash + kStep + finalise(value + kStep));
}

// The same four coordinates give the same bits on every platform.
// Method: SplitMix64 finaliser (Steele, Lea, Flood 2014) chained over the coordinates.
std::uint64_t random_bits(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity,
                          std::uint64_t index);

// The same bits for all indices of one entity; what they have in common is mixed once.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity);
  std::uint64_t bits(std::uint64_t index) const;
  double uniform(std::uint64_t index) const;      // in the open interval (0, 1)
  double normal(std::uint64_t index) const;       // as random_normal
  double exponential(std::uint64_t index) const;  // of mean 1

 private:
  std::uint64_t prefix_;  // seed, purpose and entity, mixed
};

// ln x and e^x with the same bits on every machine: those of the standard library differ in the last bit.
// Whatever is made of a draw goes through these. The logarithm of less than the least normal number is minus
// infinity. REQUIRES of the logarithm: x >= 0 and finite.
double portable_log(double x);
double portable_exp(double x);

// Uniform in the open interval (0, 1).
double random_uniform(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index);

// Standard normal by inversion. Source: Wichura, algorithm AS 241 (PPND16), 1988; relative error about 1e-16.
// With the same bits on every machine, as those of Lognormal.
double random_normal(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index);

// Exponential with mean 1.
double random_exponential(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity,
                          std::uint64_t index);

// Lognormal with mean 1 and the given coefficient of variation (standard deviation over mean), >= 0.
class Lognormal {
 public:
  explicit Lognormal(double coefficient_of_variation);
  double operator()(double standard_normal) const;

  // No draw is less.
  double least() const;

  // For the normal draws of the stream from index `first` on, bit by bit as one by one.
  static constexpr std::size_t kDraws = 32;
  void draw(const RandomStream& stream, std::uint64_t first, std::span<double, kDraws> draws) const;

 private:
  double mu_, sigma_;  // of the logarithm; mu = -sigma^2 / 2, so that the mean is 1
};

}  // namespace podsim
