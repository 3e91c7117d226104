// A node of a trace as nearly all are written, read without making a message of it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace podsim::chakra {

// The value of an attribute: a whole number, or text.
struct PlainAttribute {
  std::string_view name, text;
  std::int64_t number = 0;
  bool is_text = false;
};

// Its text lies in the record.
struct PlainNode {
  std::uint64_t id = 0, type = 0, start_us = 0, duration_us = 0;
  std::string_view name;
  std::vector<std::uint64_t> control, data;
  std::vector<PlainAttribute> attributes;
};

// False where the record may be no node, or has more than whole numbers and short texts in ASCII: it is then
// read with everything that the format allows. What is read means the same there.
bool read_plain_node(std::string_view record, PlainNode& node);

}  // namespace podsim::chakra
