// What an importer of launchers makes of a text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/launchers/launchers.h"
#include "proto/writing/figure_json.h"

namespace podsim::testing {

struct LauncherAnswer {
  std::string figures;  // as JSON; null where it was refused
  std::vector<std::string> problems;
  Imported imported;
};

inline LauncherAnswer answer_of(decltype(&import_megatron) read, const std::string& text,
                                const Stated& stated = {}) {
  std::vector<Problem> problems;
  auto imported = read({{"file", text}}, stated, problems);
  LauncherAnswer answer{"null", {}, {}};
  for (const Problem& problem : problems) answer.problems.push_back(format_problem(problem));
  EXPECT_EQ(imported.has_value(), problems.empty());
  if (!imported) return answer;
  answer.figures = json_text(Figure::group("", imported->figures), JsonNumbers::kShortest);
  answer.imported = *std::move(imported);
  return answer;
}

inline Stated chips(std::int64_t count) {
  Stated stated;
  stated.chips = count;
  return stated;
}

}  // namespace podsim::testing
