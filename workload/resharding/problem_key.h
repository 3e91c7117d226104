// A problem of the partitioner written out as numbers, so that equal problems are found again: strings and
// lists with their lengths, fields in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "workload/mesh/layout.h"

namespace podsim {

// Structs are taken apart in full, so that a new field of one does not compile before somebody has said
// whether problems depend on it.
class ProblemKey {
 public:
  using Words = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Words& words) const {
      std::uint64_t hash = 0;
      for (const std::uint64_t word : words) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };

  // Keeps the room of what was written before.
  void clear() { words_.clear(); }
  const Words& words() const { return words_; }

  template <class Value>
  requires std::is_integral_v<Value> || std::is_enum_v<Value>
  void put(Value value) { words_.push_back(static_cast<std::uint64_t>(value)); }
  void put(double value) { words_.push_back(std::bit_cast<std::uint64_t>(value)); }
  void put(const std::string& text) {
    put(text.size());
    for (std::size_t i = 0; i < text.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
      put(word);
    }
  }
  void put(const AxisList& axes) {
    put(axes.size());
    for (const auto& [axis, pre, size] : axes) {
      put(axis);
      put(pre);
      put(size);
    }
  }
  void put(const Layout& layout) {
    const auto& [dims, unreduced] = layout;
    put(dims.size());
    for (const AxisList& dim : dims) put(dim);
    put(unreduced);
  }
  // What its dimensions are called decides nothing.
  void put(const std::vector<TensorDim>& dims) {
    put(dims.size());
    for (const TensorDim& dim : dims) {
      [[maybe_unused]] const auto& [logical, blocks] = dim;
      put(blocks.size());
      for (const auto& [size, cut] : blocks) {
        put(size);
        put(cut);
      }
    }
  }

 private:
  Words words_;
};

}  // namespace podsim
