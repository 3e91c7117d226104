// How long the search of a cluster may take, of the time for all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>

namespace podsim {

// Clusters that are not looked at leave their time to the others. Which layout a search has found when its
// time is up depends on the machine.
class TimeLeft {
 public:
  // Of `seconds` in all, or without end. `stop` may be null.
  TimeLeft(std::optional<double> seconds, std::size_t clusters, const std::atomic<bool>* stop)
      : seconds_(seconds), clusters_(clusters), asked_(stop) {}

  // The search of one more of the clusters begins: an even share of what is left is its time.
  void begin_cluster() {
    if (!seconds_) return;
    stop_ = false;
    until_ = elapsed() +
             std::max(0.0, *seconds_ - elapsed()) / static_cast<double>(std::max<std::size_t>(clusters_, 1));
    if (clusters_ > 0) --clusters_;
  }

  // Sets `stop` where the time is up, or all is stopped.
  void look() {
    if (seconds_ && ((asked_ != nullptr && asked_->load()) || elapsed() > until_)) stop_ = true;
  }
  const std::atomic<bool>* stop() const { return seconds_ ? &stop_ : asked_; }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  const std::optional<double> seconds_;
  std::size_t clusters_;  // that are left
  const std::atomic<bool>* asked_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double until_ = 0;
  std::atomic<bool> stop_ = false;
};

}  // namespace podsim
