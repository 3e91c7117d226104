// The streams of every stage program as lists: what each puts on them over a step, in order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/cache.h"
#include "scheduler/folding/system.h"

namespace podsim {

// An operation of a list, and the slot of the chip where it meets the others of its group.
struct StreamOperation {
  std::int32_t message;
  std::int32_t slot;
};

// A stream that chips of a program launch on, or on which neighbours send to them.
struct StreamList {
  Stream stream;
  std::int32_t first = 0, count = 0;  // of the operations
  std::int32_t most_unfinished =
      0;  // of them at once; kManyUnfinished where steps leave some to the next one
  static constexpr std::int32_t kManyUnfinished = INT32_MAX;
};

// Programs are fixed, so a chip needs no queue of what it has launched: a position in the list of its program
// and a count. The rendezvous of each operation is looked up once for all chips: a chip has a slot for each
// pair of a list and a communicator.
class StreamOperations {
 public:
  // REQUIRES: `system` outlives this object.
  explicit StreamOperations(const System& system);

  struct Rendezvous {  // of a group class on one stream
    std::int32_t group;
    Stream stream;
    std::int32_t program = 0, slot = 0;  // of one that launches its operations, as all who do
  };
  const std::vector<Rendezvous>& all_rendezvous() const { return all_rendezvous_; }

  // The messages that the rendezvous runs in a step, one after another. O(instructions and order of the
  // program).
  std::vector<std::int32_t> messages_of(const Rendezvous& rendezvous) const;
  // How often it runs each of them in a step, by message.
  std::span<const std::pair<std::int32_t, std::int64_t>> counts_of(const Rendezvous& rendezvous) const {
    return programs_[rendezvous.program].slots[rendezvous.slot].counts;
  }

  std::span<const StreamList> lists_of(int program) const { return programs_[program].lists; }
  // Works out what each list holds, which takes as long as a step has operations: a loop that does without
  // never asks for it.
  void list_operations();

  // Index into lists_of(program). REQUIRES: the program has such a list.
  int list_of(int program, Stream stream) const {
    return programs_[program].list_of[static_cast<std::size_t>(stream)];
  }
  // REQUIRES, here and below: list_operations() has been called.
  std::span<const StreamOperation> operations(const StreamList& list) const {
    return {operations_.data() + list.first, static_cast<std::size_t>(list.count)};
  }
  const StreamOperation& operation(const StreamList& list, std::int32_t position) const {
    return operations_[list.first + position];
  }
  std::int32_t rendezvous_at(std::int32_t chip, std::int32_t slot) const {
    return rendezvous_at_[chip * most_slots_ + slot];
  }

  // Loads where the chip meets others.
  void fetch_chip(std::int32_t chip) const { fetch(rendezvous_at_[chip * most_slots_]); }

 private:
  struct CommunicatorSlot {
    Stream stream;
    std::int32_t communicator;
    std::vector<std::pair<std::int32_t, std::int64_t>> counts = {};  // of messages, in a step
  };
  struct Program {
    const StageProgram* stage;
    std::vector<StreamList> lists;
    std::array<std::int8_t, kNetworkStreams> list_of;
    std::vector<CommunicatorSlot> slots;
    // Or none.
    std::int32_t slot_of(Stream stream, std::int32_t communicator) const;
  };

  // Of a program: how often it launches each message on each stream in a step, and which it uses.
  struct Launches {
    std::vector<std::array<std::int64_t, kNetworkStreams>> times;  // [message]
    std::array<bool, kNetworkStreams> used{};
  };
  // At the end of a step, and at most.
  struct Unfinished {
    std::array<std::int32_t, kNetworkStreams> left{}, most{};
  };

  void add_program(const StageProgram& stage);
  void count_launches(std::span<const Instruction> segment, std::int64_t times, Program& program,
                      Launches& launches);
  void list_counts(const Launches& launches, Program& program) const;
  static Unfinished count_unfinished(const StageProgram& stage);
  void assign_rendezvous(const System& system);

  const System& system_;
  std::vector<Program> programs_;
  std::int32_t count_ = 0;                   // of all operations of a step
  std::vector<StreamOperation> operations_;  // none before list_operations()
  std::vector<Rendezvous> all_rendezvous_;
  std::size_t most_slots_ = 1;               // of a chip
  std::vector<std::int32_t> rendezvous_at_;  // [chip * most_slots_ + slot]
};

}  // namespace podsim
