// What a scenario asks about, before it is known whether it is valid.
#pragma once

#include <string>

namespace podsim {

struct ScenarioKind {
  bool step = false;          // a job or several
  bool availability = false;  // of slices
  bool reliability = false;   // a run of weeks
  bool search = false;        // layouts to choose from
};

// From the blocks of the text, as far as it can be read; formats as of load_scenario.
ScenarioKind scenario_kind(const std::string& file_name, const std::string& text);

}  // namespace podsim
