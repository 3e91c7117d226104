// The model of a measured run: the entry of the catalogue that the row names in `catalog_model` or that
// agrees in shape, else its shape.
#pragma once

#include <string>
#include <vector>

#include "proto/catalog/catalog.h"
#include "validation/run_table.h"

namespace podsim {

struct RunModel {
  std::string lines;  // of the job block of a scenario
  std::string name;
  std::vector<std::string> assumptions;
  std::string missing;  // why the row has no model; empty when it has
};

// A vocabulary that `tensor` does not divide is padded to a multiple of 128 x tensor, as Megatron-LM does.
RunModel run_model(const RunRow& row, const Catalog& catalog, int tensor);

}  // namespace podsim
