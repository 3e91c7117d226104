// Writes the line now and then.
#include "cli/search/search_progress.h"

#include <unistd.h>

#include <cstdio>

#include "cli/terminal/messages.h"
#include "report/text/text.h"

namespace podsim {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

SearchProgressLine::SearchProgressLine(bool quiet)
    : quiet_(quiet || CollectedMessages::any()),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      last_(begin_) {}

void SearchProgressLine::show(const SearchProgress& progress) {
  if (quiet_ || Clock::now() - last_ < (terminal_ ? 1s : 10s)) return;
  last_ = Clock::now();
  std::string text =
      std::to_string(progress.layouts) + " layouts, " + std::to_string(progress.simulated) + " simulated";
  if (progress.incumbent.ps > 0) text += ", best " + fixed(progress.incumbent.in_seconds(), 4) + " s";
  if (progress.bound.ps > 0) {
    text += ", bound " + fixed(progress.bound.in_seconds(), 4) + " s";
    if (progress.incumbent.ps > 0 && progress.bound < progress.incumbent)
      text += ", gap " + percent(1 - progress.bound.in_seconds() / progress.incumbent.in_seconds());
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
  std::fprintf(stderr, "%spodsim: %s, %lld s%s", terminal_ ? "\r\033[K" : "", text.c_str(),
               static_cast<long long>(seconds), terminal_ ? " " : "\n");
  shown_ = true;
}

void SearchProgressLine::wipe() {
  if (shown_ && terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace podsim
