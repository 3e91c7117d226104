// Counter-based random numbers and the distributions drawn from them.
#include "engine/random.h"

#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

std::uint64_t finalise(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

double horner(const double (&c)[8], double x) {
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

// Quantile of the standard normal distribution, 0 < p < 1 (AS 241, PPND16).
double normal_quantile(double p) {
  static constexpr double kA[8] = {
      3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[8] = {1.0,
                                   4.2313330701600911252e+1,
                                   6.8718700749205790830e+2,
                                   5.3941960214247511077e+3,
                                   2.1213794301586595867e+4,
                                   3.9307895800092710610e+4,
                                   2.8729085735721942674e+4,
                                   5.2264952788528545610e+3};
  static constexpr double kC[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[8] = {1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
  static constexpr double kE[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                   1.78482653991729133580e0,  2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[8] = {1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
  double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * horner(kA, r) / horner(kB, r);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double x = r <= 5 ? horner(kC, r - 1.6) / horner(kD, r - 1.6) : horner(kE, r - 5) / horner(kF, r - 5);
  return q < 0 ? -x : x;
}

}  // namespace

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return finalise(hash + 0x9e3779b97f4a7c15ULL + finalise(value + 0x9e3779b97f4a7c15ULL));
}

std::uint64_t random_bits(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity,
                          std::uint64_t index) {
  return mix(mix(mix(mix(0, seed), static_cast<std::uint64_t>(purpose)), entity), index);
}

double random_uniform(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index) {
  std::uint64_t top = random_bits(seed, purpose, entity, index) >> 11;  // 53 bits
  return (static_cast<double>(top) + 0.5) * 0x1p-53;
}

double random_normal(std::uint64_t seed, RandomPurpose purpose, std::uint64_t entity, std::uint64_t index) {
  return normal_quantile(random_uniform(seed, purpose, entity, index));
}

Lognormal::Lognormal(double coefficient_of_variation) {
  PODSIM_CHECK(coefficient_of_variation >= 0, "a coefficient of variation is not negative");
  sigma_ = std::sqrt(std::log1p(coefficient_of_variation * coefficient_of_variation));
  mu_ = -0.5 * sigma_ * sigma_;
}

double Lognormal::operator()(double standard_normal) const {
  return std::exp(mu_ + sigma_ * standard_normal);
}

}  // namespace podsim
