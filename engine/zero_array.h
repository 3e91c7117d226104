// Long arrays of which little is used.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace podsim {

// Zeros, or T{}, at first. Takes memory, and time to clear it, only for pages of which an element was asked
// for.
template <class T>
class ZeroArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit ZeroArray(std::size_t count) : pages_(count / kPage + 1) {}

  // REQUIRES: i < count.
  T& operator[](std::size_t i) {
    std::unique_ptr<T[]>& page = pages_[i / kPage];
    if (!page) page = std::make_unique<T[]>(kPage);  // zeros
    return page[i % kPage];
  }
  T operator[](std::size_t i) const {
    const std::unique_ptr<T[]>& page = pages_[i / kPage];
    return page ? page[i % kPage] : T{};
  }

 private:
  static constexpr std::size_t kPage = 1024;  // elements
  std::vector<std::unique_ptr<T[]>> pages_;   // nullptr where all are zeros
};

}  // namespace podsim
