// The vision transformer's ends as graphs: patches of an image in, classes out.
#pragma once

#include "workload/graph/graph.h"

namespace podsim {

struct Job;

// REQUIRES: job.model.vision. A sequence is one image: its patches and a class token before them.
Graph patch_graph(const Job& job);
// The class of the image from the class token.
Graph class_graph(const Job& job);

}  // namespace podsim
