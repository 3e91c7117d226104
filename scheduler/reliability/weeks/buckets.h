// Where the chip-time of a training run goes: each chip-millisecond lies in exactly one bucket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace podsim {

// What a chip of the cluster is for at a moment: training that counts, or what keeps it from that.
enum class RunBucket : std::uint8_t {
  kProductive,   // training that is kept, without what the next three take of it
  kStraggler,    // steps take longer by this because of slow parts
  kInput,        // steps wait for data
  kSlowedDown,   // training is slower by this: fewer replicas than it was laid out for, redundant computation
  kRecompute,    // training that a failure lost and that is done again
  kSave,         // training stands still while a checkpoint is saved
  kDetection,    // the job hangs, nobody knows
  kDiagnosis,    // which node is it?
  kWaiting,      // healthy chips of the job wait for repair or spares
  kScheduling,   // a spare is made ready
  kRestart,      // processes start, communicators are set up
  kRestore,      // a checkpoint is loaded
  kWarmUp,       // compilation, first steps, full caches
  kReconfigure,  // an elastic job goes over to fewer or more replicas
  kRepair,       // chips that are out of order, with those that are out with them
  kTakenAway,    // chips that their owner has taken back until there are others
  kIdleSpare,    // healthy chips that the job does not use
};
inline constexpr std::size_t kRunBuckets = 17;

std::string_view to_string(RunBucket bucket);  // "checkpoint save"

// What the ML Goodput library calls it: "productive", "UNPRODUCTIVE_CHECKPOINT_SAVE_TIME", ...
// Source: AI-Hypercomputer/ml-goodput-measurement, goodput_utils.py, BadputType.
std::string_view ml_goodput_name(RunBucket bucket);

// Is it time of chips that the job has? Those in repair, taken away or idle as spares are not.
constexpr bool of_the_job(RunBucket bucket) { return bucket < RunBucket::kRepair; }

// Chip-milliseconds.
class RunAccounts {
 public:
  std::int64_t operator[](RunBucket bucket) const { return time_[static_cast<std::size_t>(bucket)]; }
  void charge(RunBucket bucket, std::int64_t chip_ms) { time_[static_cast<std::size_t>(bucket)] += chip_ms; }
  void move(RunBucket from, RunBucket to, std::int64_t chip_ms) {
    charge(from, -chip_ms);
    charge(to, chip_ms);
  }
  // Moves this share of a bucket, rounded to the nearest. REQUIRES: 0 <= share <= 1.
  void move_share(RunBucket from, RunBucket to, double share);

  std::int64_t total() const;
  std::int64_t of_job() const;

  friend bool operator==(const RunAccounts&, const RunAccounts&) = default;

 private:
  std::array<std::int64_t, kRunBuckets> time_ = {};
};

}  // namespace podsim
