// Listens to the signal.
#include "cli/terminal/interrupt.h"

#include <csignal>
#include <regex>

namespace podsim {
namespace {

std::atomic<bool> interrupted = false;
const std::atomic<bool>* flag_instead = nullptr;

void note_interrupt(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt()
    : signalled_(flag_instead == nullptr),
      before_(signalled_ ? std::signal(SIGINT, note_interrupt) : SIG_DFL) {
  interrupted = false;
}

Interrupt::~Interrupt() {
  if (signalled_) std::signal(SIGINT, before_);
}

const std::atomic<bool>& Interrupt::asked() const { return signalled_ ? interrupted : *flag_instead; }

InterruptByFlag::InterruptByFlag(const std::atomic<bool>& flag) { flag_instead = &flag; }
InterruptByFlag::~InterruptByFlag() { flag_instead = nullptr; }

std::optional<double> share_of(const std::string& text) {
  if (text.empty()) return 0;
  std::smatch parts;
  if (!std::regex_match(text, parts, std::regex(R"((\d+\.?\d*|\.\d+)\s*(%?))"))) return std::nullopt;
  const double value = std::stod(parts[1]) / (parts[2].length() > 0 ? 100 : 1);
  return value < 1 ? std::optional(value) : std::nullopt;
}

}  // namespace podsim
