// Counts pieces on stages and passes over them.
#include "report/summary/executed_operations.h"

#include <cstddef>
#include <variant>

#include "workload/partition/model_flops.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {
namespace {

// Of a kind of piece, on the mean chip.
struct PieceCount {
  double held = 0, passes = 0;  // pieces; forward passes over them in a step, and as many backward
};

std::vector<PieceCount> count_pieces(const StepProgram& program) {
  std::vector<PieceCount> counts(program.parts.size());
  for (std::size_t s = 0; s < program.chunks.size(); ++s) {
    const std::vector<ChunkShape>& chunks = program.chunks[s];
    const PipelineShape shape{program.schedule, program.stages, static_cast<int>(chunks.size()),
                              program.microbatches};
    const std::vector<int> passes = passes_of_chunks(shape, static_cast<int>(s));
    for (std::size_t c = 0; c < chunks.size(); ++c)
      for (const PartRun& run : chunks[c].runs) {
        PieceCount& count = counts[static_cast<std::size_t>(run.part)];
        const double pieces = static_cast<double>(run.count) / program.stages;
        count.held += pieces;
        count.passes += pieces * passes[c];
      }
  }
  return counts;
}

}  // namespace

std::vector<ExecutedOperation> executed_operations(const StepProgram& program,
                                                   std::span<const double> attention) {
  const std::vector<PieceCount> counts = count_pieces(program);
  const std::vector<KeyWindow> windows = key_windows(program.flops_per_token);
  const auto load_of = [&](const ComputeOp& op) {
    if (attention.empty() || op.op_class != OpClass::kAttention) return 1.0;
    return attention[place_of({op.window, op.causal}, windows)];
  };
  std::vector<ExecutedOperation> executed;
  for (std::size_t p = 0; p < program.parts.size(); ++p) {
    const Part& part = program.parts[p];
    const auto add = [&](const Block& block, double times, bool backward) {
      for (const ProgramOp& op : block)
        if (const auto* compute = std::get_if<ComputeOp>(&op))
          executed.push_back({&part, compute, backward, times, load_of(*compute)});
    };
    add(part.forward, counts[p].passes, false);
    if (program.forward_only) continue;
    add(part.backward, counts[p].passes, true);
    add(part.optimizer, counts[p].held, false);
  }
  return executed;
}

}  // namespace podsim
