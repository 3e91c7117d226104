// Describes chip classes, communication and link classes.
#include "scheduler/simulation/state/timeline_parts.h"

#include <algorithm>
#include <string>

#include "engine/sharing.h"

namespace podsim {
namespace {

CommunicationClass describe(const System& system, std::int32_t pattern) {
  CommunicationClass result;
  for (std::size_t m = 0; m < system.step.messages.size(); ++m) {
    const CollectiveCall& message = system.step.messages[m];
    if (system.pattern_of[m] != pattern) continue;
    result.axes = axis_names(system.meshes[message.scope.job], message.scope.axes);
    result.bytes.value = std::max(result.bytes.value, message.bytes.value);
  }
  result.kind = to_string(system.patterns[pattern].kind);
  result.algorithm = to_string(system.patterns[pattern].algorithm);
  return result;
}

ChipTotals describe(const System& system, const ChipClass& chip) {
  ChipTotals result;
  result.representative = chip.representative;
  result.chips = chip.chips;
  result.stage = system.step.stages[chip.program].stage;
  result.speed = chip.speed;
  result.chance = chip.chance;
  result.bucket.resize(kBuckets);
  return result;
}

}  // namespace

std::vector<JobParts> parts_of_jobs(const System& system) {
  std::vector<JobParts> jobs(system.meshes.size());
  for (std::size_t c = 0; c < system.chips.size(); ++c)
    jobs[system.step.stages[system.chips[c].program].job].chips.push_back(static_cast<std::int32_t>(c));
  std::vector<int> job_of_pattern(system.patterns.size(), 0);
  for (std::size_t m = 0; m < system.pattern_of.size(); ++m)
    job_of_pattern[system.pattern_of[m]] = system.step.messages[m].scope.job;
  for (std::size_t p = 0; p < job_of_pattern.size(); ++p)
    jobs[job_of_pattern[p]].patterns.push_back(static_cast<std::int32_t>(p));
  return jobs;
}

Timeline blank_timeline(const System& system, const JobParts& job) {
  Timeline timeline;
  for (const std::int32_t chip : job.chips) {
    timeline.chips.push_back(describe(system, system.chips[chip]));
    timeline.chips.back().exposed.resize(job.patterns.size());
  }
  for (const std::int32_t pattern : job.patterns) timeline.communication.push_back(describe(system, pattern));
  for (const LinkClass& link : system.links)
    timeline.links.push_back({link.kind, link.links, link.bandwidth, {}});
  timeline.group_classes = static_cast<int>(system.groups.size());
  return timeline;
}

void add_link_bytes(const System& system, std::int32_t group, std::int32_t message, std::int64_t times,
                    std::vector<double>& bytes) {
  visit_link_bytes(system, group, message, times,
                   [&](std::int32_t link, double carried) { bytes[link] += carried; });
}

}  // namespace podsim
