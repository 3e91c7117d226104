// Protocol buffers field by field, without making a message of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace podsim {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;  // of a varint or a fixed number
  std::string_view bytes;   // of kBytes
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  // The next field; false at the end, and where the rest is no field.
  bool next(WireField& field) {
    std::uint64_t tag = 0;
    if (at_ >= bytes_.size() || !varint(tag)) return false;
    constexpr std::uint64_t kMostTag = 0xffffffff;
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.type = static_cast<WireType>(tag & 7);
    if (tag > kMostTag || field.number == 0) return damaged();
    switch (field.type) {
      case WireType::kVarint:
        return varint(field.value);
      case WireType::kFixed64:
        return fixed(8, field.value);
      case WireType::kFixed32:
        return fixed(4, field.value);
      case WireType::kBytes:
        if (!varint(field.value) || field.value > bytes_.size() - at_) return damaged();
        field.bytes = bytes_.substr(at_, static_cast<std::size_t>(field.value));
        at_ += field.bytes.size();
        return true;
    }
    return damaged();
  }

  // One number of a packed list; false at the end, and where the rest is none.
  bool next_packed(std::uint64_t& value) { return at_ < bytes_.size() && varint(value); }

  // Once a call has been false.
  bool whole() const { return !damaged_; }
  std::size_t position() const { return at_; }

 private:
  bool damaged() {
    damaged_ = true;
    return false;
  }

  bool varint(std::uint64_t& value) {
    constexpr int kMostBits = 63;
    value = 0;
    for (int shift = 0; shift <= kMostBits && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return damaged();
  }

  bool fixed(std::size_t length, std::uint64_t& value) {
    if (length > bytes_.size() - at_) return damaged();
    value = 0;
    for (std::size_t i = 0; i < length; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << (8 * i);
    at_ += length;
    return true;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool damaged_ = false;
};

}  // namespace podsim
