// Which recipe each matmul of a graph runs in, and the bytes that its tensors have on the wire and in memory.
#pragma once

#include "workload/graph/graph.h"
#include "workload/model/model_program.h"

namespace podsim {

struct Chip;
struct Job;
struct PrecisionRecipe;

// Gives every matmul its recipe, weights their bytes, and tokens on their way to experts and back theirs.
// REQUIRES: the graph is the forward pass, and the job outlives it: operations point to its recipes.
void apply_precision(const Job& job, Graph& graph);

// Recipe of this pass of a matmul; nullptr = 16 bits, or no matmul.
const PrecisionRecipe* running_recipe(const Graph& graph, const Operation& op);

// Bytes of an element of an input of `op` on its way there.
double wire_bytes(const Graph& graph, const Operation& op, const Tensor& input);

// Bytes of an element of a forward activation that waits for what reads it in the backward pass: operations
// of that pass, and of the forward pass that run `again`.
double kept_bytes(const Graph& graph, const std::vector<Operation>& backward,
                  const std::vector<Operation>& again, TensorId activation);

// Matmuls of a model by name, in order of appearance.
std::vector<std::string> matmul_names(const ModelProgram& model);

// The fastest matmul rate of any recipe of the job on the chip. REQUIRES: the chip has the formats.
FlopRate fastest_matmuls(const Job& job, const Chip& chip);

}  // namespace podsim
