// How long the stages of a prediction take, for who asks with --verbose.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace podsim {

// Tells the log, at its level of debugging, how long the stage took from here to the end of the scope.
class StageTimer {
 public:
  explicit StageTimer(std::string stage) : stage_(std::move(stage)) {}
  ~StageTimer();
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  const std::string stage_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// f(), and how long it took.
template <typename F>
decltype(auto) timed(std::string stage, F&& f) {
  const StageTimer timer(std::move(stage));
  return std::forward<F>(f)();
}

}  // namespace podsim
