// Many short lists in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

// Where each list begins is near the processor even when the lists are not: what is asked of one of them can
// be loaded ahead without waiting.
template <class T>
class Lists {
 public:
  Lists() = default;
  explicit Lists(const std::vector<std::vector<T>>& lists) {
    for (const std::vector<T>& list : lists) {
      all_.insert(all_.end(), list.begin(), list.end());
      end_.push_back(static_cast<std::uint32_t>(all_.size()));
    }
  }

  std::size_t size() const { return end_.size() - 1; }
  bool empty() const { return size() == 0; }
  std::span<const T> operator[](std::size_t i) const {
    return {all_.data() + end_[i], all_.data() + end_[i + 1]};
  }
  std::span<T> operator[](std::size_t i) { return {all_.data() + end_[i], all_.data() + end_[i + 1]}; }

  // All of them, one after another, and where in that list i begins.
  std::span<const T> all() const { return all_; }
  std::span<T> all() { return all_; }
  std::size_t begin_of(std::size_t i) const { return end_[i]; }

 private:
  std::vector<T> all_;
  std::vector<std::uint32_t> end_{0};  // of the lists before each, and of the last one
};

}  // namespace podsim
