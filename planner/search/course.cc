// Keeps the moments at which something changed.
#include "planner/search/course.h"

namespace podsim {

void SearchCourse::add(const SearchProgress& progress) {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  const bool same = !moments_.empty() && moments_.back().progress.incumbent == progress.incumbent &&
                    moments_.back().progress.bound == progress.bound;
  if (same && moments_.size() > 1 && moments_[moments_.size() - 2].progress.bound == progress.bound &&
      moments_[moments_.size() - 2].progress.incumbent == progress.incumbent)
    moments_.pop_back();  // the end of a level stretch is enough
  moments_.push_back({since.count(), progress});
  if (moments_.size() <= kMost) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < moments_.size(); ++i)
    if (i % 2 == 0 || i + 1 == moments_.size()) moments_[kept++] = moments_[i];
  moments_.resize(kept);
}

}  // namespace podsim
