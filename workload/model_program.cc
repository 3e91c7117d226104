// The whole model as tensor programs: each kind of piece once, and the order in which pieces follow.
#include "workload/model_program.h"

#include "workload/program_graph.h"
#include "workload/transformer.h"

namespace podsim {

namespace {

ModelProgram transformer_program(const Job& job) {
  ModelProgram program;
  program.parts = {{"embedding", false, embedding_graph(job)},
                   {"layer", true, layer_graph(job)},
                   {"head", false, head_graph(job)}};
  program.sequence.assign(static_cast<std::size_t>(job.model.layers) + 2, 1);
  program.sequence.front() = 0;
  program.sequence.back() = 2;
  return program;
}

}  // namespace

ModelProgram model_program(const Job& job) {
  ModelProgram program = job.program ? program_graphs(job).model : transformer_program(job);
  annotate(job.mesh, job.annotations, "annotation", program);
  return program;
}

double parameter_count(const ModelProgram& program) {
  double count = 0;
  for (int part : program.sequence) {
    for (const Tensor& tensor : program.parts[static_cast<std::size_t>(part)].graph.tensors) {
      if (is_parameter(tensor) && !tensor.shared) count += elements(tensor);
    }
  }
  return count;
}

}  // namespace podsim
