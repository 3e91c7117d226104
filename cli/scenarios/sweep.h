// Scenarios at every value of --set x=1,2,4, and the columns that say which is which.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "scheduler/question/spec.h"

namespace podsim {

struct ReliabilityQuestion;
struct Sweep;

// What --set gave several values, and those of each scenario that came of it.
struct Settings {
  std::vector<std::string> paths;                // empty = nothing has several values
  std::vector<std::vector<std::string>> values;  // [scenario][path]

  bool any() const { return !paths.empty(); }
  // In front of the rows of a table (the first holds headings), one row a scenario.
  void add_to_table(std::vector<std::vector<std::string>>& rows) const;
  // The same of CSV text.
  std::string added_to_csv(const std::string& text) const;
  // "set": {path: value} in the JSON object of a scenario; unchanged where nothing has several values.
  std::string added_to_json(const std::string& object, std::size_t scenario) const;
  // The name without what load_swept added to it.
  std::string unset(const std::string& name, std::size_t scenario) const;
};

template <class Thing>
struct Swept {
  Settings settings;
  std::vector<Thing> things;  // file by file; of a file, the last path varies fastest
};

// Problems go to standard error, and nothing is returned when there is one. Where --set has several values, a
// value that the scenario cannot have is left out with a warning, and only where none is left nothing is
// returned. The name of a scenario then ends in its settings. Fields in `also_read`, by their paths, are read
// by the verb where a step does not, and are not told to have no effect.
std::optional<Swept<Spec>> load_swept(const std::vector<std::string>& files, const LoadOptions& options,
                                      const std::vector<std::string>& also_read = {});
std::optional<Swept<ReliabilityQuestion>> load_swept_questions(const std::vector<std::string>& files,
                                                               const LoadOptions& options);

// A point of a sweep, and the scenario that it is, as text.
struct SweptScenario {
  std::string name;
  Spec spec;
  std::string text;
};
// As load_swept, of one file.
std::optional<Swept<SweptScenario>> load_points(const std::string& file, const LoadOptions& options,
                                                const Sweep& sweep);

// "job.recompute=full, job.microbatch_sequences=2"
std::string settings_text(const std::vector<std::string>& paths, const std::vector<std::string>& values);

}  // namespace podsim
