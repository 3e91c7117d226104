// Transports: the ideal one is the fluid, others lose bandwidth where flows collide and nowhere else.
#include "scheduler/network/transport_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace podsim::transport_model_test {
namespace {

constexpr double kRate = 50e9;  // bytes per second
constexpr double kPicoseconds = 1e12;

const Transport kLossy = {"lossy", 0.1, 0.75, 0};

struct Flow {
  std::int32_t from, to;
  std::vector<Use> uses;
  double bytes;
};

// When each of several flows that begin together is gone, in picoseconds.
std::vector<Tick> finish(const std::vector<Flow>& flows, int links, const Transport& transport,
                         std::uint64_t seed = 1) {
  TransportModel transport_model(std::vector<double>(links, kRate), kPicoseconds, {transport, seed});
  for (std::size_t i = 0; i < flows.size(); ++i)
    transport_model.begin(0, flows[i].from, flows[i].to, flows[i].uses, flows[i].bytes,
                          static_cast<std::int32_t>(i));
  std::vector<Tick> at(flows.size());
  while (!transport_model.idle()) {
    const Tick now = transport_model.next();
    std::vector<std::int32_t> owners;
    transport_model.end(now, owners);
    for (const std::int32_t owner : owners) at[owner] = now;
  }
  return at;
}

Use whole(std::int32_t link) { return {link, fixed_usage(1)}; }

TEST(TransportModel, flows_that_collide_lose_a_share_of_their_link) {
  const std::vector<Flow> two = {{0, 10, {whole(0)}, 1e6}, {1, 11, {whole(0)}, 1e6}};
  EXPECT_EQ(finish(two, 1, {}), (std::vector<Tick>{40'000'000, 40'000'000}));
  const Tick slower = std::llround(40'000'000 / 0.9);
  EXPECT_EQ(finish(two, 1, kLossy), (std::vector<Tick>{slower, slower}));
}

TEST(TransportModel, the_loss_ends_with_the_collision) {
  const std::vector<Flow> two = {{0, 10, {whole(0)}, 1e6}, {1, 11, {whole(0)}, 3e6}};
  const auto at = finish(two, 1, kLossy);
  EXPECT_EQ(at[1] - at[0], 40'000'000);  // the last 2e6 bytes alone at the whole rate
}

TEST(TransportModel, the_loss_has_a_floor) {
  std::vector<Flow> many;
  for (std::int32_t i = 0; i < 8; ++i) many.push_back({i, 100 + i, {whole(0)}, 1e6});
  EXPECT_EQ(finish(many, 1, kLossy)[0], std::llround(160'000'000 / 0.75));
}

TEST(TransportModel, an_incast_and_a_fan_out_lose_nothing) {
  std::vector<Flow> incast, fan_out;
  for (std::int32_t i = 0; i < 4; ++i) {
    incast.push_back({i, 100, {whole(0)}, 1e6});
    fan_out.push_back({100, i, {whole(0)}, 1e6});
  }
  EXPECT_EQ(finish(incast, 1, kLossy)[3], 80'000'000);
  EXPECT_EQ(finish(fan_out, 1, kLossy)[3], 80'000'000);
}

TEST(TransportModel, weights_share_unequally_and_finish_together_no_later) {
  const Transport uneven = {"uneven", 0, 1, 0.5};
  const std::vector<Flow> two = {{0, 10, {whole(0)}, 1e6}, {1, 11, {whole(0)}, 1e6}};
  const auto at = finish(two, 1, uneven);
  EXPECT_NE(at[0], at[1]);
  EXPECT_EQ(std::max(at[0], at[1]), 40'000'000);
  EXPECT_EQ(finish(two, 1, uneven), at) << "the same seed gives the same weights";
  EXPECT_NE(finish(two, 1, uneven, 2), at);
}

TEST(TransportModel, a_capacity_that_changes_keeps_its_loss) {
  TransportModel transport_model({kRate}, kPicoseconds, {kLossy, 1});
  const std::vector<Use> uses = {whole(0)};
  transport_model.begin(0, 0, 10, uses, 1e6, 0);
  transport_model.begin(0, 1, 11, uses, 1e6, 1);
  transport_model.set_capacity(0, 0, kRate / 2);
  EXPECT_EQ(transport_model.next(), std::llround(80'000'000 / 0.9));
}

}  // namespace
}  // namespace podsim::transport_model_test
