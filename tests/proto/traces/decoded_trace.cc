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
    return std::move(slices_);
  }

 private:
  struct Sequence {
    std::uint64_t track = 0;
    std::map<std::uint64_t, std::string> names, arguments, texts;
    std::uint64_t last_ns = 0;
  };

  void take(const perfetto::TracePacket& packet) {
    ASSERT_NE(packet.trusted_packet_sequence_id(), 0u);
    EXPECT_EQ(packet.GetReflection()->GetUnknownFields(packet).field_count(), 0);
    Sequence& sequence = sequences_[packet.trusted_packet_sequence_id()];
    if (packet.has_track_descriptor()) describe(packet.track_descriptor());
    if (packet.sequence_flags() & perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED) sequence = {};
    if (packet.has_trace_packet_defaults())
      sequence.track = packet.trace_packet_defaults().track_event_defaults().track_uuid();
    for (const auto& each : packet.interned_data().event_names()) sequence.names[each.iid()] = each.name();
    for (const auto& each : packet.interned_data().debug_annotation_names())
      sequence.arguments[each.iid()] = each.name();
    for (const auto& each : packet.interned_data().debug_annotation_string_values())
      sequence.texts[each.iid()] = each.str();
    if (!packet.has_track_event()) return;
    EXPECT_GE(packet.timestamp(), std::max<std::uint64_t>(sequence.last_ns, 1'000'000)) << "order of time";
    sequence.last_ns = packet.timestamp();
    happen(packet, sequence);
  }

  void describe(const perfetto::TrackDescriptor& track) {
    EXPECT_TRUE(tracks_.try_emplace(track.uuid(), track).second) << "two tracks of one uuid";
    EXPECT_FALSE(track.name().empty());
    EXPECT_TRUE(!track.has_parent_uuid() || tracks_.contains(track.parent_uuid())) << "parents come first";
  }

  void happen(const perfetto::TracePacket& packet, const Sequence& sequence) {
    const perfetto::TrackEvent& event = packet.track_event();
    ASSERT_TRUE(tracks_.contains(sequence.track)) << "an event of no track";
    const auto ns = static_cast<std::int64_t>(packet.timestamp());
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
      if (name == "message") slice.message = sequence.texts.at(argument.string_value_iid());
    }
    if (event.flow_ids_size() == 1) slice.sends = event.flow_ids(0);
    if (event.terminating_flow_ids_size() == 1) slice.receives = event.terminating_flow_ids(0);
    if (!open.empty()) slices_[open.back()].holds_others = true;
    if (event.type() == perfetto::TrackEvent::TYPE_SLICE_BEGIN) open.push_back(slices_.size());
    slices_.push_back(slice);
  }

  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks_;
  std::map<std::uint32_t, std::vector<std::size_t>> open_;  // slices, by sequence
  std::vector<DecodedSlice> slices_;
};

}  // namespace

std::vector<DecodedSlice> decode_perfetto(const std::string& bytes) {
  return PerfettoDecoder().decode(bytes);
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
    if (phase == "s") slices.back().sends = event.at("id");
    if (phase == "f") slices.back().receives = event.at("id");
    if (phase != "X") continue;
    DecodedSlice slice{groups.at(process), tracks.at({process, thread}), event.at("name")};
    slice.begin_ns = ns(event.at("ts"));
    slice.end_ns = slice.begin_ns + ns(event.at("dur"));
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
