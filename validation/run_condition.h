// Which measured runs are meant: "chips<=1024", "chip=b200|gb200 & arch=dense".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/run_scenario.h"

namespace podsim {

// What a run says of this name (id, family, group, chip, fabric, stack, model, precision, arch, parallelism,
// chips); nothing for another name.
std::optional<std::string> run_field(const RunScenario& run, const std::string& name);
const std::vector<std::string>& run_field_names();

// Parts that must all hold, joined by "&". A part compares a field: "=" and "!=" with names joined by "|", of
// which one (none) must be the whole field; chips also with "<", "<=", ">" and ">=".
class RunCondition {
 public:
  // What is wrong with the text, with the nearest valid name; then the condition must not be used.
  std::string read(const std::string& text);
  bool holds(const RunScenario& run) const;

 private:
  struct Part {
    std::string field, comparison;
    std::vector<std::string> values;
    int number = 0;  // where the comparison is one of order
  };
  std::string read_part(const std::string& text);

  std::vector<Part> parts_;
};

}  // namespace podsim
