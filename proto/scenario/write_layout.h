// A scenario with another layout of its job, as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/override.h"
#include "workload/job/job.h"

namespace podsim {

// The fields of a job block that say how it is laid out.
struct LayoutBlocks {
  std::vector<MeshAxis> mesh;
  std::vector<std::string> sharding;  // presets
  std::vector<ShardingRule> rules;
  std::optional<PipelineSchedule> schedule;  // nothing = no pipeline
  int chunks = 1;
  int microbatch = 1;
  std::optional<Recompute> recompute;  // kNone, kSelective or kFull; nothing = as the job's own
  int recompute_layers = 0;
};

// The scenario in text format, without its space, and with `comment` before it, line by line. REQUIRES: it
// loads with these overrides.
std::string scenario_with_layout(const std::string& text, const std::vector<Override>& overrides,
                                 const LayoutBlocks& layout, const std::string& comment);

}  // namespace podsim
