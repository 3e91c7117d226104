// Writes tracks as packets of Perfetto's format: a sequence of packets for each track, with its own names.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "proto/perfetto.pb.h"
#include "proto/traces/step_trace.h"

namespace podsim {
namespace {

enum class Argument : std::uint64_t { kBegin = 1, kDuration, kMessage, kMicrobatch, kChunk };
constexpr std::array<std::string_view, 5> kArgumentNames = {"begin_ps", "duration_ps", "message",
                                                            "microbatch", "chunk"};

std::string message_text(const TrackSlice& slice) {
  return slice.algorithm + ", " + std::to_string(slice.bytes) + " bytes";
}

// Interned from 1 on by text, in order of first use.
class Interned {
 public:
  std::uint64_t of(const std::string& text) {
    return numbers_.try_emplace(text, numbers_.size() + 1).first->second;
  }
  const std::map<std::string, std::uint64_t>& all() const { return numbers_; }

 private:
  std::map<std::string, std::uint64_t> numbers_;
};

class PerfettoWriter {
 public:
  std::string write(const StepTracks& step) {
    const std::uint64_t root = describe(step.name, 0, 0);
    int rank = 0;
    for (const TrackGroup& group : step.groups) {
      const std::uint64_t parent = describe(group.name, root, rank++);
      int track_rank = 0;
      for (const StepTrack& track : group.tracks) add(track, describe(track.name, parent, track_rank++));
    }
    return std::move(out_);
  }

 private:
  // Packets of a trace one after the other are the trace.
  perfetto::TracePacket& next() {
    one_.Clear();
    perfetto::TracePacket& packet = *one_.add_packet();
    packet.set_trusted_packet_sequence_id(sequence_);
    return packet;
  }
  void put() { one_.AppendToString(&out_); }

  // Returns the uuid.
  std::uint64_t describe(const std::string& name, std::uint64_t parent, int rank) {
    ++sequence_;
    perfetto::TrackDescriptor& track = *next().mutable_track_descriptor();
    track.set_uuid(++last_uuid_);
    track.set_name(name);
    if (parent != 0) track.set_parent_uuid(parent);
    track.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
    track.set_sibling_order_rank(rank);
    put();
    return last_uuid_;
  }

  void add(const StepTrack& track, std::uint64_t uuid) {
    Interned names, messages;
    for (const TrackSlice& slice : track.slices) {
      names.of(slice.name);
      if (slice.bytes >= 0) messages.of(message_text(slice));
    }
    intern(names, messages, uuid);
    walk(
        track, [&](const TrackSlice& slice) { begin(slice, names, messages); },
        [&](const TrackSlice& slice) {
          if (vanishes(slice)) return;
          perfetto::TracePacket& packet = next();
          packet.set_timestamp(static_cast<std::uint64_t>(kTraceStartNs + nearest_ns(slice.end)));
          packet.mutable_track_event()->set_type(perfetto::TrackEvent::TYPE_SLICE_END);
          put();
        });
  }

  void intern(const Interned& names, const Interned& messages, std::uint64_t uuid) {
    perfetto::TracePacket& packet = next();
    packet.set_sequence_flags(perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    packet.mutable_trace_packet_defaults()->mutable_track_event_defaults()->set_track_uuid(uuid);
    perfetto::InternedData& data = *packet.mutable_interned_data();
    for (const auto& [name, number] : names.all()) {
      perfetto::EventName& entry = *data.add_event_names();
      entry.set_iid(number);
      entry.set_name(name);
    }
    for (std::size_t i = 0; i < kArgumentNames.size(); ++i) {
      perfetto::DebugAnnotationName& entry = *data.add_debug_annotation_names();
      entry.set_iid(i + 1);
      entry.set_name(std::string(kArgumentNames[i]));
    }
    for (const auto& [text, number] : messages.all()) {
      perfetto::InternedString& entry = *data.add_debug_annotation_string_values();
      entry.set_iid(number);
      entry.set_str(text);
    }
    put();
  }

  static bool vanishes(const TrackSlice& slice) { return nearest_ns(slice.begin) == nearest_ns(slice.end); }

  void begin(const TrackSlice& slice, Interned& names, Interned& messages) {
    perfetto::TracePacket& packet = next();
    packet.set_timestamp(static_cast<std::uint64_t>(kTraceStartNs + nearest_ns(slice.begin)));
    packet.set_sequence_flags(perfetto::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    perfetto::TrackEvent& event = *packet.mutable_track_event();
    event.set_type(vanishes(slice) ? perfetto::TrackEvent::TYPE_INSTANT
                                   : perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    event.set_name_iid(names.of(slice.name));
    const auto argue = [&](Argument name, std::int64_t value) {
      perfetto::DebugAnnotation& argument = *event.add_debug_annotations();
      argument.set_name_iid(static_cast<std::uint64_t>(name));
      argument.set_int_value(value);
    };
    argue(Argument::kDuration, (slice.end - slice.begin).ps);
    if (slice.bytes >= 0) {
      perfetto::DebugAnnotation& argument = *event.add_debug_annotations();
      argument.set_name_iid(static_cast<std::uint64_t>(Argument::kMessage));
      argument.set_string_value_iid(messages.of(message_text(slice)));
    }
    if (slice.microbatch >= 0) {
      argue(Argument::kBegin, slice.begin.ps);
      argue(Argument::kMicrobatch, slice.microbatch);
      argue(Argument::kChunk, slice.chunk);
    }
    const auto flow = static_cast<std::uint64_t>(slice.flow + 1);
    if (slice.flow >= 0 && !slice.receives) event.add_flow_ids(flow);
    if (slice.flow >= 0 && slice.receives) event.add_terminating_flow_ids(flow);
    put();
  }

  perfetto::Trace one_;
  std::string out_;
  std::uint32_t sequence_ = 0;
  std::uint64_t last_uuid_ = 0;
};

}  // namespace

std::string perfetto_trace(const StepTracks& step) { return PerfettoWriter().write(step); }

}  // namespace podsim
