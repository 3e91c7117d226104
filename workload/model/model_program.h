// The whole model as tensor programs: each kind of piece once, and the order in which pieces follow.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/graph.h"

namespace podsim {

struct Job;
struct Model;

struct ModelPart {
  std::string name;         // "embedding", "layer", "expert layer", "head"
  bool layer = true;        // may be recomputed; launch limits of a layer apply
  Graph graph;              // sizes of one microbatch over all batch shards
  bool recomputes = layer;  // by the job's policy
};

struct ModelProgram {
  std::vector<ModelPart> parts;
  std::vector<int> sequence;  // part of each piece, first to last
};

// The job's own tensor program where it has one, else that of its model's family.
// REQUIRES: explain_invalid(job) is empty.
ModelProgram model_program(const Job& job);

// Whether queries of the layer, from 0 on, see no further back than the model's window.
bool is_local(const Model& model, int layer);

// Elements of all parameters, shared ones once.
double parameter_count(const ModelProgram& program);
double trained_parameters(const ModelProgram& program);  // that are not frozen
double expert_parameters(const ModelProgram& program);   // of all experts that tokens are sent to
// Parameters that one token passes: of the experts only those it is sent to.
double active_parameters(const Job& job, const ModelProgram& program);

}  // namespace podsim
