// The user's annotations of single tensors, put on the tensors of a model.
#pragma once

#include <string>
#include <vector>

#include "workload/job/tensor_program.h"
#include "workload/model/model_program.h"

namespace podsim {

struct TensorAnnotation;

// Something wrong with what the user wrote about tensors.
struct ProgramProblem {
  std::string path;  // in the program or the job: "part[0].operation[2].input[1]"; empty = all of it
  std::string message;
  std::string hint;       // what to write, or empty
  std::string name = {};  // not known; one of `candidates` was meant
  std::vector<std::string> candidates = {};
};

// Sets Tensor::annotation. Problems have paths such as field + "[0].tensor".
std::vector<ProgramProblem> annotate(const Mesh& mesh, const std::vector<TensorAnnotation>& annotations,
                                     const std::string& field, ModelProgram& model);

}  // namespace podsim
