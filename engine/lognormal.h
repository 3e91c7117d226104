// Lognormal numbers from uniform ones, several at once.
// All here is private to the file that includes it: each may be compiled for other processors.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/random.h"

namespace podsim {
namespace {

// Two numbers side by side: arithmetic is that of each, bit by bit. What is written for `Number` takes one,
// two or more.
using Pair [[gnu::vector_size(16)]] = double;

// The bits of as many numbers, as integers of the same width.
template <class Number>
struct Bits {
  using Type = std::uint64_t;
};
template <>
struct Bits<Pair> {
  using Type [[gnu::vector_size(16)]] = std::uint64_t;
};
template <class Number>
using BitsOf = typename Bits<Number>::Type;

template <class Number>
inline Number horner(const double (&c)[8], Number x) {
  Number sum = x * 0.0 + c[7];
#pragma GCC unroll 8
  for (int i = 6; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

// The elementary functions are our own, of additions, multiplications and divisions only, because those of
// the standard library differ in the last bit from machine to machine.

// ln 2 in two parts; the first has 20 trailing zero bits, so that its product with a small integer is exact
// (Cody and Waite, Software Manual for the Elementary Functions, 1980).
constexpr double kLn2High = 0x1.62e42fefp-1, kLn2Low = 0x1.473de6af278edp-34;

// 2 artanh(s) = ln((1 + s) / (1 - s)) for |s| < 0.18, by its series.
template <class Number>
inline Number twice_artanh(Number s) {
  const Number z = s * s;
  Number sum = s * 0.0;
#pragma GCC unroll 16
  for (int n = 23; n >= 3; n -= 2) sum = sum * z + 1.0 / n;
  return 2 * s + 2 * s * (sum * z);
}

// Relative error below 4e-16 for normal x outside (0.5, 2).
template <class Number>
inline Number natural_log(Number x) {
  using Bits = BitsOf<Number>;
  const auto bits = std::bit_cast<Bits>(x);
  // 2^52 + the biased exponent, as a number.
  const Number exponent = std::bit_cast<Number>((bits >> 52) | 0x4330000000000000ULL) - 0x1p52 - 1023.0;
  const Number m = std::bit_cast<Number>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  const auto large = m > 1.4142135623730951;
  const Number e = large ? exponent + 1.0 : exponent;
  const Number near_one = large ? m * 0.5 : m;
  return e * kLn2High + (twice_artanh((near_one - 1.0) / (near_one + 1.0)) + e * kLn2Low);
}

// Relative error below 4e-16 for |x| < 700: e^x = 2^k e^r with |r| <= ln(2) / 2, and the series of e^r.
template <class Number>
inline Number exponential(Number x) {
  using Bits = BitsOf<Number>;
  constexpr double kShift = 0x1.8p52;  // added, it leaves the nearest integer in the low bits
  const Number shifted = x * 1.4426950408889634 + kShift;
  const Number k = shifted - kShift;
  const Number r = (x - k * kLn2High) - k * kLn2Low;
  const Number r2 = r * r, r4 = r2 * r2;
  const Number low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const Number middle = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const Number high =
      (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
  const Number sum = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
  return std::bit_cast<Number>(std::bit_cast<Bits>(sum) + (std::bit_cast<Bits>(shifted) << 52));
}

// Quantile of the standard normal distribution, 0 < p < 1 (AS 241, PPND16): the middle and the tails.
template <class Number>
inline Number central_quantile(Number q) {
  // Coefficients of the algorithm: A over B in the middle, C over D near the ends, E over F far out.
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
  const Number r = 0.180625 - q * q;
  return q * horner(kA, r) / horner(kB, r);
}

// Of the distance r of p from 0 or 1, the square root of minus its logarithm.
template <class Number>
inline Number near_tail(Number r) {
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
  return horner(kC, r - 1.6) / horner(kD, r - 1.6);
}

inline double far_tail(double r) {
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
  return horner(kE, r - 5) / horner(kF, r - 5);
}

inline double distance(double p) { return p < 0.5 ? p : 1 - p; }

inline double tail_quantile(double p) {
  const double r = std::sqrt(-natural_log(distance(p)));
  const double x = r <= 5 ? near_tail(r) : far_tail(r);
  return p < 0.5 ? -x : x;
}

inline bool central(double q) { return std::fabs(q) <= 0.425; }

inline double normal_quantile(double p) {
  const double q = p - 0.5;
  return central(q) ? central_quantile(q) : tail_quantile(p);
}

// draws[k] for p[k], where k are the first numbers `of` as many as there are in Wide. Without branches: on
// which side a tail is cannot be predicted.
template <class Wide>
inline void set_tails(std::span<const double> p, const std::size_t* of, std::span<double> draws) {
  constexpr std::size_t kSize = sizeof(Wide) / sizeof(double);
  Wide each{}, r{};
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kSize; ++i) each[i] = p[of[i]];
  const Wide rest = 1.0 - each;
  const Wide logarithm = natural_log(each < rest ? each : rest);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kSize; ++i) r[i] = std::sqrt(-logarithm[i]);
  Wide x = near_tail(r);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kSize; ++i)
    if (r[i] > 5) x[i] = far_tail(r[i]);  // of 10^11 draws three
  x = each < 0.5 ? -x : x;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kSize; ++i) draws[of[i]] = x[i];
}

// Lognormal draws of exp(mu + sigma * normal) where the normal distribution cuts off p.
template <class Wide>
inline void set_lognormals(double mu, double sigma, std::span<const double, Lognormal::kDraws> p,
                           std::span<double, Lognormal::kDraws> draws) {
  constexpr std::size_t kSize = sizeof(Wide) / sizeof(double);
  const auto side_by_side = [&](std::span<const double, Lognormal::kDraws> from, auto&& function) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < Lognormal::kDraws; i += kSize) {
      Wide all;
      std::memcpy(&all, &from[i], sizeof all);
      all = function(all);
      std::memcpy(&draws[i], &all, sizeof all);
    }
  };
  side_by_side(p, [](Wide each) { return central_quantile(each - 0.5); });
  std::array<std::size_t, Lognormal::kDraws + kSize> tails;
  std::size_t count = 0;
  for (std::size_t i = 0; i < Lognormal::kDraws; ++i) {
    tails[count] = i;
    count += !central(p[i] - 0.5);
  }
  for (std::size_t i = 0; i < kSize; ++i) tails[count + i] = tails[0];  // where some are left over
  for (std::size_t i = 0; i < count; i += kSize) set_tails<Wide>(p, &tails[i], draws);
  side_by_side(draws, [&](Wide each) { return exponential(mu + sigma * each); });
}

}  // namespace
}  // namespace podsim
