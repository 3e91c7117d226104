// Puts the times of pieces together by schedule.
#include "planner/bounds/stage_bound.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "scheduler/lowering/interleave_passes.h"
#include "workload/partition/job_validity.h"
#include "workload/partition/recompute.h"
#include "workload/pipeline/schedules.h"

namespace podsim {
namespace {

using OfPass = PieceSeconds::OfPass;
constexpr double OfPass::*kSeconds[] = {&OfPass::chip, &OfPass::compute, &OfPass::blocked,
                                        &OfPass::host, &OfPass::gathers, &OfPass::gradients};
constexpr LinkSeconds OfPass::*kLinks[] = {&OfPass::activations, &OfPass::weights};

OfPass& operator+=(OfPass& sum, const OfPass& more) {
  for (const auto of : kSeconds) sum.*of += more.*of;
  for (const auto of : kLinks) sum.*of += more.*of;
  return sum;
}

OfPass times(double n, OfPass each) {
  for (const auto of : kSeconds) each.*of *= n;
  for (const auto of : kLinks) each.*of = n * each.*of;
  return each;
}

// The less of each.
OfPass least(OfPass a, const OfPass& b) {
  for (const auto of : kSeconds) a.*of = std::min(a.*of, b.*of);
  for (const auto of : kLinks)
    a.*of = {std::min((a.*of).scale_up, (b.*of).scale_up), std::min((a.*of).scale_out, (b.*of).scale_out)};
  return a;
}

// [chunk of a stage] seconds of one pass.
OfPass of_chunk(const StageTimes& stage_times, const ChunkShape& chunk, Pass pass) {
  OfPass sum;
  for (const PartRun& run : chunk.runs)
    sum +=
        times(run.count,
              stage_times.pieces[static_cast<std::size_t>(run.part)].of_pass[static_cast<std::size_t>(pass)]);
  return sum;
}

// How long a chip takes over a pass forward and one back in turns, from idle streams on.
class SecondsInTurns {
 public:
  explicit SecondsInTurns(const StageTimes& stage_times) : stage_times_(stage_times) {}

  double of(const ChunkShape& forward, const ChunkShape& backward) {
    for (const Known& known : known_)
      if (known.forward == forward.runs && known.backward == backward.runs) return known.seconds;
    std::array<std::vector<LoneOp>, 2> passes;
    for (const PartRun& run : forward.runs) append(run, &PieceSeconds::forward, passes[0]);
    for (auto run = backward.runs.rbegin(); run != backward.runs.rend(); ++run)
      append(*run, &PieceSeconds::backward_beside, passes[1]);
    std::vector<LoneOp> turns;
    interleave(passes, turns);
    known_.push_back({forward.runs, backward.runs, lone_seconds(turns)});
    return known_.back().seconds;
  }

 private:
  struct Known {
    std::vector<PartRun> forward, backward;
    double seconds;
  };

  void append(const PartRun& run, std::vector<LoneOp> PieceSeconds::*pass, std::vector<LoneOp>& ops) const {
    const std::vector<LoneOp>& piece = stage_times_.pieces[static_cast<std::size_t>(run.part)].*pass;
    for (int i = 0; i < run.count; ++i) ops.insert(ops.end(), piece.begin(), piece.end());
  }

  const StageTimes& stage_times_;
  std::vector<Known> known_;
};

// What the chip of a stage does, one run of its passes after the other.
double seconds_of_runs(const StageTimes& stage_times, const StageShape& shape, std::size_t stage,
                       SecondsInTurns& in_turns) {
  const auto chunk = [&](const PassOfChunk& pass) -> const ChunkShape& {
    return shape.chunks[stage][static_cast<std::size_t>(pass.chunk)];
  };
  double sum = 0;
  for (const PassRun& run : shape.runs[stage])
    sum += times(run, shape.pipeline) * (run.second
                                             ? in_turns.of(chunk(run.first), chunk(*run.second))
                                             : of_chunk(stage_times, chunk(run.first), run.first.pass).chip);
  return sum;
}

// What must be over before each place begins: the passes of all places that a microbatch comes from.
class SecondsBefore {
 public:
  SecondsBefore(const StageTimes& stage_times, const StageShape& shape, Pass pass)
      : stage_times_(stage_times), shape_(shape), pass_(pass), known_(shape.chunks.size()) {
    for (std::size_t s = 0; s < known_.size(); ++s) known_[s].assign(shape.chunks[s].size(), -1.0);
  }

  double of(PipelinePlace place) {
    double& seconds = at(place);
    if (seconds >= 0) return seconds;
    const auto before = place_before(shape_.pipeline, place);
    if (!before) return seconds = 0;
    const ChunkShape& chunk =
        shape_.chunks[static_cast<std::size_t>(before->stage)][static_cast<std::size_t>(before->chunk)];
    return seconds = of(*before) + of_chunk(stage_times_, chunk, pass_).chip;
  }

 private:
  double& at(PipelinePlace place) {
    return known_[static_cast<std::size_t>(place.stage)][static_cast<std::size_t>(place.chunk)];
  }

  const StageTimes& stage_times_;
  const StageShape& shape_;
  const Pass pass_;
  std::vector<std::vector<double>> known_;  // [stage][chunk]; negative = not yet
};

// A chip that computes for so long at full speed, and does not for so long at least, while its links are full
// for so long: what they carry beside computation slows that down.
double beside_transfers(const Stack& stack, double compute, double idle, double full) {
  const double lost = stack.interference / (1 + stack.interference);  // of the time beside a transfer
  return compute + idle + lost * std::max(0.0, full - idle);
}

// Which layers keep what others recompute. `pieces` = of the pipeline, in the order of the model.
void part_layers_that_keep(const ModelProgram& model, int layers, int every,
                           std::vector<ChunkShape>& pieces) {
  const int parts = static_cast<int>(model.parts.size());
  int layer = 0;  // of the model, from 1
  for (ChunkShape& piece : pieces) {
    int in_chunk = 0;
    std::vector<PartRun> runs;
    const auto add = [&](int part) {
      if (!runs.empty() && runs.back().part == part)
        ++runs.back().count;
      else
        runs.push_back({part, 1});
    };
    for (const PartRun& run : piece.runs)
      for (int i = 0; i < run.count; ++i) {
        const bool is_layer = model.parts[static_cast<std::size_t>(run.part)].layer;
        layer += is_layer;
        in_chunk += is_layer;
        const bool keeps = is_layer && !layer_recomputes(layers, every, layer, in_chunk);
        add(keeps ? parts + run.part : run.part);
      }
    piece.runs = std::move(runs);
  }
}

}  // namespace

int microbatches_of(const Job& job, const JobLayout& layout) {
  return job.global_batch / layout.batch_ranks() / layout.microbatch;
}

StageShape stage_shape(const Job& job, const ModelProgram& model, const JobLayout& layout) {
  StageShape shape;
  shape.pipeline = {layout.schedule, layout.pipeline, layout.chunks, microbatches_of(job, layout)};
  const int count = piece_count(shape.pipeline);
  std::vector<ChunkShape> pieces = model_pieces(model, count, layers_of_pieces(job, model, count));
  if (layout.recompute_layers > 0 || job.recompute_every > 1)
    part_layers_that_keep(model, layout.recompute_layers, job.recompute_every, pieces);
  shape.chunks = pipeline_chunks(pieces, shape.pipeline);
  if (schedule_traits(layout.schedule).takes_turns) shape.runs = pass_runs(shape.pipeline);
  return shape;
}

double stage_bound_s(const Stack& stack, const StageTimes& stage_times, const StageShape& shape) {
  const PipelineShape& pipeline = shape.pipeline;
  const ScheduleTraits& traits = schedule_traits(pipeline.schedule);
  const bool split = traits.splits_backward, shifts = traits.shifts;
  const double each = traits.layout == PieceLayout::kFromBothEnds ? 0.5 : 1;
  const double after = stack.fixed_step.in_seconds() * (1 + stage_times.skew);

  // What must be over before a place begins its first pass, and is left after its last.
  SecondsBefore forward(stage_times, shape, Pass::kForward), backward(stage_times, shape, Pass::kBackward);
  const auto stages = static_cast<std::size_t>(pipeline.stages);
  std::vector<double> ends(stages);             // [stage] optimizer and what follows
  std::vector<LinkSeconds> reductions(stages);  // [stage]
  for (std::size_t s = 0; s < stages; ++s) {
    double late_reductions = 0;
    for (const ChunkShape& chunk : shape.chunks[s])
      for (const PartRun& run : chunk.runs) {
        const PieceSeconds& piece = stage_times.pieces[static_cast<std::size_t>(run.part)];
        ends[s] += run.count * piece.optimizer;
        reductions[s] += run.count * piece.reduce_links;
        if (!stack.gradients_overlapped && !stack.sharded_state_overlapped.value_or(false))
          late_reductions += run.count * piece.reduce;
      }
    ends[s] += late_reductions + after;
  }
  double bound = 0;
  SecondsInTurns in_turns(stage_times);
  for (std::size_t s = 0; s < stages; ++s) {
    OfPass work;
    double ramp = std::numeric_limits<double>::infinity(), drain = ramp;
    for (std::size_t c = 0; c < shape.chunks[s].size(); ++c) {
      const ChunkShape& chunk = shape.chunks[s][c];
      work += of_chunk(stage_times, chunk, Pass::kForward);
      if (split) {
        // Some passes of these schedules go back whole; apart they take no less than their computations.
        OfPass back = of_chunk(stage_times, chunk, Pass::kInputGradient);
        back += of_chunk(stage_times, chunk, Pass::kWeightGradient);
        work += least(back, of_chunk(stage_times, chunk, Pass::kBackward));
      } else {
        work += of_chunk(stage_times, chunk, Pass::kBackward);
      }
      const PipelinePlace place{static_cast<int>(s), static_cast<int>(c)};
      ramp = std::min(ramp, shifts ? 0 : forward.of(place));
      drain = std::min(drain, split || shifts ? 0 : backward.of(place));
    }
    const OfPass all = times(each * pipeline.microbatches, work);
    const double on_chip = shape.runs.empty() ? all.chip : seconds_of_runs(stage_times, shape, s, in_turns);
    const double busy = std::max(on_chip, all.host);
    // Nobody waits for weight gradients that come apart, so nothing of other stages follows them.
    const double last = split || shifts ? ends[s] : std::max(ends[s], drain + ends[0]);
    LinkSeconds links = reductions[s];
    links += all.activations;
    links += all.weights;
    const double idle = ramp + (shape.runs.empty() ? all.blocked : 0) + last;
    bound = std::max({bound, ramp + busy + last, all.gathers + after, all.gradients + after,
                      links.longest() + after, beside_transfers(stack, all.compute, idle, links.longest())});
  }
  return bound;
}

}  // namespace podsim
