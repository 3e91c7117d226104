// What every question of a scenario begins with: its bytes read, overridden and checked field by field.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proto/text/document.h"
#include "proto/text/override.h"
#include "proto/text/read_file.h"

namespace podsim {

namespace schema {
class Scenario;
}

// What was wrong with a text, what is worth telling, and the number of what it asks.
struct ScenarioRead {
  std::vector<Problem> problems, warnings;
  std::string sha256;  // of the scenario and of what its names mean; empty where there are problems
};

// Whose required fields must be there.
enum class RequiredFields { kOfAllBlocks, kOfPlan };

// Looks names up and checks what hangs together.
using ResolveScenario = std::function<void(const schema::Scenario& scenario, Document& document)>;

// Reads the text, sets the overrides, checks ranges and required fields, and calls `resolve` where the text
// can be read, whatever problems there are. Formats and limits as of load_scenario (load.h).
ScenarioRead read_scenario(const std::string& file, const std::string& text,
                           const std::vector<Override>& overrides, RequiredFields required,
                           const ResolveScenario& resolve);

// The same for a result {question, problems, warnings}: `resolve` gives the question, or nothing.
template <class Result, class Question, class Resolve>
Result loaded(const std::string& file, const std::string& text, const std::vector<Override>& overrides,
              std::optional<Question> Result::*question, Resolve resolve) {
  Result result;
  ScenarioRead read = read_scenario(file, text, overrides, RequiredFields::kOfAllBlocks,
                                    [&](const schema::Scenario& scenario, Document& document) {
                                      result.*question = resolve(scenario, document);
                                    });
  if (result.*question) (result.*question)->sha256 = std::move(read.sha256);
  result.problems = std::move(read.problems);
  result.warnings = std::move(read.warnings);
  return result;
}

// The file first; one that is missing or cannot be read is a problem.
template <class Catalog, class Load>
auto loaded_file(const std::string& path, const Catalog& catalog, const std::vector<Override>& overrides,
                 Load load) {
  decltype(load(path, path, catalog, overrides)) result;
  const auto text = read_file(path, result.problems);
  return text ? load(path, *text, catalog, overrides) : result;
}

// What a question is called, and the seed of what is drawn for it.
struct ScenarioHeading {
  std::string name, question;  // the file's without its suffix where the scenario has no name
  std::optional<std::uint64_t> seed;
};
ScenarioHeading heading_of(const schema::Scenario& scenario, const Document& document);

template <class Question>
void set_heading(const schema::Scenario& scenario, const Document& document, Question& question) {
  ScenarioHeading heading = heading_of(scenario, document);
  question.name = std::move(heading.name);
  question.question = std::move(heading.question);
  question.seed = heading.seed.value_or(question.seed);
}

}  // namespace podsim
