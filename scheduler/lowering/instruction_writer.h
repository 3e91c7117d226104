// Writes the instructions of one segment after the other; equal messages are stored once.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/lowering/instructions.h"

namespace podsim {

struct Chip;
struct Stack;

// The only place where an operation becomes an instruction with a duration, by the chip and its software.
class InstructionWriter {
 public:
  // Messages go to `messages`. `merge` as in `lower`.
  InstructionWriter(std::vector<CollectiveCall>& messages, const Chip& chip, const Stack& stack, bool merge)
      : messages_(messages), chip_(chip), stack_(stack), merge_(merge) {}

  // What follows goes to `segment`. Returns where it went before, or null.
  std::vector<Instruction>* begin(std::vector<Instruction>& segment) { return std::exchange(out_, &segment); }

  // Instructions that were written to another segment, as if they had been written here.
  void append(std::span<const Instruction> written);

  void compute(Time duration, Bucket bucket);
  void compute(const ComputeOp& op, Bucket bucket);
  // A share of the collective's bytes, at the end of the stream.
  void launch(Stream stream, const CollectiveOp& op, double share = 1);
  void launch(Stream stream, Scope scope, CollectiveKind kind, Bytes bytes, Bucket bucket,
              Fanout fanout = {});
  void synchronise();                // the host waits for the device before it launches what comes
  void host(Time duration);          // that it takes to launch what has come since the last one
  void host_collectives(int count);  // the same of those to come, outside the passes
  void copy(const HostCopy& op);
  void wait(Stream stream, int pending);
  void receive(Stream stream);
  void await_input();

  // All collectives of the block go to the stream and copies to theirs; computations between them (casts,
  // norms of gradients) stay on the compute stream. Returns the number of collectives.
  int launch_all(Stream stream, const Block& block, Bucket bucket);

  // On this chip and stack, device time: of the operation, and of one of so many chunks of it. Both are
  // remembered by where it lies. REQUIRES: it stays there as it is.
  double seconds(const ComputeOp& op);
  double seconds_of_chunk(const ComputeOp& matmul, int chunks);

 private:
  std::int32_t message(const CollectiveCall& message);

  std::vector<CollectiveCall>& messages_;
  const Chip& chip_;
  const Stack& stack_;
  const bool merge_;
  std::map<std::tuple<Scope, CollectiveKind, double, Fanout>, std::int32_t> ids_;
  std::unordered_map<const ComputeOp*, double> seconds_, seconds_of_chunk_;
  std::vector<Instruction>* out_ = nullptr;
};

}  // namespace podsim
