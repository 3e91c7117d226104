// HLO modules for tests, as text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/hlo/parse.h"

namespace podsim::testing {

// The first module of the text. A text that cannot be read fails the test.
inline hlo::Module module_of(const std::string& text) {
  std::vector<Problem> problems;
  const auto modules = hlo::parse_modules("test.hlo", text, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  return modules ? modules->front() : hlo::Module{};
}

// What is wrong with the text, "line:column: message (hint)"; "" where nothing is.
inline std::string problem_of(const std::string& text) {
  std::vector<Problem> problems;
  if (hlo::parse_modules("test.hlo", text, problems)) return "";
  const Problem& first = problems.front();
  return std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message +
         (first.hint.empty() ? "" : " (" + first.hint + ")");
}

inline const std::string kAdd = R"(add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
)";

}  // namespace podsim::testing
