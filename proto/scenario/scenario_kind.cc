// Looks which blocks a scenario has.
#include "proto/scenario/scenario_kind.h"

#include "proto/scenario.pb.h"
#include "proto/text/document.h"
#include "proto/text/parse.h"

namespace podsim {

ScenarioKind scenario_kind(const std::string& file_name, const std::string& text) {
  Document document(file_name, text);
  schema::Scenario scenario;
  parse(document, scenario);
  return {scenario.has_job() || scenario.jobs_size() > 0, scenario.has_availability(),
          scenario.has_reliability(), scenario.has_space()};
}

}  // namespace podsim
