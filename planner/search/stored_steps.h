// Steps of layouts that a store may know: under the keys of the scenarios that podsim writes of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planner/search/search.h"
#include "planner/store/store.h"
#include "proto/catalog/catalog.h"
#include "proto/text/override.h"

namespace podsim {

// The step of a scenario, from the store or simulated and kept there.
struct StoredStep {
  MainFigures figures;
  std::string report;  // as JSON
  bool known = false;
};
StoredStep stored_step(Store& store, const StoredScenario& scenario, const std::function<Report()>& simulate);

// For SearchOptions::evaluate. For several threads at once.
class StoredLayouts {
 public:
  // The scenario that is searched. REQUIRES: all but the name outlive this object.
  StoredLayouts(Store& store, const std::string& file, const std::string& text,
                const std::vector<Override>& overrides, const Catalog& catalog, const Spec& spec);

  EvaluatedStep evaluate(const JobLayout& layout, const std::function<Report()>& simulate) const;
  // The scenario with this layout.
  StoredScenario scenario_of(const JobLayout& layout) const;

 private:
  Store& store_;
  const std::string file_;
  const std::string& text_;
  const std::vector<Override>& overrides_;
  const Catalog& catalog_;
  const Spec& spec_;
};

}  // namespace podsim
