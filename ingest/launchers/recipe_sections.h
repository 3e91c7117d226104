// Recipes that were saved as YAML: which of several sections says what an argument is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingest/launchers/settings.h"

namespace podsim {

// References as OmegaConf has them, "${model.seq_length}" from the root and "${.seq_length}" from beside, are
// what they name; one to nothing, or round a circle, stays as it is.
Configuration with_references(const Configuration& recipe);

// A key of a recipe, read as an argument.
struct RecipeKey {
  std::string path;  // "model.data.train_ds.micro_batch_size"
  Setting setting;   // with the name of the argument
};

// Of keys that are one argument the one that counts: of data-parallel gradients and overlap before the model,
// these before other sections and the optimizer, outer sections before those within, none that is null. The
// others are named "again.PATH", keys of evaluation and of parts beside the language model "elsewhere.PATH".
// `contradictions`: [argument] in words, where another section has another value.
Configuration chosen_by_section(std::vector<RecipeKey> keys,
                                std::map<std::string, std::string>& contradictions);

}  // namespace podsim
