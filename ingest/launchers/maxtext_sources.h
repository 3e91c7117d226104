// The settings of MaxText: base.yml, over it the file of a model, over both the script's arguments and its
// variables M_KEY.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ingest/launchers/settings.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

struct MaxTextSources {
  Configuration all;              // in order of precedence
  std::set<std::string> assumed;  // names that only base.yml has
  bool model_found = false;       // the file with the model's sizes
};

// Files are looked for among `files`, and then beside the script.
std::optional<MaxTextSources> read_maxtext(const std::vector<InputText>& files, const Stated& stated,
                                           const InputText& script, std::vector<Problem>& problems);

}  // namespace podsim
