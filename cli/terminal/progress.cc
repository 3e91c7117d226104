// Watches a counter from a thread of its own.
#include "cli/terminal/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "cli/terminal/messages.h"

namespace podsim {

using namespace std::chrono_literals;

Progress::Progress(std::size_t total, std::string unit, bool quiet)
    : total_(total), unit_(std::move(unit)), terminal_(isatty(STDERR_FILENO) == 1) {
  if (!quiet && !CollectedMessages::any()) watcher_ = std::thread([this] { watch(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

void Progress::one_done() {
  const std::lock_guard lock(mutex_);
  ++done_;
}

void Progress::share_done(double share) {
  const std::lock_guard lock(mutex_);
  share_ = std::max(share_, std::min(share, 1.0));
}

std::string Progress::how_far() const {
  if (share_ > 0) return std::to_string(static_cast<int>(100 * share_)) + " %";
  return std::to_string(done_) + " of " + std::to_string(total_) + " " + unit_;
}

void Progress::watch() {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::seconds period = terminal_ ? 1s : 10s;
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, period, [this] { return finished_; })) {
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    std::fprintf(stderr, "%spodsim: %s, %lld s%s", terminal_ ? "\r" : "", how_far().c_str(),
                 static_cast<long long>(elapsed.count()), terminal_ ? " " : "\n");
    shown = true;
  }
  if (shown && terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace podsim
