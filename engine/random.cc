// Counter-based random numbers and the distributions drawn from them.
#include "engine/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/check.h"
#include "engine/lognormal.h"

namespace podsim {

#ifdef PODSIM_AVX2
// As set_lognormals of lognormal.h, bit by bit; in lognormal_avx2.cc. REQUIRES: the processor has AVX2.
void set_lognormals_avx2(double mu, double sigma, std::span<const double, Lognormal::kDraws> p,
                         std::span<double, Lognormal::kDraws> draws);
#endif

namespace {

double natural_log_1p(double x) { return x < 0.4 ? twice_artanh(x / (2 + x)) : natural_log(1 + x); }

double uniform_of(std::uint64_t bits) {
  return (static_cast<double>(static_cast<std::int64_t>(bits >> 11)) + 0.5) * 0x1p-53;  // 53 bits
}

}  // namespace

double portable_log(double x) {
  return x < std::numeric_limits<double>::min() ? -std::numeric_limits<double>::infinity() : natural_log(x);
}

double portable_exp(double x) {
  constexpr double kMost = 690;  // e^690 and its inverse are normal, and their squares are infinite and 0
  if (std::fabs(x) <= kMost) return exponential(x);
  const double root = exponential(std::clamp(x / 2, -kMost, kMost));
  return root * root;
}

RandomStream::RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity)
    : prefix_(mix(mix(mix(0, seed), static_cast<std::uint64_t>(purpose)), entity)) {}

std::uint64_t RandomStream::bits(std::uint64_t index) const { return mix(prefix_, index); }

double RandomStream::uniform(std::uint64_t index) const { return uniform_of(bits(index)); }

double RandomStream::normal(std::uint64_t index) const { return normal_quantile(uniform(index)); }

double RandomStream::exponential(std::uint64_t index) const { return -natural_log(uniform(index)); }

std::uint64_t random_bits(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity,
                          std::uint64_t index) {
  return RandomStream(seed, purpose, entity).bits(index);
}

double random_uniform(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index) {
  return uniform_of(random_bits(seed, purpose, entity, index));
}

double random_normal(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index) {
  return normal_quantile(random_uniform(seed, purpose, entity, index));
}

double random_exponential(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity,
                          std::uint64_t index) {
  return -natural_log(random_uniform(seed, purpose, entity, index));
}

Lognormal::Lognormal(double coefficient_of_variation) {
  PODSIM_CHECK(coefficient_of_variation >= 0, "a coefficient of variation is not negative");
  sigma_ = std::sqrt(natural_log_1p(coefficient_of_variation * coefficient_of_variation));
  mu_ = -0.5 * sigma_ * sigma_;
}

double Lognormal::operator()(double standard_normal) const {
  return exponential(mu_ + sigma_ * standard_normal);
}

double Lognormal::least() const { return exponential(mu_ + sigma_ * normal_quantile(uniform_of(0))); }

void Lognormal::draw(const RandomStream& stream, std::uint64_t first, std::span<double, kDraws> draws) const {
  std::array<double, kDraws> p;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kDraws; ++i) p[i] = uniform_of(stream.bits(first + i));
#ifdef PODSIM_AVX2
  static const bool four_at_once = __builtin_cpu_supports("avx2");
  if (four_at_once) return set_lognormals_avx2(mu_, sigma_, p, draws);
#endif
  set_lognormals<Pair>(mu_, sigma_, p, draws);
}

}  // namespace podsim
