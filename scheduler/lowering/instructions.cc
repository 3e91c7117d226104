// Names of streams.
#include "scheduler/lowering/instructions.h"

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

}  // namespace podsim
