// Where a list of numbers, such as the order of segments of a program, repeats itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

// list[i] == list[i + period] for all i with begin <= i < end - period, and not for the neighbours of that
// range.
struct Repetition {
  std::size_t begin, end;
  std::size_t period;
};

// Repetitions of at least two periods and one number more, which cover the list from its begin on as far as
// they reach: each is the longest of those that begin where the last one ended or a little later, stretched
// to both sides, with its least period. O(n) for each repetition, and O(n) for each 1/64 of the list that
// does not repeat.
std::vector<Repetition> repetitions(std::span<const std::int32_t> list);

// How many numbers from `begin` on equal those a period before them. REQUIRES: period <= begin.
std::size_t repeated(std::span<const std::int32_t> list, std::size_t begin, std::size_t period);

}  // namespace podsim
