// Named sets of sharding rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/mesh/mesh.h"

namespace podsim {

struct ShardingRule;

// Rules of a named preset: "data", "fsdp", "megatron", "megatron_sp", "zero1" ... over axes that have the
// preset's names (data, fsdp, tensor, pipeline). Presets combine: rules of the later extend those of the
// earlier. Nothing for an unknown name.
std::optional<std::vector<ShardingRule>> preset_rules(const std::string& preset, const Mesh& mesh);
std::vector<std::string> preset_names();

// Rules of a later preset add axes to the dimensions of an earlier one.
void add_rules(const std::vector<ShardingRule>& more, std::vector<ShardingRule>& rules);

}  // namespace podsim
