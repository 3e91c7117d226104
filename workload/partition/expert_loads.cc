// Quantiles of a power law, dealt to devices.
#include "workload/partition/expert_loads.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/check.h"
#include "engine/random.h"

namespace podsim {
namespace {

constexpr int kDraws = 24;               // of who lies where; their mean is known to about a twentieth
constexpr double kMostOfTokens = 0.8;    // that the most popular expert gets before loads are scaled
constexpr std::uint64_t kDealSeed = 17;  // any: a prediction is the same every time

// Rows of all experts, the least popular first.
std::vector<double> quantiles(const TokenRouting& routing) {
  const double power = 1 - routing.exponent, rows = routing.tokens * routing.topk;
  const double most = std::max(2.0, kMostOfTokens * routing.tokens);
  const double low = 1, high = std::pow(most, power);
  std::vector<double> loads;
  for (int i = 0; i < routing.experts; ++i) {
    const double share = (i + 0.5) / routing.experts;
    // At an exponent of 1 the integral of the density is a logarithm.
    loads.push_back(power == 0 ? std::pow(most, share) : std::pow((high - low) * share + low, 1 / power));
  }
  const auto scale = [&] {
    const double factor = rows / std::accumulate(loads.begin(), loads.end(), 0.0);
    for (double& load : loads) load *= factor;
  };
  scale();
  for (double& load : loads) load = std::min(load, routing.tokens);
  scale();
  return loads;
}

std::vector<double> busiest(std::vector<double> loads, const TokenRouting& routing, int draw) {
  const std::uint64_t dealt = mix(kDealSeed, static_cast<std::uint64_t>(draw));
  for (std::size_t i = loads.size(); i > 1; --i) std::swap(loads[i - 1], loads[mix(dealt, i) % i]);
  const std::size_t each = loads.size() / static_cast<std::size_t>(routing.devices);
  const auto rows_from = [&](std::size_t first) {
    const auto begin = loads.begin() + static_cast<std::ptrdiff_t>(first);
    return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(each), 0.0);
  };
  std::size_t best = 0;
  for (std::size_t first = each; first < loads.size(); first += each)
    if (rows_from(first) > rows_from(best)) best = first;
  const auto begin = loads.begin() + static_cast<std::ptrdiff_t>(best);
  return {begin, begin + static_cast<std::ptrdiff_t>(each)};
}

// Experts that get no row at all are left out.
std::vector<double> alike_loads(const TokenRouting& routing) {
  const double each = routing.tokens * routing.topk / routing.experts;
  const double own = static_cast<double>(routing.experts) / routing.devices;
  if (each >= 1) return std::vector<double>(static_cast<std::size_t>(own), each);
  return std::vector<double>(static_cast<std::size_t>(std::max(1.0, std::round(own * each))), 1.0);
}

}  // namespace

const ExpertLoads::Draws& ExpertLoads::of(const TokenRouting& routing) {
  const auto [at, added] = known_.try_emplace(routing);
  if (!added) return at->second;
  PODSIM_CHECK(routing.devices > 0 && routing.experts % routing.devices == 0,
               "experts lie alike on their devices");
  if (routing.exponent == 0) {
    at->second.push_back(alike_loads(routing));
  } else {
    const std::vector<double> loads = quantiles(routing);
    for (int draw = 0; draw < (routing.devices == 1 ? 1 : kDraws); ++draw)
      at->second.push_back(busiest(loads, routing, draw));
  }
  return at->second;
}

}  // namespace podsim
