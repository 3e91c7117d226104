// Rules of traces for viewers, on steps written by hand.
#include "proto/traces/step_trace.h"

#include <gtest/gtest.h>

#include "tests/proto/traces/decoded_trace.h"

namespace podsim::step_trace_test {
namespace {

using podsim::testing::decode_chrome;
using podsim::testing::decode_perfetto;
using podsim::testing::DecodedSlice;
using podsim::testing::expect_same_slices;

TrackSlice slice(std::int64_t begin_ps, std::int64_t end_ps, const std::string& name) {
  return {Time{begin_ps}, Time{end_ps}, name};
}

StepTracks one_track(std::vector<TrackSlice> slices) {
  return {"step", {{"stage 0, chip 0", {{"compute", std::move(slices)}}}}};
}

TEST(StepTrace, times_are_the_nearest_nanosecond_behind_the_first_millisecond) {
  const auto slices =
      decode_perfetto(perfetto_trace(one_track({slice(499, 1'500, "a"), slice(1'500, 2'499, "b")})));
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].begin_ns, 1'000'000);
  EXPECT_EQ(slices[0].end_ns, 1'000'002);
  EXPECT_EQ(slices[0].duration_ps, 1'001);
  EXPECT_EQ(slices[1].begin_ns, 1'000'002);
  EXPECT_EQ(slices[1].end_ns, 1'000'002) << "what vanishes stays as an instant";
}

TEST(StepTrace, children_stay_within_their_parents) {
  const auto slices =
      decode_perfetto(perfetto_trace(one_track({slice(0, 10'400, "pass"), slice(0, 5'500, "compute"),
                                                slice(5'500, 10'400, "wait"), slice(10'400, 10'900, "x")})));
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_TRUE(slices[0].holds_others);
  for (const std::size_t child : {1u, 2u}) {
    EXPECT_GE(slices[child].begin_ns, slices[0].begin_ns);
    EXPECT_LE(slices[child].end_ns, slices[0].end_ns);
    EXPECT_FALSE(slices[child].holds_others);
  }
  EXPECT_FALSE(slices[3].holds_others);
}

TEST(StepTrace, collectives_tell_their_algorithm_and_bytes_and_transfers_both_ends) {
  TrackSlice sent = slice(1'000, 9'000, "send-receive over pipeline"), received = sent;
  sent.algorithm = received.algorithm = "direct";
  sent.bytes = received.bytes = 4096;
  sent.sends = {0};
  received.receives = 0;
  const StepTracks step{"step", {{"stage 0", {{"sent", {sent}}}}, {"stage 1", {{"received", {received}}}}}};
  const auto slices = decode_perfetto(perfetto_trace(step));
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].message, "direct, 4096 bytes");
  EXPECT_EQ(slices[0].sends, std::vector{slices[1].receives});
  EXPECT_NE(slices[1].receives, 0u);
  expect_same_slices(slices, decode_chrome(chrome_trace(step)));
}

TEST(StepTrace, names_may_hold_anything) {
  for (const std::string& name :
       {std::string("</script><img onerror=x>"), std::string("\"}],{"), std::string("a\\b\n\t\x01"),
        std::string("\xe2\x80\xae\xf0\x9f\x9a\x80"), std::string(10'000, 'x')}) {
    StepTracks step = one_track({slice(0, 5'000, name)});
    step.name = step.groups[0].name = step.groups[0].tracks[0].name = name;
    const auto slices = decode_perfetto(perfetto_trace(step));
    ASSERT_EQ(slices.size(), 1u);
    EXPECT_EQ(slices[0].name, name);
    EXPECT_EQ(slices[0].group, name);
    expect_same_slices(slices, decode_chrome(chrome_trace(step)));
  }
}

}  // namespace
}  // namespace podsim::step_trace_test
