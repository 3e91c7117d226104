// Follows packets and events, and expects of each what viewers need.
#include "tests/proto/traces/decoded_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "proto/perfetto.pb.h"

namespace podsim::testing {
namespace {

class PerfettoDecoder {
 public:
  std::vector<DecodedSlice> decode(const std::string& bytes) {
    perfetto::Trace trace;
    EXPECT_TRUE(trace.ParseFromString(bytes));
    for (const perfetto::TracePacket& packet : trace.packet()) take(packet);
    for (const auto& [sequence, open] : open_) EXPECT_TRUE(open.empty()) << "a slice that never ends";
    for (auto& [track, counter] : counters_) of_counters.push_back(std::move(counter));
    return std::move(slices_);
  }

  std::vector<DecodedCounter> of_counters;  // once decoded

 private:
  struct Sequence {
    std::uint64_t track = 0;
    std::map<std::uint64_t, std::string> names, arguments, texts;
    std::int64_t now_ns = -1;  // of its own clock; < 0: it has none
    std::uint32_t clock = 0;   // of its events
  };

  void take(const perfetto::TracePacket& packet) {
    ASSERT_NE(packet.trusted_packet_sequence_id(), 0u);
    EXPECT_EQ(packet.GetReflection()->GetUnknownFields(packet).field_count(), 0);
    Sequence& sequence = sequences_[packet.trusted_packet_sequence_id()];
    if (packet.has_track_descriptor()) describe(packet.track_descriptor());
    if (packet.sequence_flags() & perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED) sequence = {};
    if (packet.has_trace_packet_defaults()) {
      sequence.track = packet.trace_packet_defaults().track_event_defaults().track_uuid();
      sequence.clock = packet.trace_packet_defaults().timestamp_clock_id();
    }
    if (packet.has_clock_snapshot()) set_clock(packet.clock_snapshot(), sequence);
    for (const auto& each : packet.interned_data().event_names()) sequence.names[each.iid()] = each.name();
    for (const auto& each : packet.interned_data().debug_annotation_names())
      sequence.arguments[each.iid()] = each.name();
    for (const auto& each : packet.interned_data().debug_annotation_string_values())
      sequence.texts[each.iid()] = each.str();
    if (!packet.has_track_event()) return;
    ASSERT_GE(sequence.now_ns, 0) << "an event of no clock";
    EXPECT_EQ(sequence.clock, 64u);
    sequence.now_ns += static_cast<std::int64_t>(packet.timestamp());  // which is never negative
    happen(packet, sequence);
  }

  // The trace's clock and the sequence's at one instant, from which the latter counts.
  static void set_clock(const perfetto::ClockSnapshot& snapshot, Sequence& sequence) {
    ASSERT_EQ(snapshot.clocks_size(), 2);
    EXPECT_EQ(snapshot.clocks(0).clock_id(), 6u);
    EXPECT_EQ(snapshot.clocks(1).clock_id(), 64u);
    EXPECT_TRUE(snapshot.clocks(1).is_incremental());
    EXPECT_EQ(snapshot.clocks(0).timestamp(), snapshot.clocks(1).timestamp());
    sequence.now_ns = static_cast<std::int64_t>(snapshot.clocks(1).timestamp());
    EXPECT_GE(sequence.now_ns, 1'000'000);
  }

  void describe(const perfetto::TrackDescriptor& track) {
    EXPECT_TRUE(tracks_.try_emplace(track.uuid(), track).second) << "two tracks of one uuid";
    EXPECT_FALSE(track.name().empty());
    EXPECT_TRUE(!track.has_parent_uuid() || tracks_.contains(track.parent_uuid())) << "parents come first";
  }

  void happen(const perfetto::TracePacket& packet, const Sequence& sequence) {
    const perfetto::TrackEvent& event = packet.track_event();
    ASSERT_TRUE(tracks_.contains(sequence.track)) << "an event of no track";
    const std::int64_t ns = sequence.now_ns;
    if (event.type() == perfetto::TrackEvent::TYPE_COUNTER) {
      const perfetto::TrackDescriptor& track = tracks_.at(sequence.track);
      DecodedCounter& counter = counters_[sequence.track];
      counter.group = tracks_.at(track.parent_uuid()).name();
      counter.name = track.name();
      counter.unit = track.counter().unit_name();
      counter.values.emplace_back(ns, event.double_counter_value());
      return;
    }
    std::vector<std::size_t>& open = open_[packet.trusted_packet_sequence_id()];
    if (event.type() == perfetto::TrackEvent::TYPE_SLICE_END) {
      ASSERT_FALSE(open.empty()) << "an end without a begin";
      slices_[open.back()].end_ns = ns;
      open.pop_back();
      return;
    }
    EXPECT_TRUE(packet.sequence_flags() & perfetto::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    ASSERT_TRUE(sequence.names.contains(event.name_iid())) << "a slice without a name";
    const perfetto::TrackDescriptor& track = tracks_.at(sequence.track);
    DecodedSlice slice{tracks_.at(track.parent_uuid()).name(), track.name(),
                       sequence.names.at(event.name_iid()), ns, ns};
    for (const perfetto::DebugAnnotation& argument : event.debug_annotations()) {
      ASSERT_TRUE(sequence.arguments.contains(argument.name_iid()));
      const std::string& name = sequence.arguments.at(argument.name_iid());
      if (name == "duration_ps") slice.duration_ps = argument.int_value();
      if (name == "waits_for") slice.waits_for = sequence.texts.at(argument.string_value_iid());
      if (name == "layers") slice.layers = sequence.texts.at(argument.string_value_iid());
      if (name == "shape") slice.shape = sequence.texts.at(argument.string_value_iid());
      if (name == "flops") slice.flops = argument.int_value();
      if (name == "message") slice.message = sequence.texts.at(argument.string_value_iid());
    }
    slice.sends.assign(event.flow_ids().begin(), event.flow_ids().end());
    ASSERT_LE(event.terminating_flow_ids_size(), 1);
    if (event.terminating_flow_ids_size() == 1) slice.receives = event.terminating_flow_ids(0);
    if (!open.empty()) slices_[open.back()].holds_others = true;
    if (event.type() == perfetto::TrackEvent::TYPE_SLICE_BEGIN) open.push_back(slices_.size());
    slices_.push_back(slice);
  }

  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks_;
  std::map<std::uint32_t, std::vector<std::size_t>> open_;  // slices, by sequence
  std::map<std::uint64_t, DecodedCounter> counters_;        // by track
  std::vector<DecodedSlice> slices_;
};

}  // namespace

std::vector<DecodedSlice> decode_perfetto(const std::string& bytes) {
  return PerfettoDecoder().decode(bytes);
}

std::vector<DecodedCounter> counters_of_perfetto(const std::string& bytes) {
  PerfettoDecoder decoder;
  decoder.decode(bytes);
  return std::move(decoder.of_counters);
}

std::vector<DecodedCounter> counters_of_chrome(const std::string& text) {
  std::map<int, std::string> groups;
  std::vector<DecodedCounter> counters;
  const nlohmann::json trace = nlohmann::json::parse(text);
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("name") == "process_name") groups[event.at("pid")] = event["args"]["name"];
    if (event.at("ph") != "C") continue;
    const std::string group = groups.at(event.at("pid")), name = event.at("name");
    if (counters.empty() || counters.back().group != group || counters.back().name != name)
      counters.push_back({group, name, event.at("args").begin().key(), {}});
    counters.back().values.emplace_back(std::llround(event.at("ts").get<double>() * 1000),
                                        event.at("args").begin().value().get<double>());
  }
  return counters;
}

std::vector<DecodedSlice> decode_chrome(const std::string& text) {
  std::vector<DecodedSlice> slices;
  std::map<int, std::string> groups;
  std::map<std::pair<int, int>, std::string> tracks;
  const auto ns = [](const nlohmann::json& us) { return std::llround(us.get<double>() * 1000); };
  const nlohmann::json trace = nlohmann::json::parse(text);
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    const int process = event.at("pid"), thread = event.at("tid");
    const std::string phase = event.at("ph");
    if (phase == "M" && event.at("name") == "process_name") groups[process] = event["args"]["name"];
    if (phase == "M" && event.at("name") == "thread_name") tracks[{process, thread}] = event["args"]["name"];
    if (phase == "s") slices.back().sends.push_back(event.at("id"));
    if (phase == "f") slices.back().receives = event.at("id");
    if (phase != "X") continue;
    DecodedSlice slice{groups.at(process), tracks.at({process, thread}), event.at("name")};
    slice.begin_ns = ns(event.at("ts"));
    slice.end_ns = slice.begin_ns + ns(event.at("dur"));
    if (event.at("args").contains("waits_for")) slice.waits_for = event["args"]["waits_for"];
    if (event["args"].contains("layers")) slice.layers = event["args"]["layers"];
    if (event["args"].contains("shape")) slice.shape = event["args"]["shape"];
    if (event["args"].contains("flops")) slice.flops = event["args"]["flops"];
    slice.duration_ps = std::stoll(event.at("args").at("duration_ps").get<std::string>());
    slices.push_back(slice);
  }
  return slices;
}

void expect_same_slices(std::vector<DecodedSlice> a, std::vector<DecodedSlice> b) {
  const auto before = [](const DecodedSlice& x, const DecodedSlice& y) { return x.key() < y.key(); };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].key(), b[i].key()) << a[i].name;
}

}  // namespace podsim::testing
