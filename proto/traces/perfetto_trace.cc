// Writes tracks as packets of Perfetto's format: a sequence of packets for each track, with its own names.
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "proto/perfetto.pb.h"
#include "proto/traces/step_trace.h"

namespace podsim {
namespace {

enum class Argument : std::uint64_t {
  kBegin = 1,
  kDuration,
  kMessage,
  kMicrobatch,
  kChunk,
  kAwaited,
  kLayers,
  kFlops,
  kShape
};
constexpr std::array<std::string_view, 9> kArgumentNames = {
    "begin_ps", "duration_ps", "message", "microbatch", "chunk", "waits_for", "layers", "flops", "shape"};

// Numbers of clocks in the public format: the one of the whole trace, and the first of a sequence's own.
constexpr std::uint32_t kTraceClock = 6, kSequenceClock = 64;

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
    for (const CounterGroup& group : step.counters) {
      const std::uint64_t parent = describe(group.name, root, rank++);
      int track_rank = 0;
      for (const StepCounter& counter : group.counters)
        add(counter, describe(counter.name, parent, track_rank++, group.unit));
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

  // An event, so long after the one before of its sequence.
  perfetto::TracePacket& event_at(Time time) {
    const std::int64_t ns = kTraceStartNs + nearest_ns(time);
    perfetto::TracePacket& packet = next();
    packet.set_timestamp(static_cast<std::uint64_t>(ns - now_ns_));
    now_ns_ = ns;
    return packet;
  }

  // Returns the uuid. A counter has a unit.
  std::uint64_t describe(const std::string& name, std::uint64_t parent, int rank,
                         const std::string& unit = "") {
    ++sequence_;
    perfetto::TrackDescriptor& track = *next().mutable_track_descriptor();
    track.set_uuid(++last_uuid_);
    track.set_name(name);
    if (parent != 0) track.set_parent_uuid(parent);
    track.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
    track.set_sibling_order_rank(rank);
    if (!unit.empty()) track.mutable_counter()->set_unit_name(unit);
    put();
    return last_uuid_;
  }

  void add(const StepTrack& track, std::uint64_t uuid) {
    Interned names, texts;
    for (const TrackSlice& slice : track.slices) {
      names.of(slice.name);
      if (slice.bytes >= 0) texts.of(message_text(slice));
      for (const std::string* text : {&slice.awaited, &slice.layers, &slice.shape})
        if (!text->empty()) texts.of(*text);
    }
    begin_events(names, texts, uuid);
    walk(
        track, [&](const TrackSlice& slice) { begin(slice, names, texts); },
        [&](const TrackSlice& slice) {
          if (vanishes(slice)) return;
          event_at(slice.end).mutable_track_event()->set_type(perfetto::TrackEvent::TYPE_SLICE_END);
          put();
        });
  }

  void add(const StepCounter& counter, std::uint64_t uuid) {
    begin_events({}, {}, uuid);
    for (const auto& [time, value] : counter.values) {
      perfetto::TrackEvent& event = *event_at(time).mutable_track_event();
      event.set_type(perfetto::TrackEvent::TYPE_COUNTER);
      event.set_double_counter_value(value);
      put();
    }
  }

  // What holds for all events of the sequence, and its clock, which begins with the trace.
  void begin_events(const Interned& names, const Interned& texts, std::uint64_t uuid) {
    perfetto::TracePacket& packet = next();
    packet.set_sequence_flags(perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    perfetto::TracePacketDefaults& defaults = *packet.mutable_trace_packet_defaults();
    defaults.mutable_track_event_defaults()->set_track_uuid(uuid);
    defaults.set_timestamp_clock_id(kSequenceClock);
    now_ns_ = kTraceStartNs;
    for (const std::uint32_t id : {kTraceClock, kSequenceClock}) {
      perfetto::ClockSnapshot::Clock& clock = *packet.mutable_clock_snapshot()->add_clocks();
      clock.set_clock_id(id);
      clock.set_timestamp(static_cast<std::uint64_t>(now_ns_));
      if (id == kSequenceClock) clock.set_is_incremental(true);
    }
    if (names.all().empty()) return put();  // a counter
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
    for (const auto& [text, number] : texts.all()) {
      perfetto::InternedString& entry = *data.add_debug_annotation_string_values();
      entry.set_iid(number);
      entry.set_str(text);
    }
    put();
  }

  static bool vanishes(const TrackSlice& slice) { return nearest_ns(slice.begin) == nearest_ns(slice.end); }

  void begin(const TrackSlice& slice, Interned& names, Interned& texts) {
    perfetto::TracePacket& packet = event_at(slice.begin);
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
    const auto tell = [&](Argument name, const std::string& text) {
      perfetto::DebugAnnotation& argument = *event.add_debug_annotations();
      argument.set_name_iid(static_cast<std::uint64_t>(name));
      argument.set_string_value_iid(texts.of(text));
    };
    if (slice.bytes >= 0) tell(Argument::kMessage, message_text(slice));
    if (!slice.awaited.empty()) tell(Argument::kAwaited, slice.awaited);
    if (slice.microbatch >= 0) {
      argue(Argument::kBegin, slice.begin.ps);
      argue(Argument::kMicrobatch, slice.microbatch);
      argue(Argument::kChunk, slice.chunk);
    }
    if (!slice.layers.empty()) tell(Argument::kLayers, slice.layers);
    if (slice.flops >= 0) argue(Argument::kFlops, std::llround(slice.flops));
    if (!slice.shape.empty()) tell(Argument::kShape, slice.shape);
    for (const int flow : slice.sends) event.add_flow_ids(static_cast<std::uint64_t>(flow + 1));
    if (slice.receives >= 0) event.add_terminating_flow_ids(static_cast<std::uint64_t>(slice.receives + 1));
    put();
  }

  perfetto::Trace one_;
  std::string out_;
  std::uint32_t sequence_ = 0;
  std::uint64_t last_uuid_ = 0;
  std::int64_t now_ns_ = 0;  // of the last event of the sequence
};

}  // namespace

std::string perfetto_trace(const StepTracks& step) { return PerfettoWriter().write(step); }

}  // namespace podsim
