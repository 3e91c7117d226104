// Problems and exceptions, told as values.
#include "api/errors.h"

#include <new>
#include <utility>

#include "engine/check_scope.h"
#include "prediction/step_length.h"
#include "topology/fabric_spec.h"

namespace podsim {

bool goes_on(const Effort& effort, const Advance& advance) {
  if (effort.stop != nullptr && *effort.stop) return false;
  if (!effort.watch || effort.watch(advance)) return true;
  if (effort.stop != nullptr) *effort.stop = true;
  return false;
}

std::vector<Diagnostic> diagnostics_of(const std::vector<Problem>& problems) {
  std::vector<Diagnostic> all;
  for (const Problem& problem : problems)
    all.push_back({problem.file, problem.line, problem.column, problem.message, problem.source_line,
                   problem.hint, format_problem(problem)});
  return all;
}

Error input_error(const std::vector<Problem>& problems) {
  return {Error::Kind::kInput, "", diagnostics_of(problems)};
}

Error input_error(std::string call, std::string given, std::string message) {
  return {Error::Kind::kInput,
          "",
          {{.file = std::move(call),
            .message = message,
            .source_line = std::move(given),
            .hint = "",
            .text = message}}};
}

Error error_of_exception() {
  try {
    throw;
  } catch (const CancelledByWatch&) {
    return {Error::Kind::kCancelled, "cancelled by the caller", {}};
  } catch (const TooManyChips& refusal) {
    return {Error::Kind::kInput, refusal.what(), {}};
  } catch (const StepTooLong& refusal) {
    return {Error::Kind::kInput, refusal.what(), {}};
  } catch (const std::bad_alloc&) {
    return {Error::Kind::kInternal, "out of memory", {}};
  } catch (const std::exception& error) {
    return {Error::Kind::kInternal, error.what(), {}};
  } catch (...) {
    return {Error::Kind::kInternal, "an exception of an unknown kind", {}};
  }
}

void keep_the_process_alive() {
  static const bool once = (throw_failed_checks(), true);
  static_cast<void>(once);
}

inline namespace v0 {

std::string Error::text() const {
  std::string all = message;
  for (const Diagnostic& each : diagnostics) {
    if (!all.empty() && all.back() != '\n') all += '\n';
    all += each.text;
  }
  while (!all.empty() && all.back() == '\n') all.pop_back();
  return all;
}

}  // namespace v0
}  // namespace podsim
