// What Nsight Systems recorded of devices, as ranks of a profile: work, launches and steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/imported/account.h"
#include "ingest/kineto/ranks.h"
#include "ingest/nsight/tables.h"
#include "proto/text/problem.h"

namespace podsim::nsight {

// Those that did something, by their numbers and processes, and what became of each row. Steps are ranges of
// NVTX that are called step, iteration or iter with a number behind; where several words occur, those of the
// first of these. Nothing, and a problem, where a row of work has no times or no name.
std::optional<std::vector<kineto::RankProfile>> device_profiles(const std::string& file, const Tables& tables,
                                                                Account& account,
                                                                std::vector<Problem>& problems);

// "ProfilerStep#7", "train_step 12" and "iteration=3" are steps; nothing for other names.
struct NamedStep {
  int word = 0;  // which of the words it has
  std::int64_t number = 0;
};
std::optional<NamedStep> step_named(const std::string& name);

}  // namespace podsim::nsight
