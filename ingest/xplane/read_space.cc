// Message by message, by the numbers of xplane.proto of XLA.
#include "ingest/xplane/read_space.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/utf8.h"
#include "ingest/imported/wire_reader.h"

namespace podsim::xplane {
namespace {

constexpr std::int64_t kMostPicoseconds = std::int64_t{1} << 61;  // sums of two stay below 2^63

// What is wrong, and where.
struct Damage {
  std::string_view at;
  std::string what;
};

// The numbers of fields.
namespace space {
enum : std::uint8_t { kPlane = 1, kError, kWarning, kHost };
}
namespace plane {
enum : std::uint8_t { kId = 1, kName, kLine, kEventName, kStatName, kStat };
}
namespace line {
enum : std::uint8_t { kId = 1, kName, kTimestamp, kEvent, kDuration = 9, kDisplayId, kDisplayName };
}
namespace event {
enum : std::uint8_t { kName = 1, kOffset, kDuration, kStat, kOccurrences };
}
namespace entry {
enum : std::uint8_t { kKey = 1, kValue };
}
namespace named {
enum : std::uint8_t { kId = 1, kName };
}
namespace stat {
enum : std::uint8_t { kName = 1, kDouble, kUnsigned, kSigned, kText, kBytes, kReference };
}

// Statistics that say something here, by the number that a plane has for their names.
struct StatNames {
  std::int64_t correlation = -1, step = -1, memory_size = -1;
  std::vector<std::int64_t> copies;
};

class Reader {
 public:
  explicit Reader(Damage& damage) : damage_(damage) {}

  bool read(std::string_view bytes, Space& space) {
    return each(bytes, "the file", [&](const WireField& field) {
      if (field.number == space::kPlane) return read_plane(field.bytes, space.planes.emplace_back());
      if (field.number == space::kHost) return read_name(field.bytes, space.hosts.emplace_back());
      return field.number == space::kError || field.number == space::kWarning ||
             refuse(field.bytes, "a field that no XSpace has");
    });
  }

 private:
  bool refuse(std::string_view at, const std::string& what) {
    if (damage_.what.empty()) damage_ = {at, what};
    return false;
  }

  // Calls it for each field of a message.
  template <class Use>
  bool each(std::string_view bytes, const char* what, const Use& use) {
    WireReader reader(bytes);
    WireField field;
    while (reader.next(field))
      if (!use(field)) return false;
    if (reader.whole()) return true;
    return refuse(bytes.substr(reader.position()), std::string(what) + " ends inside a field, or is damaged");
  }

  // REQUIRES: the bytes are of the file.
  bool read_name(std::string_view bytes, std::string& name) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t length = utf8_length(bytes, at);
      if (length == 0) return refuse(bytes.substr(at), "a name that is no text");
      at += length;
    }
    name = bytes;
    return true;
  }

  // A map's entry: a number, and what it names.
  bool read_entry(std::string_view bytes, std::int64_t& key, std::string& name) {
    return each(bytes, "an entry of names", [&](const WireField& field) {
      if (field.number == entry::kKey) key = static_cast<std::int64_t>(field.value);
      if (field.number != entry::kValue || field.type != WireType::kBytes) return true;
      return each(field.bytes, "a name", [&](const WireField& part) {
        return part.number != named::kName || part.type != WireType::kBytes || read_name(part.bytes, name);
      });
    });
  }

  bool read_plane(std::string_view bytes, Plane& plane) {
    StatNames stats;
    const bool named = each(bytes, "a plane", [&](const WireField& field) {
      if (field.number > plane::kStat) return refuse(field.bytes, "a field that no plane has");
      std::int64_t key = 0;
      std::string name;
      if (field.number == plane::kName) return read_name(field.bytes, plane.name);
      if (field.number == plane::kEventName) {
        if (!read_entry(field.bytes, key, name)) return false;
        plane.names[key] = name;
      } else if (field.number == plane::kStatName) {
        if (!read_entry(field.bytes, key, name)) return false;
        if (name == "correlation_id") stats.correlation = key;
        if (name == "step_num") stats.step = key;
        if (name == "memory_size") stats.memory_size = key;
        if (name == "memcpy_details" || name == "memset_details") stats.copies.push_back(key);
      }
      return true;
    });
    return named && each(bytes, "a plane", [&](const WireField& field) {
             if (field.number == plane::kStat) {
               std::int64_t name = 0, value = 0;
               if (!read_stat(field.bytes, name, value)) return false;
               if (name == stats.memory_size) plane.memory_bytes = value;
             }
             return field.number != plane::kLine || read_line(field.bytes, stats, plane);
           });
  }

  bool read_stat(std::string_view bytes, std::int64_t& name, std::int64_t& value) {
    return each(bytes, "a statistic", [&](const WireField& field) {
      if (field.number > stat::kReference) return refuse(field.bytes, "a field that no statistic has");
      if (field.number == stat::kName) name = static_cast<std::int64_t>(field.value);
      if (field.number == stat::kUnsigned || field.number == stat::kSigned)
        value = static_cast<std::int64_t>(field.value);
      return true;
    });
  }

  bool read_line(std::string_view bytes, const StatNames& stats, Plane& plane) {
    Line& line = plane.lines.emplace_back();
    std::int64_t begin_ns = 0;
    const bool headed = each(bytes, "a line", [&](const WireField& field) {
      if (field.number == line::kName) return read_name(field.bytes, line.name);
      if (field.number == line::kTimestamp) begin_ns = static_cast<std::int64_t>(field.value);
      return field.number <= line::kDisplayName || refuse(field.bytes, "a field that no line has");
    });
    if (!headed) return false;
    if (begin_ns < 0 || begin_ns > kMostPicoseconds / kPicosecondsPerNanosecond)
      return refuse(bytes, "a line that begins beyond 73 years");
    return each(bytes, "a line", [&](const WireField& field) {
      return field.number != line::kEvent ||
             read_event(field.bytes, begin_ns * kPicosecondsPerNanosecond, stats, plane, line);
    });
  }

  bool read_event(std::string_view bytes, std::int64_t line_begin_ps, const StatNames& stats, Plane& plane,
                  Line& line) {
    Event event;
    std::int64_t offset_ps = 0, duration_ps = 0;
    bool counts = false;
    const bool read = each(bytes, "an event", [&](const WireField& field) {
      const auto number = static_cast<std::int64_t>(field.value);
      switch (field.number) {
        case event::kName:
          event.name = number;
          return true;
        case event::kOffset:
          offset_ps = number;
          return true;
        case event::kDuration:
          duration_ps = number;
          return true;
        case event::kOccurrences:
          counts = true;
          return true;
        case event::kStat: {
          std::int64_t name = 0, value = -1;
          if (!read_stat(field.bytes, name, value)) return false;
          if (name == stats.correlation) event.correlation = value;
          if (name == stats.step) event.step = value;
          event.moves_memory = event.moves_memory || std::ranges::count(stats.copies, name) > 0;
          return true;
        }
        default:
          return refuse(field.bytes, "a field that no event has");
      }
    });
    if (!read) return false;
    if (counts) {
      ++plane.timeless;
      return true;
    }
    if (offset_ps < 0 || duration_ps < 0 || offset_ps > kMostPicoseconds - line_begin_ps ||
        duration_ps > kMostPicoseconds - line_begin_ps - offset_ps)
      return refuse(bytes, "an event at a time that cannot be");
    if (plane.names.count(event.name) == 0) return refuse(bytes, "an event whose name the plane lacks");
    event.begin_ps = line_begin_ps + offset_ps;
    event.end_ps = event.begin_ps + duration_ps;
    line.events.push_back(event);
    return true;
  }

  Damage& damage_;
};

}  // namespace

bool is_space(std::string_view bytes) {
  WireReader reader(bytes);
  WireField field;
  std::string_view plane;
  if (reader.next(field)) {
    if (field.number != space::kPlane || field.type != WireType::kBytes) return false;
    plane = field.bytes;
  } else if (bytes.starts_with("\x0a")) {  // cut inside its first plane, whose length is at most 10 bytes
    const std::size_t begin = bytes.substr(1, 10).find_first_of("\x12\x08");
    if (begin != std::string_view::npos) plane = bytes.substr(1 + begin);
  }
  WireReader parts(plane);
  while (parts.next(field) && field.number <= plane::kName)
    if (field.number == plane::kName)
      return std::ranges::any_of(
          std::array<std::string_view, 4>{"/host:", "/device:", "#Chip", "Task Environment"},
          [&](std::string_view prefix) { return field.bytes.starts_with(prefix); });
  return false;
}

std::optional<Space> read_space(const std::string& file, std::string_view bytes,
                                std::vector<Problem>& problems) {
  Space space;
  Damage damage;
  if (Reader(damage).read(bytes, space)) return space;
  // Every part is of the file.
  const auto byte =
      damage.at.data() == nullptr ? bytes.size() : static_cast<std::size_t>(damage.at.data() - bytes.data());
  problems.push_back({file, 0, 0, "byte " + std::to_string(byte) + ": " + damage.what, "",
                      "a whole profile of XProf: it may have been cut"});
  return std::nullopt;
}

}  // namespace podsim::xplane
