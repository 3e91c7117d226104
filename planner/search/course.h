// How a search went: its best and its bound whenever they changed.
#pragma once

#include <chrono>
#include <vector>

#include "planner/search/search.h"

namespace podsim {

struct SearchMoment {
  double seconds = 0;  // since the begin
  SearchProgress progress;
};

// From one thread at a time.
class SearchCourse {
 public:
  static constexpr std::size_t kMost = 1000;

  // Every other moment is forgotten where there are too many.
  void add(const SearchProgress& progress);

  const std::vector<SearchMoment>& moments() const { return moments_; }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<SearchMoment> moments_;
};

}  // namespace podsim
