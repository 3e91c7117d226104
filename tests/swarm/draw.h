// The random numbers of one drawn thing, in the order in which they are asked for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "engine/random.h"

namespace podsim::testing {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}

  // Numbers of their own, which shift none of those that are asked for here.
  Draw apart() const { return Draw(random_bits(seed_, RandomPurpose::kTest, 1, count_)); }

  std::uint64_t bits() { return random_bits(seed_, RandomPurpose::kTest, 0, count_++); }
  // 0 .. n - 1
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  int between(int least, int most) { return least + below(most - least + 1); }
  bool chance(double probability) {
    return random_uniform(seed_, RandomPurpose::kTest, 0, count_++) < probability;
  }
  // In steps of a hundredth of the range, so that it is short as text.
  double real(double least, double most) { return least + (most - least) * below(101) / 100; }

  template <class T>
  T of(const std::vector<T>& values) {
    return values[below(static_cast<int>(values.size()))];
  }
  template <class T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int>(values.size())));
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

}  // namespace podsim::testing
