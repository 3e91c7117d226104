// Field by field; whatever is out of the ordinary is left to others.
#include "ingest/chakra/plain_node.h"

#include <algorithm>
#include <limits>

#include "ingest/imported/wire_reader.h"

namespace podsim::chakra {
namespace {

// Numbers of the fields in execution_trace.proto.
enum NodeField : std::uint8_t { kId = 1, kName, kType, kControl, kData, kStart, kDuration, kAttribute = 10 };
enum AttributeField : std::uint8_t {
  kAttributeName = 1,
  kInt32 = 7,
  kInt64 = 9,
  kUint32 = 11,
  kUint64 = 13,
  kBool = 27,
  kText = 29
};

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool read_number(std::uint32_t field, std::uint64_t value, std::int64_t& number) {
  constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
  constexpr auto kMost64 = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool narrow = field == kInt32 || field == kUint32;
  if (value > (field == kBool ? 1 : narrow ? kMost32 / 2 : kMost64)) return false;
  number = static_cast<std::int64_t>(value);
  return true;
}

bool read_plain_attribute(std::string_view bytes, PlainAttribute& attribute) {
  WireReader reader(bytes);
  WireField field;
  bool named = false, valued = false;
  while (reader.next(field)) {
    if (field.number == kAttributeName && field.type == WireType::kBytes && !named) {
      attribute.name = field.bytes;
      named = true;
    } else if (valued) {
      return false;
    } else if (field.number == kText && field.type == WireType::kBytes) {
      attribute.text = field.bytes;
      attribute.is_text = valued = true;
    } else if (field.type == WireType::kVarint &&
               (field.number == kInt32 || field.number == kInt64 || field.number == kUint32 ||
                field.number == kUint64 || field.number == kBool)) {
      if (!read_number(field.number, field.value, attribute.number)) return false;
      attribute.is_text = false;
      valued = true;
    } else {
      return false;
    }
  }
  return reader.whole() && named && valued && !attribute.name.empty() && is_ascii(attribute.name) &&
         is_ascii(attribute.text);
}

bool read_ids(const WireField& field, std::vector<std::uint64_t>& ids) {
  if (field.type == WireType::kVarint) {
    ids.push_back(field.value);
    return true;
  }
  if (field.type != WireType::kBytes) return false;
  WireReader reader(field.bytes);
  for (std::uint64_t id = 0; reader.next_packed(id);) ids.push_back(id);
  return reader.whole();
}

}  // namespace

bool read_plain_node(std::string_view record, PlainNode& node) {
  constexpr std::uint64_t kMostType = 7;
  node.id = node.type = node.start_us = node.duration_us = 0;
  node.name = {};
  node.control.clear();
  node.data.clear();
  node.attributes.clear();
  WireReader reader(record);
  WireField field;
  while (reader.next(field)) {
    const bool number = field.type == WireType::kVarint;
    if (field.number == kId && number) {
      node.id = field.value;
    } else if (field.number == kName && field.type == WireType::kBytes) {
      node.name = field.bytes;
    } else if (field.number == kType && number) {
      node.type = field.value;
    } else if (field.number == kControl || field.number == kData) {
      if (!read_ids(field, field.number == kControl ? node.control : node.data)) return false;
    } else if (field.number == kStart && number) {
      node.start_us = field.value;
    } else if (field.number == kDuration && number) {
      node.duration_us = field.value;
    } else if (field.number == kAttribute && field.type == WireType::kBytes) {
      if (!read_plain_attribute(field.bytes, node.attributes.emplace_back())) return false;
    } else {
      return false;
    }
  }
  return reader.whole() && node.type <= kMostType && is_ascii(node.name);
}

}  // namespace podsim::chakra
