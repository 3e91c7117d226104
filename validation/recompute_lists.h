// Lists of activations in the words of recipes, as fields of a job: "decoder input, q, k, v offloaded;
// context kept".
#pragma once

#include <string>

namespace podsim {

// Fields keep and offload of a scenario's job. A verb at the end of names holds for all of them: kept,
// offloaded, rematerialised; names without a verb are recomputed, and so is what no list names. Text before a
// colon is left out.
std::string retention_fields(const std::string& text);

}  // namespace podsim
