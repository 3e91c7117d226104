// Names and sums of the buckets.
#include "scheduler/reliability/weeks/buckets.h"

#include <cmath>

#include "engine/check.h"

namespace podsim {
namespace {

struct Names {
  std::string_view here, ml_goodput;
};

constexpr std::array<Names, kRunBuckets> kBucketNames = {{
    {"productive", "PRODUCTIVE"},
    {"straggler", "OTHER"},
    {"input", "DATA_LOADING_SYNC"},
    {"slowed down", "ELASTIC_SLICE_DOWN"},
    {"recompute", "WASTED_PROGRESS_FROM_DISRUPTION"},
    {"checkpoint save", "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME"},
    {"detection", "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION"},
    {"diagnosis", "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION"},
    {"waiting", "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION"},
    {"scheduling", "INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION"},
    {"restart", "TPU_INITIALIZATION"},
    {"checkpoint restore", "UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME"},
    {"warm-up", "PROGRAM_STARTUP"},
    {"reconfigure", "ELASTIC_REINITIALIZATION"},
    {"repair", "NOT_OF_THE_JOB"},
    {"taken away", "NOT_OF_THE_JOB"},
    {"idle spare", "NOT_OF_THE_JOB"},
}};

}  // namespace

std::string_view to_string(RunBucket bucket) { return kBucketNames[static_cast<std::size_t>(bucket)].here; }

std::string_view ml_goodput_name(RunBucket bucket) {
  return kBucketNames[static_cast<std::size_t>(bucket)].ml_goodput;
}

void RunAccounts::move_share(RunBucket from, RunBucket to, double share) {
  PODSIM_CHECK(share >= 0 && share <= 1, "a share of a bucket lies between none and all of it");
  move(from, to, std::llround(share * static_cast<double>((*this)[from])));
}

std::int64_t RunAccounts::total() const {
  std::int64_t sum = 0;
  for (const std::int64_t time : time_) sum += time;
  return sum;
}

std::int64_t RunAccounts::of_job() const {
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < kRunBuckets; ++b)
    if (of_the_job(static_cast<RunBucket>(b))) sum += time_[b];
  return sum;
}

}  // namespace podsim
