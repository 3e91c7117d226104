// Channels fitted to times that a channel made, and to times of no channel at all.
#include "calibration/channel_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "proto/catalog/catalog.h"
#include "validation/validate_collectives.h"

namespace podsim::channel_fit_test {
namespace {

PlacedGroup placed(int gpus) {
  static const Catalog catalog;
  Problem problem;
  return *place_measured_group(catalog, "dgx_h100", gpus, 0, problem);
}

std::vector<CollectiveTiming> timings_with(const PlacedGroup& placed, const ChannelSpec& channel) {
  Fabric fabric = placed.fabric;
  fabric.channels.push_back(channel);
  std::vector<CollectiveTiming> timings;
  for (double bytes = 4096; bytes < 5e9; bytes *= 16) {
    const CollectivePlan chosen = plan(fabric, {CollectiveKind::kAllReduce, Bytes{bytes}}, placed.group);
    timings.push_back({Bytes{bytes}, predict(fabric, chosen).in_seconds()});
  }
  return timings;
}

ChannelSpec slow_channel() {
  ChannelSpec channel;
  channel.kind = "all-reduce";
  channel.setup = Time::seconds(40e-6);
  channel.chunk = Bytes{4 * 1024.0 * 1024.0};
  channel.chunk_overhead = Time::seconds(10e-6);
  channel.nvlink_efficiency = channel.nic_efficiency = 0.5;
  channel.ici_efficiency = 1;
  return channel;
}

TEST(ChannelFit, finds_the_setup_and_the_share_of_the_channel_that_made_the_times) {
  const PlacedGroup server = placed(8);
  const auto timings = timings_with(server, slow_channel());
  const ChannelFit fit = fit_channel(server.fabric, CollectiveKind::kAllReduce, server.group, timings);
  ASSERT_EQ(fit.after_s.size(), timings.size());
  for (std::size_t i = 0; i < timings.size(); ++i) {
    EXPECT_NEAR(fit.after_s[i] / timings[i].time_s, 1, 0.02) << timings[i].bytes.value;
    EXPECT_LT(fit.before_s[i], timings[i].time_s);
  }
  EXPECT_NEAR(fit.channel.setup.in_seconds(), 40e-6, 2e-6);
  EXPECT_NEAR(fit.channel.nvlink_efficiency, 0.5, 0.02);
  EXPECT_EQ(fit.channel.nic_efficiency, 1);
}

TEST(ChannelFit, blames_the_nics_where_the_ranks_are_in_several_domains) {
  const PlacedGroup pair = placed(16);
  ChannelSpec channel = slow_channel();
  channel.nvlink_efficiency = 1;
  const ChannelFit fit =
      fit_channel(pair.fabric, CollectiveKind::kAllReduce, pair.group, timings_with(pair, channel));
  EXPECT_NEAR(fit.channel.nic_efficiency, 0.5, 0.03);
  EXPECT_EQ(fit.channel.nvlink_efficiency, 1);
}

TEST(ChannelFit, is_the_same_on_every_run) {
  const PlacedGroup server = placed(4);
  const auto timings = timings_with(server, slow_channel());
  const auto fit = [&] {
    return fit_channel(server.fabric, CollectiveKind::kAllReduce, server.group, timings);
  };
  EXPECT_EQ(fit().channel, fit().channel);
}

}  // namespace
}  // namespace podsim::channel_fit_test
