// One piece of the model as instructions: weights and copies fetched ahead, hidden shares, rings beside
// matmuls.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "scheduler/lowering/chunked_matmuls.h"
#include "scheduler/lowering/instruction_writer.h"
#include "scheduler/lowering/pass_blocks.h"

namespace podsim {

struct Stack;

// One pass of one microbatch over one piece, in the order in which a stage comes to them.
struct Visit {
  int part;  // index in StepProgram::parts
  Pass pass;
  int microbatch, chunk;
  bool interleaved = false;  // with the visits of another pass, so that when it begins is not fixed
};

// What is on its way when a visit begins.
struct Ahead {
  int gathers = 0, copies = 0;  // operations of later visits
  bool own_gathers = false;     // the visit's own weight gathers; otherwise it launches them at their use
};

int count_gathers(const Block& block);  // of weights
int count_copies(const Block& block);   // from the host

// Instructions of visits by all that they depend on in a step: layers that are alike come to the same ones.
using WrittenVisits =
    std::map<std::tuple<int, Pass, int, int, bool, Stream, double>, std::vector<Instruction>>;

// Decides for each collective of a piece where it is launched and where it is waited for: on the spot, ahead
// of its use, in chunks beside a matmul, or as a ring under it.
class PartLowering {
 public:
  // Activation collectives go to `activations`; operations take 1 + `stall` as long. REQUIRES: all of them
  // outlive this object; `written` is of the same writer, stack and blocks.
  PartLowering(InstructionWriter& writer, const Stack& stack, const PassBlocks& blocks,
               WrittenVisits& written, double stall, Stream activations = Stream::kActivation)
      : writer_(writer),
        stack_(stack),
        blocks_(blocks),
        written_(written),
        stall_(stall),
        activations_(activations) {}

  const Block& block(const Visit& visit) const { return blocks_.block(visit.part, visit.pass); }

  // Puts weight gathers or copies from the host on their stream.
  void launch_gathers(const Visit& visit);
  void launch_copies(const Block& block);

  // The visit itself. Its copies from the host have been launched.
  void pass(const Visit& visit, Ahead ahead);

  // Updates the weights of the pieces one after the other, with copies from the host one piece ahead.
  void optimizer(const std::vector<const Part*>& parts);

 private:
  // Kernels and collectives of a pass that the host has not launched yet.
  struct Launches {
    double kernels = 0, of_experts = 0, collectives = 0;
    bool synchronises = false;  // before those of experts
  };
  void write(const Visit& visit, Ahead ahead);
  Launches launches_of(const Visit& visit) const;
  void launch(const Launches& launches);
  void synchronise(Launches& launches);
  double seconds(const ComputeOp& op);  // with the stall
  void operation(const ProgramOp& op);
  void launch_chunks(const CollectiveOp& gather);
  void in_chunks(const Block& ops, const ChunkedMatmul& chunked);
  void matrix_work(double seconds);
  void rings(const std::vector<const CollectiveOp*>& rings, Time duration);
  void collective(const CollectiveOp& op);
  void copy(const HostCopy& op);
  bool activation(const CollectiveOp& op);
  void exchange(const CollectiveOp& op, double hidden);
  void settle_exchanges();
  Stream beside() const;
  void settle_hidden();

  InstructionWriter& writer_;
  const Stack& stack_;
  const PassBlocks& blocks_;
  WrittenVisits& written_;
  const double stall_;
  const Stream activations_;
  bool gathers_launched_ = false;
  int gathers_left_ = 0, copies_left_ = 0;  // of this visit, not yet waited for, and of later ones
  bool hidden_pending_ = false;
  bool exchanges_pending_ = false;
  std::vector<const CollectiveOp*> rings_;  // of the next matmul or attention
};

}  // namespace podsim
