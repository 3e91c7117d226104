// The step of each stage: its passes in the order of the schedule, between the begin and the end of the step.
#include "scheduler/lower.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "engine/check.h"
#include "scheduler/instruction_writer.h"
#include "scheduler/lower_part.h"
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
        parts_(writer, stack_, program.parts) {}

  StageProgram run() {
    result_.stage = stage_;
    result_.interference = stack_.interference;
    append_segment([&] {
      begin_step();
      if (stack_.parameters_prefetched)
        parts_.launch_gathers(parts_of(order_.front().chunk, Pass::kForward).front(), Pass::kForward);
    });
    std::map<TaskShape, std::int32_t> known;
    for (const TaskShape& shape : shapes()) {
      // Waits for step gathers count down, so a first forward pass is never a repetition.
      const auto it = known.find(shape);
      if (it != known.end() && !(shape.pass == Pass::kForward && shape.first)) {
        result_.order.push_back(it->second);
      } else {
        append_segment([&] { task(shape); });
        known[shape] = result_.order.back();
      }
    }
    append_segment([&] { end_step(); });
    return std::move(result_);
  }

 private:
  // Everything that makes two tasks of a stage issue different instructions.
  struct TaskShape {
    Pass pass;
    bool first;  // forward pass of its chunk
    bool last;   // that adds to the weight gradients of its chunk
    int chunk;
    int next_chunk;  // whose weights are fetched ahead, -1 = none
    Pass next_pass;
    auto operator<=>(const TaskShape&) const = default;
  };

  // In the order of the stage.
  std::vector<TaskShape> shapes() const {
    std::vector<TaskShape> shapes;
    std::set<int> begun, ended;  // chunks
    for (const PipelineTask& task : order_)
      shapes.push_back({task.pass, forward(task.pass) && begun.insert(task.chunk).second, false, task.chunk,
                        -1, Pass::kForward});
    for (std::size_t k = shapes.size(); k-- > 0;) {
      TaskShape& shape = shapes[k];
      shape.last = makes_weight_gradient(shape.pass) && ended.insert(shape.chunk).second;
      if (k + 1 == shapes.size()) continue;
      shape.next_chunk = shapes[k + 1].chunk;
      shape.next_pass = shapes[k + 1].pass;
    }
    return shapes;
  }

  static bool forward(Pass pass) { return pass == Pass::kForward; }
  static bool makes_weight_gradient(Pass pass) {
    return pass == Pass::kBackward || pass == Pass::kWeightGradient;
  }

  template <typename Body>
  void append_segment(Body&& body) {
    std::vector<Instruction> segment;
    writer_.begin(segment);
    body();
    result_.order.push_back(static_cast<std::int32_t>(result_.segments.size()));
    result_.segments.push_back(std::move(segment));
  }

  // Indices of parts, in the order in which the pass comes to them.
  std::vector<int> parts_of(int chunk, Pass pass) const {
    std::vector<int> parts;
    for (const PartRun& run : program_.chunks[stage_][chunk].runs)
      parts.insert(parts.end(), run.count, run.part);
    PODSIM_CHECK(!parts.empty(), "every chunk of a stage holds a part of the model");
    if (!forward(pass)) std::reverse(parts.begin(), parts.end());
    return parts;
  }

  // What a chunk hands on: the activation forward, and its gradient on the way back.
  Bytes output_of(PipelinePlace place) const {
    return program_.parts[program_.chunks[place.stage][place.chunk].runs.back().part].output;
  }

  void task(const TaskShape& task) {
    receive(task);
    const std::vector<int> parts = parts_of(task.chunk, task.pass);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = program_.parts[parts[i]];
      if (task.first) wait_for_step_gather(part);
      int ahead = 0;
      if (stack_.parameters_prefetched) {
        if (i + 1 < parts.size()) {
          ahead = parts_.launch_gathers(parts[i + 1], task.pass);
        } else if (task.next_chunk >= 0) {
          ahead = parts_.launch_gathers(parts_of(task.next_chunk, task.next_pass).front(), task.next_pass);
        }
      }
      parts_.pass(parts[i], task.pass, ahead);
      if (task.last && stack_.gradients_overlapped)
        writer_.launch_all(Stream::kGradient, part.gradient_reduce, Bucket::kOptimizer);
    }
    send(task);
  }

  // A transfer from place to place, to a neighbouring stage.
  struct Hop {
    Stream stream;
    int neighbour;
  };
  Hop hop(Pass pass, PipelinePlace from, PipelinePlace to) const {
    const bool wraps = std::abs(to.stage - from.stage) > 1;
    const bool next = (to.stage > from.stage) != wraps;
    if (forward(pass)) return next ? Hop{Stream::kForwardNext, +1} : Hop{Stream::kForwardPrevious, -1};
    return next ? Hop{Stream::kBackwardNext, +1} : Hop{Stream::kBackwardPrevious, -1};
  }

  // Where what the pass needs comes from, or nothing where that is here.
  std::optional<PipelinePlace> source_of(const TaskShape& task) const {
    return elsewhere(task, forward(task.pass) ? place_before : place_after);
  }
  std::optional<PipelinePlace> destination_of(const TaskShape& task) const {
    return elsewhere(task, forward(task.pass) ? place_after : place_before);
  }
  std::optional<PipelinePlace> elsewhere(const TaskShape& task, decltype(place_after) place) const {
    if (program_.schedule == PipelineSchedule::kShifting || task.pass == Pass::kWeightGradient)
      return std::nullopt;
    const auto other = place(pipeline_, {stage_, task.chunk});
    return other && other->stage != stage_ ? other : std::nullopt;
  }

  void receive(const TaskShape& task) {
    if (const auto source = source_of(task))
      writer_.receive(hop(task.pass, *source, {stage_, task.chunk}).stream);
  }

  void send(const TaskShape& task) {
    if (program_.schedule == PipelineSchedule::kShifting) return shift();
    const auto destination = destination_of(task);
    if (!destination) return;
    const PipelinePlace here{stage_, task.chunk};
    const Hop out = hop(task.pass, here, *destination);
    writer_.launch(out.stream, {AxisSet{1} << program_.pipeline_axis, out.neighbour},
                   CollectiveKind::kSendReceive, output_of(forward(task.pass) ? here : *destination),
                   Bucket::kBubble);
    if (!stack_.sends_overlapped) writer_.wait(out.stream, 0);
  }

  // All stages pass the state buffer on by one stage, at once.
  void shift() {
    if (program_.stages == 1) return;
    writer_.launch(Stream::kActivation, {AxisSet{1} << program_.pipeline_axis, 0}, CollectiveKind::kPermute,
                   output_of({0, 0}), Bucket::kCommunication);
    writer_.wait(Stream::kActivation, 0);
  }

  // Chunks in the order of their first forward passes.
  template <typename Visit>
  void each_part(Pass pass, Visit&& visit) const {
    for (const TaskShape& shape : shapes()) {
      if (!shape.first) continue;
      for (const int part : parts_of(shape.chunk, pass)) visit(program_.parts[part]);
    }
  }

  // Sharded-optimizer gathers overlap the first forward pass of the step: they are all launched when it
  // begins, and each part waits for its own.
  void begin_step() {
    if (!stack_.gradients_overlapped) return;
    each_part(Pass::kForward, [&](const Part& part) {
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
      each_part(Pass::kBackward,
                [&](const Part& part) { writer_.launch_all(stream, part.*block, Bucket::kOptimizer); });
    };
    if (!stack_.gradients_overlapped) launch_each(Stream::kGradient, &Part::gradient_reduce);
    sum_mirrored_gradients();
    writer_.wait(Stream::kGradient, 0);
    launch_each(Stream::kParameter, &Part::optimizer);
    if (!stack_.gradients_overlapped) launch_each(Stream::kStepGather, &Part::parameter_gather);
    for (Stream stream : {Stream::kStepGather, Stream::kParameter, Stream::kForwardNext,
                          Stream::kForwardPrevious, Stream::kBackwardNext, Stream::kBackwardPrevious})
      writer_.wait(stream, 0);
    writer_.compute(stack_.fixed_step, Bucket::kOptimizer);
    await_input();
  }

  // Where every piece lies on two stages (DualPipe), both copies of its gradients are added up, once they are
  // reduced and cut as the optimizer has them. Both stages go through their pieces in the order of the model.
  void sum_mirrored_gradients() {
    if (program_.schedule != PipelineSchedule::kDualPipe) return;
    const bool upper = stage_ >= pipeline_.stages / 2;
    for (int chunk : {upper ? 1 : 0, upper ? 0 : 1}) {
      double elements = 0;
      for (const int part : parts_of(chunk, Pass::kForward)) elements += program_.parts[part].local_state;
      if (elements == 0) continue;
      writer_.launch(Stream::kGradient, {AxisSet{1} << program_.pipeline_axis, 0, 0, true},
                     CollectiveKind::kAllReduce, Bytes{elements * stack_.gradient_bytes},
                     Bucket::kCommunication);
    }
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
