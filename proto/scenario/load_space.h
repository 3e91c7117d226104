// A scenario with the space of layouts among which a search chooses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/scenario/load.h"
#include "scheduler/question/layout_space.h"

namespace podsim {

struct SearchQuestion {
  Spec spec;  // with the layout of the scenario, which counts as the first candidate
  LayoutSpace space;
};

struct LoadSearchResult {
  std::optional<SearchQuestion> question;  // present when there are no problems
  std::vector<Problem> problems, warnings;
};

// As load_scenario. A space block may be missing: then all of it is automatic. Refused is what a search does
// not choose layouts for: several jobs, programs, measured layers, annotated tensors, and lengths of
// documents and adversities, under which steps differ by chance.
LoadSearchResult load_search(const std::string& file_name, const std::string& text, const Catalog& catalog,
                             const std::vector<Override>& overrides);

}  // namespace podsim
