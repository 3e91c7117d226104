// A pattern search over the logarithms of four numbers: no slopes, no randomness.
#include "calibration/channel_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "engine/binary_units.h"

namespace podsim {
namespace {

constexpr std::size_t kFittedNumbers = 4;
using ChannelNumbers =
    std::array<double, kFittedNumbers>;  // logarithms: setup in us, share, chunk in MiB, us of a chunk

const ChannelNumbers kLeastNumbers = {std::log(1e-2), std::log(1e-2), std::log(1.0 / 64), std::log(1e-3)};
const ChannelNumbers kMostNumbers = {std::log(1e4), 0, std::log(256.0), std::log(1e3)};

bool spans_domains(const Fabric& fabric, const std::vector<ChipId>& group) {
  return std::any_of(group.begin(), group.end(), [&](ChipId chip) {
    return fabric.gpus_per_domain > 0 && chip / fabric.gpus_per_domain != group[0] / fabric.gpus_per_domain;
  });
}

class ChannelSearch {
 public:
  ChannelSearch(const Fabric& fabric, CollectiveKind kind, const std::vector<ChipId>& group,
                const std::vector<CollectiveTiming>& timings)
      : fabric_(fabric),
        kind_(kind),
        group_(group),
        timings_(timings),
        on_nics_(spans_domains(fabric, group)) {
    std::erase_if(fabric_.channels,
                  [&](const ChannelSpec& channel) { return channel.kind == to_string(kind); });
    fabric_.channels.emplace_back();
  }

  // The nearest of what is found from a few beginnings: chunks that matter, and that do not.
  ChannelSpec best() {
    ChannelNumbers found = {};
    double least = -1;
    for (const double chunk_us : {1e-2, 3.0, 30.0}) {
      const auto [numbers, cost] = descend({std::log(5.0), std::log(0.8), std::log(1.0), std::log(chunk_us)});
      if (least >= 0 && cost >= least) continue;
      least = cost;
      found = numbers;
    }
    return channel_of(found);
  }

 private:
  // Three digits say as much as a measurement does.
  static double rounded(double logarithm) {
    const double value = std::exp(logarithm);
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
    return std::round(value / unit) * unit;
  }

  ChannelSpec channel_of(const ChannelNumbers& numbers) const {
    ChannelSpec channel;
    channel.kind = std::string(to_string(kind_));
    channel.setup = Time::seconds(rounded(numbers[0]) * 1e-6);
    const double share = std::min(1.0, rounded(numbers[1]));
    channel.nvlink_efficiency = fabric_.gpus_per_domain > 0 && !on_nics_ ? share : 1;
    channel.nic_efficiency = on_nics_ ? share : 1;
    channel.ici_efficiency = fabric_.gpus_per_domain > 0 ? 1 : share;
    channel.chunk = Bytes{rounded(numbers[2]) * kBytesPerMib};
    channel.chunk_overhead = Time::seconds(rounded(numbers[3]) * 1e-6);
    return channel;
  }

  double cost(const ChannelNumbers& numbers) {
    constexpr double kOrdinary = 0.2;  // an error; larger ones count less
    fabric_.channels.back() = channel_of(numbers);
    double sum = 0;
    for (const CollectiveTiming& timing : timings_) {
      const CollectivePlan chosen = plan(fabric_, {kind_, timing.bytes}, group_);
      const double error = std::abs(std::log(predict(fabric_, chosen).in_seconds() / timing.time_s));
      sum += error <= kOrdinary ? error * error : kOrdinary * (2 * error - kOrdinary);
    }
    return sum;
  }

  std::pair<ChannelNumbers, double> descend(ChannelNumbers at) {
    constexpr double kFirstStep = 1, kLastStep = 0.01;
    double least = cost(at);
    for (double step = kFirstStep; step > kLastStep;) {
      bool better = false;
      for (std::size_t i = 0; i < kFittedNumbers; ++i)
        for (const double way : {step, -step}) {
          ChannelNumbers next = at;
          next[i] = std::clamp(next[i] + way, kLeastNumbers[i], kMostNumbers[i]);
          const double there = next == at ? least : cost(next);
          if (there >= least) continue;
          at = next;
          least = there;
          better = true;
        }
      if (!better) step /= 2;
    }
    return {at, least};
  }

  Fabric fabric_;
  CollectiveKind kind_;
  const std::vector<ChipId>& group_;
  const std::vector<CollectiveTiming>& timings_;
  bool on_nics_;
};

std::vector<double> times_predicted(const Fabric& fabric, CollectiveKind kind,
                                    const std::vector<ChipId>& group,
                                    const std::vector<CollectiveTiming>& timings) {
  std::vector<double> times;
  for (const CollectiveTiming& timing : timings)
    times.push_back(predict(fabric, plan(fabric, {kind, timing.bytes}, group)).in_seconds());
  return times;
}

}  // namespace

ChannelFit fit_channel(const Fabric& fabric, CollectiveKind kind, const std::vector<ChipId>& group,
                       const std::vector<CollectiveTiming>& timings) {
  ChannelFit fit;
  fit.before_s = times_predicted(fabric, kind, group, timings);
  fit.channel = ChannelSearch(fabric, kind, group, timings).best();
  Fabric with = fabric;
  std::erase_if(with.channels, [&](const ChannelSpec& channel) { return channel.kind == fit.channel.kind; });
  with.channels.push_back(fit.channel);
  fit.after_s = times_predicted(with, kind, group, timings);
  return fit;
}

}  // namespace podsim
