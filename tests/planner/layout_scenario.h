// Jobs whose layouts are searched in tests, and all layouts of a space one by one.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "planner/space/space.h"
#include "proto/scenario/load_space.h"

namespace podsim::testing {

struct LayoutQuestion {
  std::string text;
  SearchQuestion question;
};

inline const Catalog& built_in() {
  static const Catalog catalog;
  return catalog;
}

inline LayoutQuestion layout_question(const std::string& cluster, const std::string& job,
                                      const std::string& space = "") {
  const std::string text = "cluster { " + cluster +
                           " } job { mesh { name: \"data\" size: rest } sharding: \"data\" " + job +
                           " } space { " + space + " }";
  LoadSearchResult loaded = load_search("layouts", text, built_in(), {});
  if (!loaded.question) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  return {text, *std::move(loaded.question)};
}

inline std::vector<JobLayout> all_layouts(const Space& space) {
  std::vector<JobLayout> all;
  for (const JobLayout& stem : space.stems())
    for (const JobLayout& leaf : space.leaves(stem)) all.push_back(leaf);
  return all;
}

// The scenario with this layout, as text.
inline std::string text_of(const LayoutQuestion& asked, const JobLayout& layout) {
  return scenario_with_layout(asked.text, {}, blocks_of(layout, context_preset(asked.question.spec.job)), "");
}

}  // namespace podsim::testing
