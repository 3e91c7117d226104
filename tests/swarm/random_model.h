// What a job computes: a model of the catalogue with few layers, a program of its own, or measured layers.
#pragma once

#include <map>
#include <string>

#include "tests/swarm/random_scenario.h"

namespace podsim::testing {

enum class ModelKind { kTransformer, kImages, kTables, kProgram, kMeasured };

struct DrawnModel {
  ModelKind kind = ModelKind::kTransformer;
  std::string name;      // of the catalogue
  int sequence = 0;      // tokens that it needs; 0 = any number
  int least_layers = 1;  // that its structure needs
  bool experts = false;
  bool layered = true;  // a pipeline can cut it
};

DrawnModel draw_model_kind(Draw& draw);

// With a number of layers that `pieces` of a pipeline can share. `sizes` = of the mesh axes.
void write_model(Draw& draw, const DrawnModel& model, int pieces, const std::map<std::string, int>& sizes,
                 schema::JobChoice& job);

}  // namespace podsim::testing
