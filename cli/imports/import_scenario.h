// The scenario that an imported file gives, written and run.
#pragma once

#include <string>
#include <vector>

#include "ingest/imported/imported.h"

namespace podsim {

struct ImportedFile {
  std::string name, description;  // "train.sh", "arguments of Megatron-LM"
};

struct ScenarioWish {
  std::vector<std::string> sets;  // --set, of the file and of the scenario
  std::string out;                // file; "-" = standard output, empty = not to be written
  std::string format;             // of the report
  bool run = false;
};

// Of messages about it. Never one that ends as a file of JSON does: the scenario is text.
std::string scenario_name(const ImportedFile& file);

// Of its results, as of a scenario in a file of this name: "train" of "jobs/train.sh".
std::string name_of_run(const ImportedFile& file);

// Whether nothing stands in the way of a scenario; else what does is said.
bool can_run(const ImportedFile& file, const Imported& imported);

// Warns of what the scenario leaves out of the file, as the comments above its blocks have it.
void warn_of_left_out(const ImportedFile& file, const Imported& imported);

// A path of --set that is a scenario's, not the file's.
bool is_of_scenario(const std::string& path);

// A scenario is written only if it can be run. The exit code; what is missing is said.
int write_or_run(const ImportedFile& file, const Imported& imported, const ScenarioWish& wish);

}  // namespace podsim
