// Scenarios of the repository and of tests, loaded.
#pragma once

#include <stdexcept>
#include <string>

#include "proto/scenario/load.h"

namespace podsim::testing {

inline Spec load(const std::string& name, const std::vector<Override>& overrides = {}) {
  const Catalog catalog;
  LoadResult loaded =
      load_scenario_file(PODSIM_SOURCE_DIR "/scenarios/" + name + ".textproto", catalog, overrides);
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)));
  return *std::move(loaded.spec);
}

inline Spec load_text(const std::string& text) {
  const Catalog catalog;
  LoadResult loaded = load_scenario("text.textproto", text, catalog, {});
  if (!loaded.spec) throw std::runtime_error(format_problem(loaded.problems.at(0)) + "\n" + text);
  return *std::move(loaded.spec);
}

}  // namespace podsim::testing
