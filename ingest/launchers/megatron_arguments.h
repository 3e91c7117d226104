// Arguments of Megatron-LM, whichever way they are written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/launchers/settings.h"
#include "proto/text/problem.h"
#include "proto/text/read_file.h"

namespace podsim {

// "moe_grouped_gemm" and "--moe-grouped-gemm" are one argument. Recipes that were saved have names of the
// library's classes for some.
std::string argument_name(std::string name);

// Of the first command that trains; "launcher." is before the names of options of torchrun and of Slurm, as
// launched_ranks.h has them. Notes tell of others that ask for something else.
std::optional<Configuration> read_megatron_script(const InputText& file, const Stated& stated,
                                                  std::vector<std::string>& notes,
                                                  std::vector<Problem>& problems);

// Of YAML; "outside." is before keys beside MODEL_ARGS. `contradictions`: as recipe_sections.h has them.
std::optional<Configuration> read_megatron_keys(const InputText& file,
                                                std::map<std::string, std::string>& contradictions,
                                                std::vector<Problem>& problems);

}  // namespace podsim
