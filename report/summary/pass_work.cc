// Layers, FLOPs and shapes of passes, from the pieces of their chunks.
#include "report/summary/pass_work.h"

#include <variant>

#include "report/text/text.h"

namespace podsim {
namespace {

std::string count_text(double count) { return significant(count, 6); }

const ChunkShape& chunk_at(const StepProgram& program, int stage, int chunk) {
  return program.chunks[static_cast<std::size_t>(stage)][static_cast<std::size_t>(chunk)];
}

int layers_of(const StepProgram& program, const ChunkShape& chunk) {
  int layers = 0;
  for (const PartRun& run : chunk.runs)
    if (program.parts[static_cast<std::size_t>(run.part)].layer) layers += run.count;
  return layers;
}

// Of pieces before `piece`; where two places hold the same piece it counts once.
int layers_before(const StepProgram& program, const PipelineShape& shape, int piece) {
  std::vector<int> of_piece(static_cast<std::size_t>(piece), 0);
  for (int stage = 0; stage < program.stages; ++stage) {
    const int chunks = static_cast<int>(program.chunks[static_cast<std::size_t>(stage)].size());
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int at = piece_at(shape, {stage, chunk});
      if (at < piece)
        of_piece[static_cast<std::size_t>(at)] = layers_of(program, chunk_at(program, stage, chunk));
    }
  }
  int before = 0;
  for (const int layers : of_piece) before += layers;
  return before;
}

// Whether the operation is of this pass. Where weight gradients have passes of their own, backward has the
// rest.
bool belongs(const ComputeOp& op, Pass pass) {
  if (pass == Pass::kInputGradient) return !op.weight_gradient;
  return pass != Pass::kWeightGradient || op.weight_gradient;
}

}  // namespace

std::string operation_shape(const ComputeOp& op) {
  const std::string times = op.repeats > 1 ? ", " + count_text(op.repeats) + " of them" : "";
  if (op.m > 0 && op.n > 0 && op.k > 0)
    return "[" + count_text(op.m) + " x " + count_text(op.k) + "] x [" + count_text(op.k) + " x " +
           count_text(op.n) + "]" + times;
  if (op.query_length > 0)
    return count_text(op.sequences) + " sequences, " + count_text(op.heads) + " heads of " +
           count_text(op.head_dim) + ", " + count_text(op.query_length) + " queries on " +
           count_text(op.key_length) + " keys" + (op.causal ? ", causal" : "");
  return "";
}

PassWork pass_work(const StepProgram& program, const PipelineShape& shape, int stage,
                   const PipelineTask& task) {
  const ChunkShape& chunk = chunk_at(program, stage, task.chunk);
  PassWork work;
  if (const int layers = layers_of(program, chunk); layers > 0) {
    const int first = layers_before(program, shape, piece_at(shape, {stage, task.chunk}));
    work.layers = std::to_string(first);
    if (layers > 1) work.layers += "-" + std::to_string(first + layers - 1);
  }
  double largest = 0;
  for (const PartRun& run : chunk.runs) {
    const Part& part = program.parts[static_cast<std::size_t>(run.part)];
    for (const ProgramOp& op : task.pass == Pass::kForward ? part.forward : part.backward) {
      const auto* compute = std::get_if<ComputeOp>(&op);
      if (!compute || !belongs(*compute, task.pass)) continue;
      work.flops += run.count * compute->flops.value;
      if (compute->flops.value <= largest) continue;
      largest = compute->flops.value;
      work.shape = operation_shape(*compute);
    }
  }
  return work;
}

}  // namespace podsim
