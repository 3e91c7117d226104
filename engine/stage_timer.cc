// Stages told as lines of the log.
#include "engine/stage_timer.h"

#include <spdlog/spdlog.h>

namespace podsim {

StageTimer::~StageTimer() {
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin_;
  spdlog::debug("{:9.2f} ms  {}", taken.count(), stage_);
}

}  // namespace podsim
