// An evaluation as the part of a training step that it has in common with it.
#include <algorithm>
#include <iterator>

#include "workload/partition/program.h"

namespace podsim {
namespace {

Part forward_part(const Part& training) {
  Part part;
  part.name = training.name;
  part.layer = training.layer;
  part.launches = training.launches;
  std::copy_if(training.forward.begin(), training.forward.end(), std::back_inserter(part.forward),
               [](const ProgramOp& op) { return !std::holds_alternative<HostCopy>(op); });
  part.parameters = training.parameters;
  part.local_parameters = training.local_parameters;
  part.local_weights = training.local_weights;
  part.output = training.output;
  part.output_copies = training.output_copies;
  return part;
}

}  // namespace

StepProgram evaluation_of(const StepProgram& training) {
  StepProgram evaluation = training;
  evaluation.forward_only = true;
  for (Part& part : evaluation.parts) part = forward_part(part);
  return evaluation;
}

}  // namespace podsim
