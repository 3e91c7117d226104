// Reads a scenario and has it resolved.
#include "proto/scenario/read_scenario.h"

#include <filesystem>

#include "proto/scenario.pb.h"
#include "proto/text/parse.h"
#include "proto/text/question_digest.h"
#include "proto/text/ranges.h"

namespace podsim {

ScenarioRead read_scenario(const std::string& file, const std::string& text,
                           const std::vector<Override>& overrides, RequiredFields required,
                           const ResolveScenario& resolve) {
  Document document(file, text);
  ScenarioRead read;
  schema::Scenario scenario;
  if (parse(document, scenario)) {
    apply_overrides(overrides, scenario, document);
    check_ranges(scenario, "", document);
    if (required == RequiredFields::kOfPlan) {
      check_required(scenario.plan(), "plan", document);
    } else {
      check_required(scenario, "", document);
    }
    const LookedUpEntries entries;
    resolve(scenario, document);
    if (document.clean()) read.sha256 = entries.digest(canonical_text(scenario));
  }
  read.problems = document.problems();
  read.warnings = document.warnings();
  return read;
}

ScenarioHeading heading_of(const schema::Scenario& scenario, const Document& document) {
  ScenarioHeading heading;
  heading.name =
      scenario.has_name() ? scenario.name() : std::filesystem::path(document.file()).stem().string();
  heading.question = scenario.question();
  if (scenario.has_seed()) heading.seed = scenario.seed();
  return heading;
}

}  // namespace podsim
