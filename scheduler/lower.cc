// The step of each stage: its passes in the order of the schedule, between the begin and the end of the step.
#include "scheduler/lower.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/check.h"
#include "scheduler/instruction_writer.h"
#include "scheduler/lower_part.h"
#include "scheduler/prefetch.h"
#include "workload/pipeline.h"

namespace podsim {
namespace {

class StageLowering {
 public:
  StageLowering(const StepProgram& program, const Spec& spec, InstructionWriter& writer, int stage)
      : program_(program),
        stack_(spec.job.stack),
        spec_(spec),
        stage_(stage),
        pipeline_{program.schedule, program.stages, static_cast<int>(program.chunks[stage].size()),
                  program.microbatches},
        writer_(writer),
        order_(pipeline_order(pipeline_, stage)),
        parts_(writer, stack_, program.parts),
        prefetch_(parts_, stack_, visits()) {}

  StageProgram run() {
    result_.stage = stage_;
    result_.interference = stack_.interference;
    append_segment([&] {
      begin_step();
      prefetch_.begin_step();
    });
    std::map<TaskShape, std::int32_t> known;
    const std::vector<bool> last = last_of_kind(order_);
    int visit = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const TaskShape shape = shape_of(order_[k], last[k], visit);
      // Waits for step gathers count down, so a first forward pass is never a repetition.
      const auto it = known.find(shape);
      if (it != known.end() && !(shape.pass == Pass::kForward && shape.first)) {
        result_.order.push_back(it->second);
      } else {
        append_segment([&] { task(shape, visit); });
        known[shape] = result_.order.back();
      }
      visit += parts_in(shape.chunk);
    }
    append_segment([&] { end_step(); });
    return std::move(result_);
  }

 private:
  // Everything that makes two tasks of a stage issue different instructions.
  struct TaskShape {
    Pass pass;
    bool first, last;  // microbatch of its chunk and direction
    int chunk;
    std::vector<std::int32_t> ahead;  // Prefetch::shape
    auto operator<=>(const TaskShape&) const = default;
  };

  TaskShape shape_of(const PipelineTask& task, bool last, int visit) const {
    return {task.pass, task.microbatch == 0, last, task.chunk, prefetch_.shape(visit, parts_in(task.chunk))};
  }

  // [k] whether no later task has the chunk and pass of task k.
  static std::vector<bool> last_of_kind(const std::vector<PipelineTask>& order) {
    std::vector<bool> last(order.size(), false);
    std::set<std::pair<int, Pass>> seen;
    for (std::size_t k = order.size(); k-- > 0;) last[k] = seen.emplace(order[k].chunk, order[k].pass).second;
    return last;
  }

  template <typename Body>
  void append_segment(Body&& body) {
    std::vector<Instruction> segment;
    writer_.begin(segment);
    body();
    result_.order.push_back(static_cast<std::int32_t>(result_.segments.size()));
    result_.segments.push_back(std::move(segment));
  }

  int parts_in(int chunk) const {
    int parts = 0;
    for (const PartRun& run : program_.chunks[stage_][chunk].runs) parts += run.count;
    return parts;
  }

  std::vector<Visit> visits() const {
    std::vector<Visit> visits;
    for (const PipelineTask& task : order_)
      for (const int part : parts_of(task.chunk, task.pass == Pass::kForward))
        visits.push_back({part, task.pass, task.microbatch, task.chunk});
    return visits;
  }

  // Indices of parts.
  std::vector<int> parts_of(int chunk, bool forward) const {
    std::vector<int> parts;
    for (const PartRun& run : program_.chunks[stage_][chunk].runs)
      parts.insert(parts.end(), run.count, run.part);
    PODSIM_CHECK(!parts.empty(), "every chunk of a stage holds a part of the model");
    if (!forward) std::reverse(parts.begin(), parts.end());
    return parts;
  }

  // What a chunk hands on: the activation forward, and its gradient on the way back.
  Bytes output_of(PipelinePlace place) const {
    return program_.parts[program_.chunks[place.stage][place.chunk].runs.back().part].output;
  }

  void task(const TaskShape& task, int visit) {
    const bool forward = task.pass == Pass::kForward;
    const PipelinePlace here{stage_, task.chunk};
    const bool shifting = program_.schedule == PipelineSchedule::kShifting;
    const auto before = shifting ? std::nullopt : place_before(pipeline_, here);
    const auto after = shifting ? std::nullopt : place_after(pipeline_, here);
    if (forward && before) writer_.receive(Stream::kSendNext);
    if (!forward && after) writer_.receive(Stream::kSendPrevious);

    for (const int end = visit + parts_in(task.chunk); visit < end; ++visit) {
      const Part& part = program_.parts[prefetch_.visit(visit).part];
      if (forward && task.first) wait_for_step_gather(part);
      parts_.pass(prefetch_.visit(visit), prefetch_.begin_visit(visit));
      if (!forward && task.last && stack_.gradients_overlapped)
        writer_.launch_all(Stream::kGradient, part.gradient_reduce, Bucket::kOptimizer);
    }
    if (shifting) return shift();
    if (forward && after) send(Stream::kSendNext, +1, output_of(here));
    if (!forward && before) send(Stream::kSendPrevious, -1, output_of(*before));
  }

  void send(Stream stream, int neighbour, Bytes activation) {
    writer_.launch(stream, {AxisSet{1} << program_.pipeline_axis, neighbour}, CollectiveKind::kSendReceive,
                   activation, Bucket::kBubble);
    if (!stack_.sends_overlapped) writer_.wait(stream, 0);
  }

  // All stages pass the state buffer on by one stage, at once.
  void shift() {
    if (program_.stages == 1) return;
    writer_.launch(Stream::kActivation, {AxisSet{1} << program_.pipeline_axis, 0}, CollectiveKind::kPermute,
                   output_of({0, 0}), Bucket::kCommunication);
    writer_.wait(Stream::kActivation, 0);
  }

  template <typename Visit>
  void each_part(bool forward, Visit&& visit) const {
    for (int chunk = 0; chunk < pipeline_.chunks; ++chunk)
      for (const int part : parts_of(chunk, forward)) visit(program_.parts[part]);
  }

  // Sharded-optimizer gathers overlap the first forward pass of the step: they are all launched when it
  // begins, and each part waits for its own.
  void begin_step() {
    if (!stack_.gradients_overlapped) return;
    each_part(true, [&](const Part& part) {
      step_gathers_left_ +=
          writer_.launch_all(Stream::kStepGather, part.parameter_gather, Bucket::kOptimizer);
    });
  }

  void wait_for_step_gather(const Part& part) {
    const auto own =
        std::count_if(part.parameter_gather.begin(), part.parameter_gather.end(),
                      [](const ProgramOp& op) { return std::holds_alternative<CollectiveOp>(op); });
    if (!stack_.gradients_overlapped || own == 0) return;
    step_gathers_left_ -= static_cast<int>(own);
    writer_.wait(Stream::kStepGather, step_gathers_left_);
  }

  void end_step() {
    const auto launch_each = [&](Stream stream, Block Part::*block) {
      each_part(false,
                [&](const Part& part) { writer_.launch_all(stream, part.*block, Bucket::kOptimizer); });
    };
    if (!stack_.gradients_overlapped) launch_each(Stream::kGradient, &Part::gradient_reduce);
    writer_.wait(Stream::kGradient, 0);
    std::vector<const Part*> parts;
    each_part(false, [&](const Part& part) { parts.push_back(&part); });
    parts_.optimizer(parts);
    if (!stack_.gradients_overlapped) launch_each(Stream::kStepGather, &Part::parameter_gather);
    for (Stream stream : {Stream::kStepGather, Stream::kParameter, Stream::kSendNext, Stream::kSendPrevious,
                          Stream::kToHost, Stream::kFromHost})
      writer_.wait(stream, 0);
    writer_.compute(stack_.fixed_step, Bucket::kOptimizer);
    await_input();
  }

  void await_input() {
    const Job& job = spec_.job;
    if (job.input_rate.value == 0) return;
    const double host_tokens =
        program_.tokens / program_.mesh.devices() * spec_.cluster.fabric.chips_per_host;
    const Bytes input{host_tokens * job.input_bytes_per_token};
    writer_.await_input(Time::seconds(seconds_at(input, job.input_rate)));
  }

  const StepProgram& program_;
  const Stack& stack_;
  const Spec& spec_;
  const int stage_;
  const PipelineShape pipeline_;
  InstructionWriter& writer_;
  const std::vector<PipelineTask> order_;
  PartLowering parts_;
  Prefetch prefetch_;
  StageProgram result_;
  int step_gathers_left_ = 0;
};

}  // namespace

LoweredStep lower(const StepProgram& program, const Spec& spec, bool merge) {
  LoweredStep step;
  InstructionWriter writer(step.messages, spec.cluster.chip, spec.job.stack, merge);
  for (int stage = 0; stage < program.stages; ++stage)
    step.stages.push_back(StageLowering(program, spec, writer, stage).run());
  return step;
}

void append(LoweredStep& all, LoweredStep step, int job) {
  const auto first_message = static_cast<std::int32_t>(all.messages.size());
  for (Message& message : step.messages) {
    message.scope.job = job;
    all.messages.push_back(message);
  }
  for (StageProgram& stage : step.stages) {
    stage.job = job;
    for (std::vector<Instruction>& segment : stage.segments)
      for (Instruction& instruction : segment)
        if (instruction.message >= 0) instruction.message += first_message;
    all.stages.push_back(std::move(stage));
  }
}

}  // namespace podsim
