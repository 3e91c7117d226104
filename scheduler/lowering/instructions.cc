// Names of streams, and steps of several jobs as one.
#include "scheduler/lowering/instructions.h"

#include <utility>

namespace podsim {

std::string_view to_string(Stream stream) {
  switch (stream) {
    case Stream::kParameter:
      return "weights";
    case Stream::kActivation:
      return "activations";
    case Stream::kActivationBeside:
      return "activations beside";
    case Stream::kGradient:
      return "gradients";
    case Stream::kStepGather:
      return "updated weights";
    case Stream::kForwardNext:
      return "forward to next";
    case Stream::kForwardPrevious:
      return "forward to previous";
    case Stream::kBackwardNext:
      return "backward to next";
    case Stream::kBackwardPrevious:
      return "backward to previous";
    case Stream::kToHost:
      return "to host";
    case Stream::kFromHost:
      return "from host";
  }
  return "";
}

void append(LoweredStep& all, LoweredStep step, int job) {
  const auto first_message = static_cast<std::int32_t>(all.messages.size());
  for (CollectiveCall& message : step.messages) {
    message.scope.job = job;
    all.messages.push_back(message);
  }
  for (StageProgram& stage : step.stages) {
    stage.job = job;
    for (std::vector<Instruction>& segment : stage.segments)
      for (Instruction& instruction : segment)
        if (instruction.message >= 0) instruction.message += first_message;
    all.stages.push_back(std::move(stage));
  }
}

}  // namespace podsim
