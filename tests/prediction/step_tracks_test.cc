// Rules of the tracks of a simulated step, and of the files that viewers read them from.
#include "report/tracks/step_tracks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "prediction/predict.h"
#include "proto/traces/step_trace.h"
#include "report/tracks/track_excerpt.h"
#include "tests/prediction/scenario.h"
#include "tests/proto/traces/decoded_trace.h"

namespace podsim::step_tracks_test {
namespace {

using podsim::testing::decode_chrome;
using podsim::testing::decode_perfetto;
using podsim::testing::DecodedSlice;

// Fewer microbatches are as good and sooner simulated.
Spec spec_of(const std::string& name) {
  Spec spec = testing::load(name);
  spec.job.global_batch /= 4;
  return spec;
}

// Made once for all tests.
const Prediction& predict(const char* name, Loop loop = Loop::kFast) {
  static std::map<std::pair<std::string, Loop>, Prediction> known;
  const auto found = known.find({name, loop});
  if (found != known.end()) return found->second;
  PredictOptions options;
  options.tracks = true;
  options.loop = loop;
  return known.emplace(std::pair(name, loop), predict_step(spec_of(name), options)).first->second;
}

// Both ends of every flow, as files have them.
std::vector<std::pair<DecodedSlice, DecodedSlice>> flows_of(const StepTracks& tracks) {
  std::map<std::uint64_t, std::vector<DecodedSlice>> from, to;
  for (const DecodedSlice& slice : decode_perfetto(perfetto_trace(tracks))) {
    for (const std::uint64_t flow : slice.sends) from[flow].push_back(slice);
    if (slice.receives != 0) to[slice.receives].push_back(slice);
  }
  std::vector<std::pair<DecodedSlice, DecodedSlice>> flows;
  EXPECT_EQ(from.size(), to.size());
  for (const auto& [flow, slices] : from) {
    EXPECT_EQ(slices.size(), 1u);
    EXPECT_EQ(to[flow].size(), 1u);
    if (!to[flow].empty()) flows.emplace_back(slices.front(), to[flow].front());
  }
  return flows;
}

constexpr const char* kScenarios[] = {"llama3_70b_512_h100", "one_slow_chip_512"};

TEST(StepTracks, what_a_chip_does_and_waits_for_makes_its_step) {
  for (const char* name : kScenarios) {
    const Prediction& prediction = predict(name);
    const auto slices = decode_perfetto(perfetto_trace(prediction.tracks.value()));
    std::map<std::string, std::int64_t> sum_ps, sum_ns, count;  // by group
    for (const DecodedSlice& slice : slices) {
      if (slice.track != "compute" || slice.holds_others) continue;
      sum_ps[slice.group] += slice.duration_ps;
      sum_ns[slice.group] += slice.end_ns - slice.begin_ns;
      ++count[slice.group];
    }
    EXPECT_EQ(sum_ps.size(), prediction.tracks->groups.size());
    for (const auto& [group, ps] : sum_ps) {
      EXPECT_EQ(ps, prediction.report.step_time.ps) << name << ", " << group;
      EXPECT_LT(std::abs(sum_ns[group] * 1000 - ps), 1000 * count[group]) << name << ", " << group;
    }
  }
}

TEST(StepTracks, every_transfer_has_a_slice_that_sends_and_one_that_receives_at_the_same_time) {
  const Prediction& prediction = predict("llama3_70b_512_h100");
  int transfers = 0;
  for (const auto& [from, to] : flows_of(prediction.tracks.value())) {
    if (from.track == "compute") continue;
    ++transfers;
    EXPECT_EQ(from.begin_ns, to.begin_ns);
    EXPECT_EQ(from.end_ns, to.end_ns);
    EXPECT_NE(from.group, to.group);
  }
  EXPECT_GT(transfers, 100);
  EXPECT_EQ(transfers, prediction.tracks->transfers);
}

// An arrow for every wait for peers, forward in time, from the group that the wait names to what follows it.
TEST(StepTracks, arrows_lead_from_the_last_to_come_to_a_collective_to_all_who_waited) {
  const StepTracks& tracks = predict("one_slow_chip_512").tracks.value();
  std::map<std::pair<std::string, std::int64_t>, std::string> waits;  // group and end: for whom
  for (const DecodedSlice& slice : decode_perfetto(perfetto_trace(tracks)))
    if (slice.name == "wait for peers") waits[{slice.group, slice.end_ns}] = slice.waits_for;
  int arrivals = 0;
  for (const auto& [from, to] : flows_of(tracks)) {
    if (from.track != "compute") continue;
    ++arrivals;
    EXPECT_EQ(to.track, "compute");
    EXPECT_LT(from.begin_ns, to.begin_ns);
    EXPECT_GE(from.end_ns, to.begin_ns);
    const auto wait = waits.find({to.group, to.begin_ns});
    ASSERT_NE(wait, waits.end()) << to.group << ", " << to.name;
    EXPECT_EQ(wait->second, from.group);
    EXPECT_FALSE(from.holds_others || to.holds_others);
    waits.erase(wait);
  }
  EXPECT_GT(arrivals, 10);
  EXPECT_EQ(arrivals, tracks.arrivals);
  EXPECT_TRUE(waits.empty()) << waits.size() << " waits have no arrow";
}

TEST(StepTracks, a_stage_runs_each_of_its_passes_once) {
  const StepTracks& tracks = predict("zero_bubble_70b_256_h100").tracks.value();
  for (const TrackGroup& group : tracks.groups) {
    std::map<std::string, int> passes;
    for (const TrackSlice& slice : group.tracks.front().slices)
      if (slice.microbatch >= 0) ++passes[slice.name];
    EXPECT_EQ(passes.size() % 3, 0u) << "forward, backward and weight gradient of each microbatch";
    for (const char* name : {"forward 0", "backward 0", "weight gradient 0"})
      EXPECT_EQ(passes[name], 1) << name;
    for (const auto& [name, times] : passes) EXPECT_EQ(times, 1) << group.name << ": " << name;
  }
}

// Of all stages the layers of the model, each once.
TEST(StepTracks, passes_tell_their_layers_their_shape_and_flops_that_add_up_to_those_of_the_step) {
  const Prediction& prediction = predict("llama3_70b_512_h100");
  double flops = 0;
  std::map<std::string, int> layers;
  for (const DecodedSlice& slice : decode_perfetto(perfetto_trace(prediction.tracks.value()))) {
    if (slice.flops < 0) continue;
    flops += static_cast<double>(slice.flops);
    ++layers[slice.layers];
    EXPECT_TRUE(slice.shape.starts_with("[")) << slice.name << ": " << slice.shape;
  }
  std::set<int> told;
  for (const auto& [range, passes] : layers) {
    const std::size_t dash = range.find('-');
    for (int layer = std::stoi(range); layer <= std::stoi(range.substr(dash + 1)); ++layer)
      EXPECT_TRUE(told.insert(layer).second) << range;
  }
  EXPECT_EQ(told.size(), 80u);
  const Report& report = prediction.report;
  const double chips_alike = 64;  // of each of 8 stages
  const double causal = report.model_flops_per_token_causal,
               of_attention = report.model_flops_per_token_full - causal;
  // Two thirds of attention are backward, whose kernels multiply five times for the four that the model has:
  // scores are made again.
  EXPECT_NEAR(flops * chips_alike / report.tokens_per_step, causal + of_attention * 2 / 3 / 4, 1e-3 * causal);
}

TEST(StepTracks, input_and_weight_gradients_share_the_flops_of_a_backward_pass) {
  const StepTracks& tracks = predict("zero_bubble_70b_256_h100").tracks.value();
  for (const TrackGroup& group : tracks.groups) {
    std::map<std::string, double> flops;
    for (const TrackSlice& slice : group.tracks.front().slices)
      if (slice.microbatch == 0) flops[slice.name] = slice.flops;
    EXPECT_GT(flops["weight gradient 0"], 0);
    EXPECT_GT(flops["backward 0"], 0);
    EXPECT_NEAR((flops["weight gradient 0"] + flops["backward 0"]) / flops["forward 0"], 2, 0.2)
        << group.name;
  }
}

TEST(StepTracks, a_slow_chip_has_a_group_of_its_own) {
  const StepTracks& tracks = predict("one_slow_chip_512").tracks.value();
  int slow = 0;
  for (const TrackGroup& group : tracks.groups) slow += group.name == "stage 2, chip 137 (slow)";
  EXPECT_EQ(slow, 1);
}

TEST(StepTracks, both_files_hold_the_same_slices) {
  const StepTracks& tracks = predict("llama3_70b_512_h100").tracks.value();
  testing::expect_same_slices(decode_perfetto(perfetto_trace(tracks)), decode_chrome(chrome_trace(tracks)));
}

// Whoever waits for others is told for whom: for a slow chip its peers, and the stages behind it.
TEST(StepTracks, waits_for_others_name_whom_they_are_for) {
  const StepTracks& tracks = predict("one_slow_chip_512").tracks.value();
  std::map<std::string, Time> for_slow;  // by what the wait is called
  for (const DecodedSlice& slice : decode_perfetto(perfetto_trace(tracks))) {
    EXPECT_EQ(slice.waits_for.empty(), slice.name != "wait for peers" && slice.name != "wait for a stage")
        << slice.name;
    EXPECT_NE(slice.waits_for, slice.group);
    if (slice.waits_for == "stage 2, chip 137 (slow)") for_slow[slice.name].ps += slice.duration_ps;
  }
  EXPECT_GT(for_slow["wait for peers"].ps, 0);
}

TEST(StepTracks, memory_comes_and_goes_between_what_stays_and_the_most_that_the_report_has) {
  const Prediction& prediction = predict("llama3_70b_512_h100");
  const auto counters = testing::counters_of_perfetto(perfetto_trace(prediction.tracks.value()));
  double most = 0;
  int stages = 0;
  for (const testing::DecodedCounter& counter : counters) {
    if (counter.group != "Memory of a chip") continue;
    EXPECT_EQ(counter.unit, "GiB");
    ++stages;
    for (const auto& [ns, value] : counter.values) {
      EXPECT_GT(value, 0);
      most = std::max(most, value);
    }
    EXPECT_NEAR(counter.values.front().second, counter.values.back().second, 1e-9)
        << counter.name << ": what a step takes it gives back";
  }
  EXPECT_EQ(stages, 8);
  EXPECT_NEAR(most, prediction.report.memory.total, 1e-9);
}

// What links carry in the picture is what they carry in the report.
TEST(StepTracks, link_counters_add_up_to_the_bytes_of_the_report) {
  for (const char* name : kScenarios) {
    const Prediction& prediction = predict(name);
    std::map<std::string, double> busiest;  // share of what a link of the kind could carry
    for (const testing::DecodedCounter& counter :
         testing::counters_of_perfetto(perfetto_trace(prediction.tracks.value()))) {
      if (counter.group != "Links") continue;
      EXPECT_EQ(counter.unit, "GB/s");
      double gigabytes = 0;
      for (std::size_t i = 0; i < counter.values.size(); ++i) {
        const auto& [ns, rate] = counter.values[i];
        EXPECT_GE(rate, 0);
        if (i + 1 < counter.values.size())
          gigabytes += rate * static_cast<double>(counter.values[i + 1].first - ns) / 1e9;
      }
      EXPECT_EQ(counter.values.back().second, 0);
      const std::string kind = counter.name.substr(0, counter.name.find(' '));
      const double capacity = std::stod(counter.name.substr(counter.name.find("at most ") + 8));
      busiest[kind] =
          std::max(busiest[kind], gigabytes / (capacity * prediction.report.step_time.in_seconds()));
    }
    ASSERT_FALSE(busiest.empty());
    for (const LinkUse& use : prediction.report.link_use) {
      if (use.max_utilisation > 0.001) {
        EXPECT_NEAR(busiest[use.kind] / use.max_utilisation, 1, 0.01) << name << ", " << use.kind;
      }
    }
  }
}

TEST(StepTracks, both_files_hold_the_same_counters) {
  const StepTracks& tracks = predict("one_slow_chip_512").tracks.value();
  EXPECT_EQ(testing::counters_of_perfetto(perfetto_trace(tracks)),
            testing::counters_of_chrome(chrome_trace(tracks)));
}

TEST(StepTracks, a_slice_of_a_trace_takes_fewer_than_50_bytes) {
  const std::string trace = perfetto_trace(predict("llama3_70b_512_h100").tracks.value());
  EXPECT_LT(trace.size(), 50 * decode_perfetto(trace).size());
}

TEST(StepTracks, every_loop_makes_the_same_file) {
  const std::string fast = perfetto_trace(predict("zero_bubble_70b_256_h100").tracks.value());
  EXPECT_EQ(perfetto_trace(predict("zero_bubble_70b_256_h100", Loop::kOrdered).tracks.value()), fast);
}

TEST(TrackExcerpt, holds_whole_slices_of_its_time_and_stages_and_flows_with_both_ends) {
  const StepTracks& whole = predict("llama3_70b_512_h100").tracks.value();
  const Time end = end_of(whole), from{end.ps / 4}, to{end.ps / 2};
  const StepTracks part = excerpt(whole, {TrackWindow{from, to}, {1, 2}});
  ASSERT_EQ(stages_of(part), (std::vector<int>{1, 2}));
  std::map<std::tuple<std::string, std::string, Time, Time, std::string>, int> of_whole, of_part;
  for (const StepTracks* step : {&whole, &part})
    for (const TrackGroup& group : step->groups)
      for (const StepTrack& track : group.tracks)
        for (const TrackSlice& slice : track.slices)
          if ((group.stage == 1 || group.stage == 2) && slice.end > from && slice.begin < to)
            ++(step == &whole ? of_whole
                              : of_part)[{group.name, track.name, slice.begin, slice.end, slice.name}];
  EXPECT_EQ(of_part, of_whole);
  const auto flows = flows_of(part);  // each has both ends
  EXPECT_EQ(static_cast<int>(flows.size()), part.transfers + part.arrivals);
  EXPECT_GT(part.transfers, 0);
  EXPECT_LT(part.transfers, whole.transfers);
  for (const CounterGroup& group : part.counters)
    for (const StepCounter& counter : group.counters) {
      EXPECT_GE(counter.values.front().first, from) << counter.name;
      EXPECT_LE(counter.values.back().first, to) << counter.name;
    }
}

TEST(TrackExcerpt, counters_begin_with_what_holds_there) {
  StepTracks step{.name = "s", .groups = {}};
  step.counters = {{"c", "GiB", {{"a", {{Time{0}, 1.0}, {Time{10}, 2.0}, {Time{20}, 3.0}}, 0}}}};
  const StepTracks part = excerpt(step, {TrackWindow{Time{15}, Time{30}}, {}});
  const std::vector<std::pair<Time, double>> expected = {{Time{15}, 2.0}, {Time{20}, 3.0}};
  EXPECT_EQ(part.counters.at(0).counters.at(0).values, expected);
  EXPECT_TRUE(excerpt(step, {{}, {1}}).counters.empty()) << "of another stage";
}

TEST(TrackExcerpt, all_of_a_step_is_the_step) {
  const StepTracks& whole = predict("one_slow_chip_512").tracks.value();
  EXPECT_EQ(perfetto_trace(excerpt(whole, {})), perfetto_trace(whole));
  EXPECT_EQ(perfetto_trace(excerpt(whole, {TrackWindow{Time{}, Time{end_of(whole).ps + 1}}, {}})),
            perfetto_trace(whole));
}

}  // namespace
}  // namespace podsim::step_tracks_test
