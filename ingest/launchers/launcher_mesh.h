// Mesh, presets and rules of a job, from what launchers say of its ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/launchers/scenario_text.h"
#include "workload/sharding/expert_ranks.h"

namespace podsim {

// How devices share the work, in the words of Megatron and FSDP.
struct LauncherDegrees {
  std::int64_t pipeline = 1;
  std::int64_t data = 1;  // of which `expert` are taken, unless weights are sharded
  std::int64_t fsdp = 1;  // of which they are taken then
  std::int64_t context = 1, expert = 1, tensor = 1;
  std::int64_t expert_tensor = 1;  // ranks that cut an expert
  SharedState state = SharedState::kWhole;
  bool sequence_parallel = false, experts = false;
  // Names of axes that lie outside of pipeline, data, fsdp, context, expert and tensor, major to minor.
  std::vector<std::string> outermost;
};

// Axes and presets; where the experts' ranks fit no axes or do not divide the others, a problem.
bool add_mesh(ScenarioText& text, LauncherDegrees degrees, const std::map<std::string, std::string>& from,
              std::string& problem);

}  // namespace podsim
