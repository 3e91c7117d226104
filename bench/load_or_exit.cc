// Reads a scenario of a benchmark.
#include "bench/load_or_exit.h"

#include <cstdlib>
#include <iostream>
#include <utility>

namespace podsim {

Spec load_or_exit(const std::string& path, const std::vector<Override>& overrides) {
  Catalog catalog;
  LoadResult loaded = load_scenario_file(PODSIM_SOURCE_DIR "/" + path + ".textproto", catalog, overrides);
  for (const Problem& problem : loaded.problems) std::cerr << format_problem(problem) << '\n';
  if (!loaded.spec) std::exit(2);
  return *std::move(loaded.spec);
}

}  // namespace podsim
