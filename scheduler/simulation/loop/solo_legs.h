// The legs of all programs, found when they are first asked for: they are the same however often a system is
// simulated.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "scheduler/folding/system.h"
#include "scheduler/simulation/loop/legs.h"
#include "scheduler/simulation/loop/link_users.h"
#include "scheduler/simulation/loop/rehearsal.h"
#include "scheduler/simulation/state/stream_operations.h"
#include "scheduler/simulation/state/uncontended_collectives.h"

namespace podsim {

// What the chip has to compute before it launches on a stream, or comes to the end of the segment: so long it
// takes at least.
using TimesToLaunch = std::vector<Time>;  // [instruction], one more for the end

// Of one segment, for all chips for which its instructions take the same times.
struct SegmentLegs {
  std::vector<PlacedLeg> legs;
  std::vector<std::int32_t> starts;                   // [instruction] the leg that begins there, or -1
  std::vector<std::int32_t> at;                       // the same, of computations and launches only
  std::vector<std::int32_t> messages;                 // that the legs launch, each once
  std::array<std::int32_t, kNetworkStreams> until{};  // the last that launches on a stream and those before
  // Found when asked for; to the end also where the segment launches nothing on a stream.
  std::array<TimesToLaunch, kNetworkStreams> to_launch;
  TimesToLaunch to_end;

  const LegSums& sums() { return sums_ ? *sums_ : sums_.emplace(legs); }

 private:
  std::optional<LegSums> sums_;
};

class SoloLegs {
 public:
  // REQUIRES: all of them outlive this object.
  SoloLegs(const System& system, const StreamOperations& lists, UncontendedCollectives& uncontended,
           LinkUsers& users);

  // Those of a segment of the chip's program. Stays where it is.
  SegmentLegs& of(std::int32_t chip, std::int32_t segment) { return *segment_of(chip, segment).legs; }
  // Rendezvous of transfers between stages that load links of these legs' collectives.
  std::span<const std::int32_t> guests(std::int32_t chip, std::int32_t segment) {
    return segment_of(chip, segment).guests;
  }

  // The same of a chip that has peers, with what all of them do together taken for its own, where that takes
  // the same times for all of them: peers have the same ones. Null of others.
  SegmentLegs* with_peers(std::int32_t chip, std::int32_t segment);
  // The group of the chip and its peers, or -1 where it has none. Peers are all members of a group that go
  // through one program at one speed, and while they are at collectives of that group nobody else comes to
  // its links.
  std::int32_t peers(std::int32_t chip);

  // Of the segment, which is the chip's.
  const TimesToLaunch& times_to_launch(std::int32_t chip, std::int32_t segment, Stream stream);

  // A computation alone: one leg for all that take the same time. Stays where it is.
  Leg& computation(std::int32_t chip, std::int32_t segment, std::int32_t instruction);

  // Where operations of the chip on a stream meet. REQUIRES: there are some.
  std::int32_t rendezvous_of(std::int32_t chip, Stream stream, std::int32_t communicator);

  // How many launches were found to be a chip's own although groups with other classes load their links too.
  std::int64_t beside_wider_groups() const { return beside_wider_groups_; }

  // Works out how far those from `first` on follow each other, and the latest host.
  void join(std::int32_t chip, std::vector<PlacedLeg>& legs, std::int32_t first) const;

 private:
  const StageProgram& program_of(std::int32_t chip) const {
    return system_.step.stages[system_.chips[chip].program];
  }
  // How an operation goes that a chip launches, with what it does together with its peers taken for its own
  // or without.
  struct LaunchAlone {
    bool alone = false;         // the chip, or it and its peers, decide that while no guest is on its links
    bool met = false;           // peers have to come
    std::uint32_t streams = 0;  // others of theirs, on which nothing may be under way, bit by bit
    std::int32_t times = -1;    // UncontendedCollectives::times_of
    friend bool operator==(const LaunchAlone&, const LaunchAlone&) = default;
  };
  // All that decides what legs a segment has for a chip.
  struct Signature {
    double scale, interference, skew;
    Time host_lead;
    std::span<const Instruction> segment;
    std::vector<LaunchAlone> launches;  // of each message and stream, once
    bool peers;                         // with_peers()
    bool operator==(const Signature& other) const;
    std::uint64_t hash() const;
  };
  struct ChipSegment {
    SegmentLegs* legs = nullptr;
    std::vector<std::int32_t> guests;
  };

  ChipSegment& segment_of(std::int32_t chip, std::int32_t segment) {
    if (of_chip_.empty()) make_room();
    ChipSegment& found = of_chip_[static_cast<std::size_t>(chip)][static_cast<std::size_t>(segment)];
    if (found.legs == nullptr) {
      found.legs = find(chip, segment, false);
      find_guests(chip, found);
    }
    return found;
  }
  void make_room();
  SegmentLegs* find(std::int32_t chip, std::int32_t segment_number, bool peers);
  SegmentLegs* find_with_peers(std::int32_t chip, std::int32_t segment);
  Signature signature_of(std::int32_t chip, std::span<const Instruction> segment, bool peers);
  // The leg that begins with the first of these instructions, or null; it is made where no other place of the
  // chip's programs has it.
  Leg* leg_from(std::int32_t chip, std::span<const Instruction> instructions, bool peers);
  std::optional<Leg> write_leg(std::int32_t chip, std::span<const Instruction> instructions, bool peers);
  LaunchAlone launch(std::int32_t chip, const Instruction& launch, bool peers);
  LaunchAlone find_launch(std::int32_t chip, const Instruction& launch, bool peers);
  bool alone(std::int32_t chip, const Instruction& launch, bool peers, std::uint32_t& streams);
  bool own(std::int32_t chip, const Instruction& launch, std::uint32_t& streams);
  bool of_peers(std::int32_t group, std::int32_t message, Stream stream, std::uint32_t& streams);
  std::int32_t first_peers(std::int32_t chip);
  std::int32_t group_of(std::int32_t chip, std::int32_t message) const {
    return system_.chips[chip].group_class[system_.communicator_of[message]];
  }
  void rehearse_alone(std::int32_t chip, Leg& leg);
  static void list_messages(std::span<const Instruction> segment, SegmentLegs& found);
  void find_guests(std::int32_t chip, ChipSegment& of);
  double scale_of(std::int32_t chip) const { return (1 + program_of(chip).skew) / system_.chips[chip].speed; }
  std::int32_t rendezvous_of_group(std::int32_t group, Stream stream) const;

  const System& system_;
  const StreamOperations& lists_;
  UncontendedCollectives& uncontended_;
  LinkUsers& users_;
  struct KnownLeg {  // of a chip, that follows from its own instructions alone
    std::int32_t chip;
    bool peers;
    std::span<const Instruction> instructions;
    Leg* leg;
  };
  std::deque<SegmentLegs> all_;
  std::deque<Leg> legs_;
  std::unordered_multimap<std::uint64_t, KnownLeg> known_legs_;      // by how they begin
  using LoneComputation = std::tuple<Time, Bucket, double, double>;  // length, interference, skew
  std::map<LoneComputation, Leg*> computations_;
  std::unordered_multimap<std::uint64_t, std::pair<Signature, SegmentLegs*>> known_;  // by hash
  std::vector<std::vector<ChipSegment>> of_chip_;                                     // [chip][segment]
  std::vector<std::vector<std::optional<SegmentLegs*>>> of_peers_;  // the same of with_peers()
  // [chip][2 * LinkUsers::number_of, and one more with its peers] once somebody asked
  std::vector<std::vector<std::optional<LaunchAlone>>> launches_;
  std::vector<std::int32_t> peers_;          // [chip] once somebody asked
  std::vector<std::int32_t> rendezvous_of_;  // [group * kNetworkStreams + stream]
  std::int64_t beside_wider_groups_ = 0;
  RehearsalBuffers buffers_;
  LegWriter writer_;
};

}  // namespace podsim
