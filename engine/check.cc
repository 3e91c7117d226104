// Reports a broken invariant with what the thread was at work on, and stops the program.
#include "engine/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "engine/check_scope.h"

namespace podsim {
namespace {

thread_local Work work_of_thread;
std::atomic<bool> throws = false;

// "scenario a, seed 3, simulated time 1.5 s (1500000000000 ps)", as far as it is known.
std::string told(const Work& work) {
  std::string text;
  const auto add = [&](const std::string& fact) { text += (text.empty() ? "" : ", ") + fact; };
  if (work.scenario) add("scenario " + *work.scenario);
  if (work.seed) add("seed " + std::to_string(*work.seed));
  if (work.now_ps)
    add("simulated time " + std::to_string(static_cast<double>(*work.now_ps) / 1e12) + " s (" +
        std::to_string(*work.now_ps) + " ps)");
  return text;
}

}  // namespace

CheckScope::CheckScope(const Work& work) : outside_(work_of_thread) {
  if (work.scenario) work_of_thread.scenario = work.scenario;
  if (work.seed) work_of_thread.seed = work.seed;
  if (work.now_ps) work_of_thread.now_ps = work.now_ps;
}

CheckScope::~CheckScope() { work_of_thread = outside_; }

void throw_failed_checks() { throws = true; }

Work current_work() { return work_of_thread; }

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  std::string text =
      std::string(file) + ":" + std::to_string(line) + ": CHECK failed: " + condition + ": " + message;
  if (const std::string work = told(work_of_thread); !work.empty()) text += "\n  in " + work;
  if (throws) throw std::logic_error(text);
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

}  // namespace podsim
