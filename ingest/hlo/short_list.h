// A list of numbers or characters that lies within its owner while it is short.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/check.h"

namespace podsim::hlo {

// Modules have a list or two per instruction, nearly all of one or two numbers: a block of memory for each
// would take more than they do.
template <typename T, std::uint32_t kFew>
class ShortList {
  static_assert(std::is_arithmetic_v<T>);

 public:
  using value_type = T;
  using const_iterator = const T*;

  ShortList() = default;
  ShortList(std::initializer_list<T> numbers) : ShortList(numbers.begin(), numbers.end()) {}
  ShortList(const std::vector<T>& numbers) : ShortList(numbers.data(), numbers.data() + numbers.size()) {}
  ShortList(const ShortList& other) : ShortList(other.begin(), other.end()) {}
  ShortList(ShortList&& other) noexcept : ShortList() { swap(other); }
  ShortList& operator=(ShortList other) noexcept {
    swap(other);
    return *this;
  }
  ~ShortList() {
    if (!is_within()) delete[] numbers_.many;
  }

  operator std::vector<T>() const { return {begin(), end()}; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* begin() const { return is_within() ? numbers_.few : numbers_.many; }
  const T* end() const { return begin() + size_; }
  T* begin() { return is_within() ? numbers_.few : numbers_.many; }
  T* end() { return begin() + size_; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  const T& back() const { return begin()[size_ - 1]; }

  void push_back(T number) {
    if (size_ == capacity_) reserve(std::size_t{2} * capacity_);
    begin()[size_++] = number;
  }

  void append(const T* from, const T* to) {
    const std::size_t needed = size_ + static_cast<std::size_t>(to - from);
    if (needed > capacity_) reserve(std::max(needed, std::size_t{2} * size_));
    std::copy(from, to, end());
    size_ += static_cast<std::uint32_t>(to - from);
  }

  // Memory where no more are added.
  void release_spare() {
    if (size_ < capacity_ && !is_within()) *this = ShortList(*this);
  }

  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  ShortList(const T* from, const T* to) { append(from, to); }

  bool is_within() const { return capacity_ == kFew; }

  void reserve(std::size_t size) {
    if (size <= capacity_) return;
    PODSIM_CHECK(size <= std::numeric_limits<std::uint32_t>::max(), "a list longer than any file");
    auto more = std::make_unique<T[]>(size);
    std::copy(begin(), end(), more.get());
    if (!is_within()) delete[] numbers_.many;
    numbers_.many = more.release();
    capacity_ = static_cast<std::uint32_t>(size);
  }

  void swap(ShortList& other) noexcept {
    std::swap(numbers_, other.numbers_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  union Numbers {
    T few[kFew];
    T* many;
  };
  Numbers numbers_ = {};
  std::uint32_t size_ = 0, capacity_ = kFew;
};

}  // namespace podsim::hlo
