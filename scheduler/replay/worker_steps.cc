// Takes the slowest chip class of a worker in every pass.
#include "scheduler/replay/worker_steps.h"

#include <algorithm>
#include <span>

#include "engine/check.h"
#include "scheduler/folding/laid_job.h"

namespace podsim {
namespace {

void take_passes(const StepPasses& step, const StageProgram& program,
                 const std::vector<std::int32_t>& classes, WorkerStep& worker) {
  double reached_s = 0;
  for (std::size_t p = 0; p < program.order.size(); ++p) {
    Time own, begin = Time::max();
    for (const std::int32_t c : classes) {
      const std::vector<PassTime>& passes = step.chips[c].passes;
      if (p >= passes.size() || passes[p].own.ps <= 0) continue;
      own = std::max(own, passes[p].own);
      begin = std::min(begin, passes[p].begin);
    }
    const std::span<const PipelineTask> tasks = program.tasks_at(static_cast<std::int32_t>(p));
    if (tasks.empty()) {
      if (p == 0) worker.begin_s = own.in_seconds();
      continue;
    }
    const double start_s = own.ps == 0 ? reached_s : (begin - step.begin).in_seconds();
    worker.passes.push_back({tasks.front(), {start_s, own.in_seconds()}});
    reached_s = worker.passes.back().own.end_s();
  }
}

// The optimizer comes after the gradients, whose wait ends for all data ranks together.
void take_end(const StepPasses& step, const StageProgram& program, const std::vector<std::int32_t>& classes,
              WorkerStep& worker) {
  worker.scatter_end_s = worker.passes.back().own.end_s();
  for (const std::int32_t c : classes) {
    const ChipPasses& chip = step.chips[c];
    if (chip.passes.size() < program.order.size() || chip.passes.back().own.ps <= 0) continue;
    const Time update = std::min(chip.passes.back().own, chip.optimizer);
    worker.optimizer_s = std::max(worker.optimizer_s, update.in_seconds());
    worker.scatter_end_s =
        std::max(worker.scatter_end_s, (chip.passes.back().end - update - step.begin).in_seconds());
  }
}

// A pass may hand on in several transfers, of which some begin later.
std::vector<TracedSpan> take_sent(const StepPasses& step, const std::vector<std::int32_t>& classes,
                                  std::vector<SentTransfer> ChipPasses::*sent, std::size_t passes) {
  std::vector<TracedSpan> spans(passes);
  for (const std::int32_t c : classes) {
    const std::vector<SentTransfer>& transfers = step.chips[c].*sent;
    PODSIM_CHECK(
        passes > 0 ? transfers.size() >= passes && transfers.size() % passes == 0 : transfers.empty(),
        "every pass hands on as many messages");
    const std::size_t each = passes > 0 ? transfers.size() / passes : 0;
    for (std::size_t i = 0; i < passes; ++i) {
      const Time begin = transfers[i * each].begin, end = transfers[(i + 1) * each - 1].end;
      spans[i].start_s = std::max(spans[i].start_s, (begin - step.begin).in_seconds());
      spans[i].duration_s = std::max(spans[i].duration_s, (end - begin).in_seconds());
    }
  }
  return spans;
}

}  // namespace

bool hands_on(const StepProgram& program, int stage, int chunk, int direction) {
  const int piece = chunk * program.stages + stage;
  const int pieces = program.stages * static_cast<int>(program.chunks[stage].size());
  return program.stages > 1 && (direction == 0 ? piece + 1 < pieces : piece > 0);
}

WorkerStep worker_step(const System& system, const LaidJob& job, const StepPasses& step, int stage,
                       const std::vector<std::int32_t>& classes) {
  WorkerStep worker;
  const StageProgram& program = system.step.stages[system.chips[classes.front()].program];
  take_passes(step, program, classes, worker);
  take_end(step, program, classes, worker);
  std::array<std::size_t, 2> sending{};
  for (const TracedPass& pass : worker.passes) {
    const int direction = pass.task.pass == Pass::kForward ? 0 : 1;
    sending[direction] += hands_on(job.program, stage, pass.task.chunk, direction) ? 1 : 0;
  }
  worker.sent = {take_sent(step, classes, &ChipPasses::activations, sending[0]),
                 take_sent(step, classes, &ChipPasses::gradients, sending[1])};
  return worker;
}

}  // namespace podsim
