// What a stage receives from its neighbours and hands on: activations forward, their gradients back.
#pragma once

#include <optional>

#include "scheduler/lowering/instruction_writer.h"
#include "workload/partition/program.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {

struct Stack;

// One stage of a pipeline as its neighbours see it. Each direction and neighbour has a stream of
// its own.
class StageTransfers {
 public:
  // REQUIRES: all of them outlive this object.
  StageTransfers(const StepProgram& program, const PipelineShape& pipeline, const Stack& stack,
                 InstructionWriter& writer, int stage)
      : program_(program), pipeline_(pipeline), stack_(stack), writer_(writer), stage_(stage) {}

  // Before and after a pass over a chunk. Nothing where the other chunk is on this stage too, at the ends of
  // the model, and for weight gradients. In a shifting buffer nobody receives: after every pass all stages
  // pass the state on by one stage, at once. The sender waits for the exposed share of what it sends; the
  // rest follows as a second message while it goes on.
  void receive(Pass pass, int chunk);
  void send(Pass pass, int chunk);

 private:
  struct Way {
    Stream stream;
    int neighbour;
  };
  std::optional<PipelinePlace> elsewhere(Pass pass, std::optional<PipelinePlace> other) const;
  std::optional<PipelinePlace> source_of(Pass pass, int chunk) const;
  std::optional<PipelinePlace> destination_of(Pass pass, int chunk) const;
  Way way(Pass pass, int from_stage, int to_stage) const;
  const Part& last_part(PipelinePlace place) const;
  AxisSet shared_axes(const Part& from) const;
  void shift();

  const StepProgram& program_;
  const PipelineShape& pipeline_;
  const Stack& stack_;
  InstructionWriter& writer_;
  const int stage_;
};

}  // namespace podsim
