// Command lines within the process.
#include <atomic>
#include <mutex>

#include "api/errors.h"
#include "api/podsim/podsim.h"
#include "cli/app.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/output.h"
#include "proto/text/read_file.h"

namespace podsim {
inline namespace v0 {

CommandOutput command(const std::vector<std::string>& words, const std::atomic<bool>* stop) {
  keep_the_process_alive();
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::atomic<bool> never = false;
  const InterruptByFlag interrupt(stop != nullptr ? *stop : never);
  forget_inputs();
  const CollectedOutput out;
  const CollectedMessages messages;
  CommandOutput result;
  result.exit_code = run_command(words);
  result.out = out.text();
  result.err = messages.text();
  return result;
}

}  // namespace v0
}  // namespace podsim
