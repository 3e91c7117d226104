// The legs of all programs, found when they are first asked for: they are the same however often a system is
// simulated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/loop/legs.h"
#include "scheduler/simulation/state/stream_operations.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// What legs come to alone, summed up from the first one of a segment on: a run of them takes as long as
// several instructions do. Index k stands for all before leg k.
struct LegSums {
  std::vector<Time> length;
  std::vector<std::array<Time, kBuckets>> bucket;
  std::vector<std::int64_t> events;
  std::vector<std::int32_t> patterns;  // that are ever exposed
  std::vector<Time> exposed;           // [k * patterns + pattern]
  std::vector<LegLaunches> launches;   // streams and rendezvous; `count` means nothing
  std::vector<std::int32_t> launched;  // [k * launches + launch]

  explicit LegSums(std::span<const Leg> legs);
};

// Of one segment, for one chip.
struct SegmentLegs {
  std::vector<Leg> legs;
  std::vector<std::int32_t> at;  // [instruction] the leg that begins there, or -1
  std::optional<LegSums> sums;
};

class SoloLegs {
 public:
  // REQUIRES: all of them outlive this object.
  SoloLegs(const System& system, const StreamOperations& lists, UncontendedCollectives& uncontended);

  // Those of a segment of the chip's program. Stays where it is.
  SegmentLegs& of(std::int32_t chip, std::int32_t segment) {
    if (of_chip_.empty()) make_room();
    std::unique_ptr<SegmentLegs>& legs = of_chip_[chip][segment];
    if (!legs) legs = find(chip, segment);
    return *legs;
  }

  // Works out how far those from `first` on follow each other, and the latest host.
  void join(std::int32_t chip, std::vector<Leg>& legs, std::int32_t first) const;

 private:
  struct User {  // of a link
    std::int32_t group;
    Stream stream;
    friend bool operator==(const User&, const User&) = default;
  };

  const StageProgram& program_of(std::int32_t chip) const {
    return system_.step.stages[system_.chips[chip].program];
  }
  void make_room();
  std::unique_ptr<SegmentLegs> find(std::int32_t chip, std::int32_t segment);
  std::optional<Leg> leg_from(std::int32_t chip, std::span<const Instruction> segment, std::int32_t first);
  bool own(std::int32_t chip, const Instruction& launch, std::uint32_t& streams);
  void list_users();

  const System& system_;
  const StreamOperations& lists_;
  UncontendedCollectives& uncontended_;
  std::vector<std::vector<std::unique_ptr<SegmentLegs>>> of_chip_;  // [chip][segment]
  std::vector<std::int32_t> rendezvous_of_;                         // [group * kNetworkStreams + stream]
  std::vector<std::vector<User>> users_;                            // [link]
  RehearsalBuffers buffers_;
};

}  // namespace podsim
