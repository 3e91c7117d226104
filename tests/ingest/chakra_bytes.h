// Chakra traces for tests, byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace podsim::testing {

inline std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7) bytes += static_cast<char>(number % 128 + 128);
  return bytes + static_cast<char>(number);
}

inline std::string number_field(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}

inline std::string bytes_field(int field, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(bytes.size()) + bytes;
}

inline std::string record(const std::string& message) { return varint(message.size()) + message; }

// An attribute whose value is in a field of this number: 9 of int64, 13 of uint64, 27 of bool.
inline std::string attribute(const std::string& name, int field, std::uint64_t value) {
  return bytes_field(10, bytes_field(1, name) + number_field(field, value));
}

inline std::string text_attribute(const std::string& name, const std::string& value) {
  return bytes_field(10, bytes_field(1, name) + bytes_field(29, value));
}

inline const std::string kMetadata = record(bytes_field(1, "0.0.4"));
inline constexpr int kComputation = 4, kSend = 5, kReceive = 6, kCollective = 7;

struct NodeBytes {
  std::uint64_t id = 0;
  int type = kComputation;
  std::uint64_t duration_us = 0;
  std::vector<std::uint64_t> data = {}, control = {};
  std::string attributes = {};
};

inline std::string node(const NodeBytes& given) {
  std::string message = number_field(1, given.id) + bytes_field(2, "n") +
                        number_field(3, static_cast<std::uint64_t>(given.type));
  for (const std::uint64_t id : given.control) message += number_field(4, id);
  for (const std::uint64_t id : given.data) message += number_field(5, id);
  return record(message + number_field(7, given.duration_us) + given.attributes);
}

inline std::string all_reduce(std::uint64_t id, std::uint64_t bytes, const std::string& group = "") {
  return node({id,
               kCollective,
               0,
               {},
               {},
               attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, 0) +
                   attribute("comm_size", 9, bytes) +
                   (group.empty() ? "" : text_attribute("pg_name", group))});
}

}  // namespace podsim::testing
