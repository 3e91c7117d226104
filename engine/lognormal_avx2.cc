// Lognormal numbers, four at once: compiled for processors with AVX2 and called on them alone.
#include "engine/lognormal.h"

namespace podsim {
namespace {

using Quad [[gnu::vector_size(32)]] = double;

template <>
struct Bits<Quad> {
  using Type [[gnu::vector_size(32)]] = std::uint64_t;
};

}  // namespace

void set_lognormals_avx2(double mu, double sigma, std::span<const double, Lognormal::kDraws> p,
                         std::span<double, Lognormal::kDraws> draws) {
  set_lognormals<Quad>(mu, sigma, p, draws);
}

}  // namespace podsim
