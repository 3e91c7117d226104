// The version comes from the build.
#include "report/answer/result_header.h"

namespace podsim {

ResultHeader result_header(const std::string& scenario_sha256) {
  return {PODSIM_VERSION, 1, scenario_sha256};
}

}  // namespace podsim
