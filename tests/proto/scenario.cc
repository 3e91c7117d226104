// A valid scenario to break, and the problems of a text as the user would read them.
#include "tests/proto/scenario.h"

#include <gtest/gtest.h>

namespace podsim {

const Catalog& built_in() {
  static const Catalog catalog;
  return catalog;
}

std::string valid_scenario() {
  return R"(question: "How long is a step?"
cluster {
  chip: "h100"
  chips: 512
  fabric: "dgx_h100"
}
job {
  model: "llama3_70b"
  stack: "megatron_bridge_2025"
  mesh { name: "fsdp" size: 128 }
  mesh { name: "tensor" size: 4 }
  sharding: "fsdp"
  sharding: "megatron_sp"
  global_batch_sequences: 512
  sequence_tokens: 8192
}
)";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string valid_but(const std::string& from, const std::string& to) {
  return replaced(valid_scenario(), from, to);
}

LoadResult load(const std::string& text, const std::vector<Override>& overrides, const std::string& file) {
  return load_scenario(file, text, built_in(), overrides);
}

std::vector<std::string> problems_of(const LoadResult& result) {
  EXPECT_EQ(result.spec.has_value(), result.problems.empty());
  std::vector<std::string> lines;
  for (const Problem& problem : result.problems) {
    std::string place = problem.file;
    if (problem.line > 0) place = std::to_string(problem.line) + ":" + std::to_string(problem.column);
    lines.push_back(place + " " + problem.message + (problem.hint.empty() ? "" : " | " + problem.hint));
  }
  return lines;
}

std::vector<std::string> problems_of(const std::string& text, const std::vector<Override>& overrides,
                                     const std::string& file) {
  return problems_of(load(text, overrides, file));
}

}  // namespace podsim
