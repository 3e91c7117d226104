// A line on standard error: how far a search is, its best so far, and how much better anything could be.
#pragma once

#include <chrono>

#include "planner/search/search.h"

namespace podsim {

// As Progress: silent at first, then one line on a terminal and one every ten seconds elsewhere.
class SearchProgressLine {
 public:
  explicit SearchProgressLine(bool quiet);
  void show(const SearchProgress& progress);  // from one thread at a time
  void wipe();

 private:
  const bool quiet_, terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_, last_;
};

}  // namespace podsim
