// What a config.json of Hugging Face means, as plain data, and how it is told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/launchers/scenario_text.h"
#include "ingest/launchers/step_sizes.h"
#include "report/figures/figure.h"

namespace podsim {

// Missing is what neither the file nor its type says.
struct HuggingFaceModel {
  ModelSizes sizes;
  std::map<std::string, std::int64_t> layers_of;  // [type of `layer_types`]
  std::vector<bool> has_experts;                  // by number of the layer; empty without experts
  std::optional<std::int64_t> positions, parameters, active;
  std::optional<bool> gated, tied;  // unknown where neither the file nor its type says so
  bool type_is_known = false, attention_bias = false, mlp_bias = false;
  std::string type, outer_type, dtype, quantization, catalogue;
  std::vector<Needed> needs;  // sizes
  std::vector<Needed>
      shapes;  // what only a scenario needs: shapes that are not said, and those that do not run
  StepSizes step;
};

std::vector<Figure> hugging_face_figures(const HuggingFaceModel& model);
std::string hugging_face_text(const std::string& file, const HuggingFaceModel& model);

// REQUIRES: nothing is needed.
std::string hugging_face_scenario(const std::string& file, const HuggingFaceModel& model,
                                  const Stated& stated);

}  // namespace podsim
