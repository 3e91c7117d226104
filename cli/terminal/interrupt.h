// Ctrl-C as a wish for the best so far, and shares as users type them.
#pragma once

#include <atomic>
#include <optional>
#include <string>

namespace podsim {

// While one lives, Ctrl-C asks for the best so far; a second one ends podsim.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  const std::atomic<bool>& asked() const;

 private:
  const bool signalled_;
  void (*before_)(int);  // where it is signalled
};

// While one lives, an Interrupt listens to a flag instead of the signal: the program is somebody else's.
class InterruptByFlag {
 public:
  explicit InterruptByFlag(const std::atomic<bool>& flag);
  ~InterruptByFlag();
  InterruptByFlag(const InterruptByFlag&) = delete;
  InterruptByFlag& operator=(const InterruptByFlag&) = delete;
};

// "2%" or "0.02", 0 for no text; nothing for other text and for shares of 1 and more.
std::optional<double> share_of(const std::string& text);

}  // namespace podsim
