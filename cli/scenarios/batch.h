// Many scenarios at once: load all, report every problem, predict in parallel, keep the order.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.h"
#include "prediction/predict.h"
#include "proto/catalog/catalog.h"
#include "proto/text/read_file.h"

namespace podsim {

struct Spec;

// The built-in catalogue and the user's folders. Nothing when one has problems; they are printed to standard
// error.
std::optional<Catalog> open_catalog(const std::vector<std::string>& directories);

// Prints every problem of every file to standard error; nothing when there is one. "-" reads standard input.
std::optional<std::vector<Spec>> load_scenarios(const std::vector<std::string>& files,
                                                const LoadOptions& options);

// The same, with the texts that they were read from: standard input cannot be read again. Fields by their
// paths that a step does not read and the verb does are not told to have no effect.
std::optional<std::vector<Spec>> load_scenarios(const std::vector<std::string>& files,
                                                const LoadOptions& options, std::vector<InputText>& texts,
                                                const std::vector<std::string>& also_read = {});

// Whether the warning is that one of these fields, by their paths, has no effect.
bool says_idle(const Problem& warning, const std::vector<std::string>& fields);

// Whether each has a single job; if not, says which has several and that `verb` cannot use it.
bool have_one_job(std::span<const Spec> specs, const std::string& verb);

// Whether the job of a result fits in the memory of its chips.
struct MemoryFit {
  std::string name;  // of the scenario
  bool fits = true;
};
// Tells those that do not. Where none fits, nothing has been answered: an error, and the exit code of it.
int judge_fits(const std::vector<MemoryFit>& jobs);
std::vector<MemoryFit> fits_of(std::span<const Report> reports);

void print_problems(const std::vector<Problem>& problems);

// Of padded documents (ShapesReport) only the longest shape stands in tables of several scenarios: says
// which.
void tell_of_longest_shapes(std::span<const Report> reports);

// Calls f(0) ... f(count - 1), several at a time; 0 threads = as many as the machine has. Progress goes to
// standard error unless quiet. The first failure, in that order, is thrown again.
void in_parallel(std::size_t count, int threads, bool quiet, const std::function<void(std::size_t)>& f);

// In the order of the specs, whatever the number of threads; those that more threads than specs leave over
// share draws of several seeds. Failures as above.
std::vector<Prediction> predict_all(std::span<const Spec> specs, const RunOptions& options);

// [spec] why it cannot be simulated (StepTooLong); empty where it can.
using LeftOutSteps = std::vector<std::string>;
// The same of several specs, of which those that cannot be simulated have no prediction.
std::vector<Prediction> predict_all(std::span<const Spec> specs, const RunOptions& options,
                                    LeftOutSteps& left_out);
// Warns of each that is left out, by its name. Where all are, these are errors, and it is false.
bool some_are_left(const std::vector<std::string>& names, const LeftOutSteps& left_out);
bool some_are_left(std::span<const Spec> specs, const LeftOutSteps& left_out);
// Takes those that are left out from a list with an entry for each spec.
template <class Entries>
void take_left_out(const LeftOutSteps& left_out, Entries& entries) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < left_out.size(); ++i)
    if (left_out[i].empty() && kept++ != i) entries[kept - 1] = std::move(entries[i]);
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end());
}

}  // namespace podsim
