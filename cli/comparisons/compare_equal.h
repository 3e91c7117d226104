// podsim compare --equal: scenarios on clusters that are made equal by one measure.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"

namespace CLI {
class App;
}

namespace podsim {

struct EqualOptions {
  std::string measure;  // empty = scenarios as they are
  bool search = false;
  double tokens = 1e12, days = 0;
  std::string counts, price_term = "on_demand", gap = "1%", store;
  bool any() const { return !measure.empty(); }
  bool any_but_measure() const { return search || days > 0 || !counts.empty() || !store.empty(); }
};

void add_equal_options(CLI::App& verb, EqualOptions& options);

// The exit code. `format`: table, csv or json.
int compare_equal(const std::vector<std::string>& files, const LoadOptions& load, const EqualOptions& options,
                  const std::string& format, int threads);

}  // namespace podsim
