// Turns blocks of operations into instructions: prefetched gathers, hidden shares, overlapped gradient
// reductions, sends.
#include "scheduler/lower.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "engine/check.h"
#include "scheduler/pipeline.h"
#include "workload/op_cost.h"

namespace podsim {
namespace {

class Lowering {
 public:
  Lowering(const StepProgram& program, const Spec& spec, bool merge)
      : program_(program), chip_(spec.cluster.chip), stack_(spec.job.stack), spec_(spec), merge_(merge) {}

  LoweredStep run() {
    for (int stage = 0; stage < program_.stages; ++stage) step_.stages.push_back(lower_stage(stage));
    return std::move(step_);
  }

 private:
  using Kind = Instruction::Kind;

  // Everything that makes two tasks of a stage issue different instructions.
  struct TaskShape {
    bool forward, first, last;  // first and last microbatch of its chunk and direction
    int chunk;
    int next_chunk;  // of the following task, -1 at the end
    bool next_forward;
    auto operator<=>(const TaskShape&) const = default;
  };

  int message(Scope scope, CollectiveKind kind, Bytes bytes) {
    auto key = std::make_tuple(scope.axes, scope.neighbour, kind, bytes.value);
    auto [it, added] = message_ids_.try_emplace(key, static_cast<int>(step_.messages.size()));
    if (added) step_.messages.push_back({scope, kind, bytes});
    return it->second;
  }

  void compute(Time duration, Bucket bucket) {
    if (duration.ps == 0) return;
    if (merge_ && !out_->empty() && out_->back().kind == Kind::kCompute && out_->back().bucket == bucket) {
      out_->back().duration += duration;
      return;
    }
    out_->push_back({Kind::kCompute, Stream::kActivation, bucket, -1, 0, duration});
  }
  void launch(Stream stream, const CollectiveOp& op, double share = 1) {
    out_->push_back({Kind::kLaunch,
                     stream,
                     Bucket::kCommunication,
                     message({op.axes, 0}, op.kind, op.bytes * share),
                     0,
                     {}});
  }
  void wait(Stream stream, int pending) {
    out_->push_back({Kind::kWait, stream, Bucket::kCommunication, -1, pending, {}});
  }
  void send(Stream stream, int neighbour, Bytes activation) {
    AxisSet axes = AxisSet{1} << program_.pipeline_axis;
    int id = message({axes, neighbour}, CollectiveKind::kSendReceive, activation);
    out_->push_back({Kind::kLaunch, stream, Bucket::kBubble, id, 0, {}});
    if (!stack_.sends_overlapped) wait(stream, 0);
  }

  std::vector<const Part*> parts_of(int stage, int chunk, bool forward) const {
    std::vector<const Part*> parts;
    for (const PartRun& run : program_.chunks[stage][chunk].runs)
      parts.insert(parts.end(), run.count, &program_.parts[run.part]);
    PODSIM_CHECK(!parts.empty(), "every chunk of a stage holds a part of the model");
    if (!forward) std::reverse(parts.begin(), parts.end());
    return parts;
  }

  // What a chunk hands on: the activation forward, and its gradient on the way back.
  Bytes output_of(int stage, int chunk) const {
    return program_.parts[program_.chunks[stage][chunk].runs.back().part].output;
  }
  Bytes input_of(int stage, int chunk) const {
    return stage > 0 ? output_of(stage - 1, chunk) : output_of(program_.stages - 1, chunk - 1);
  }

  static const Block& block_of(const Part& part, bool forward) {
    return forward ? part.forward : part.backward;
  }

  static std::vector<const CollectiveOp*> gathers(const Block& block) {
    std::vector<const CollectiveOp*> found;
    for (const ProgramOp& op : block)
      if (const auto* collective = std::get_if<CollectiveOp>(&op);
          collective && collective->purpose == Purpose::kParameter)
        found.push_back(collective);
    return found;
  }

  int launch_gathers(const Block& block) {
    int count = 0;
    for (const CollectiveOp* gather : gathers(block)) {
      launch(Stream::kParameter, *gather);
      ++count;
    }
    return count;
  }

  // `ahead` = gathers of later blocks that are already on the parameter stream.
  void lower_block(const Part& part, bool forward, int ahead) {
    const Block& block = block_of(part, forward);
    int gathers_left = static_cast<int>(gathers(block).size());
    double device_s = 0;
    bool hidden_pending = false;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (const auto* op = std::get_if<ComputeOp>(&block[i])) {
        double seconds = op_seconds(*op, chip_, stack_);
        device_s += seconds;
        compute(Time::seconds(seconds), Bucket::kCompute);
        continue;
      }
      const CollectiveOp& op = std::get<CollectiveOp>(block[i]);
      switch (op.purpose) {
        case Purpose::kParameter:
          --gathers_left;
          if (!stack_.parameters_prefetched) launch(Stream::kParameter, op);
          wait(Stream::kParameter, stack_.parameters_prefetched ? gathers_left + ahead : 0);
          break;
        case Purpose::kGradient:
          launch(Stream::kGradient, op);
          if (!stack_.gradients_overlapped) wait(Stream::kGradient, 0);
          break;
        case Purpose::kActivation:
          if (hidden_pending) wait(Stream::kActivation, 0);
          hidden_pending = lower_activation(op);
          break;
      }
    }
    if (hidden_pending) wait(Stream::kActivation, 0);
    if (part.layer) {
      double kernels = forward ? stack_.kernels_per_layer : stack_.backward_kernels;
      compute(Time::seconds(launch_seconds(device_s, kernels, stack_)), Bucket::kCompute);
    }
  }

  // The exposed share blocks; the hidden share runs beside what follows. True when something is still under
  // way.
  bool lower_activation(const CollectiveOp& op) {
    double hidden = stack_.tensor_hidden;
    if (hidden < 1) {
      launch(Stream::kActivation, op, 1 - hidden);
      wait(Stream::kActivation, 0);
    }
    if (hidden <= 0) return false;
    launch(Stream::kActivation, op, hidden);
    return true;
  }

  void lower_task(int stage, const TaskShape& task) {
    bool first_piece = task.chunk == 0 && stage == 0;
    bool last_piece =
        task.chunk + 1 == static_cast<int>(program_.chunks[stage].size()) && stage + 1 == program_.stages;
    if (task.forward && !first_piece) receive(Stream::kSendNext);
    if (!task.forward && !last_piece) receive(Stream::kSendPrevious);

    const std::vector<const Part*> parts = parts_of(stage, task.chunk, task.forward);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (task.forward && task.first) wait_for_step_gather(*parts[i]);
      int ahead = 0;
      if (stack_.parameters_prefetched) {
        if (i + 1 < parts.size()) {
          ahead = launch_gathers(block_of(*parts[i + 1], task.forward));
        } else if (task.next_chunk >= 0) {
          const Part* next = parts_of(stage, task.next_chunk, task.next_forward).front();
          ahead = launch_gathers(block_of(*next, task.next_forward));
        }
      }
      lower_block(*parts[i], task.forward, ahead);
      if (!task.forward && task.last && stack_.gradients_overlapped)
        launch_all(Stream::kGradient, parts[i]->gradient_reduce);
    }
    if (task.forward && !last_piece) send(Stream::kSendNext, +1, output_of(stage, task.chunk));
    if (!task.forward && !first_piece) send(Stream::kSendPrevious, -1, input_of(stage, task.chunk));
  }

  void receive(Stream stream) { out_->push_back({Kind::kReceive, stream, Bucket::kBubble, -1, 0, {}}); }

  // Collectives go to the stream; computations in between (casts, norms of gradients) stay on the compute
  // stream.
  int launch_all(Stream stream, const Block& block, Bucket bucket = Bucket::kOptimizer) {
    int launched = 0;
    for (const ProgramOp& op : block) {
      if (const auto* collective = std::get_if<CollectiveOp>(&op)) {
        launch(stream, *collective);
        ++launched;
      } else {
        compute(Time::seconds(op_seconds(std::get<ComputeOp>(op), chip_, stack_)), bucket);
      }
    }
    return launched;
  }

  static int collectives_in(const Block& block) {
    int count = 0;
    for (const ProgramOp& op : block) count += std::holds_alternative<CollectiveOp>(op);
    return count;
  }

  // Sharded-optimizer gathers overlap the first forward pass of the step: they are all launched when it
  // begins, and each part waits for its own.
  void begin_step(int stage) {
    step_gathers_left_ = 0;
    if (!stack_.gradients_overlapped) return;
    for (int chunk = 0; chunk < static_cast<int>(program_.chunks[stage].size()); ++chunk)
      for (const Part* part : parts_of(stage, chunk, true))
        step_gathers_left_ += launch_all(Stream::kStepGather, part->parameter_gather);
  }

  void wait_for_step_gather(const Part& part) {
    int own = collectives_in(part.parameter_gather);
    if (!stack_.gradients_overlapped || own == 0) return;
    step_gathers_left_ -= own;
    wait(Stream::kStepGather, step_gathers_left_);
  }

  void end_step(int stage) {
    auto each_part = [&](auto&& visit) {
      for (int chunk = 0; chunk < static_cast<int>(program_.chunks[stage].size()); ++chunk)
        for (const Part* part : parts_of(stage, chunk, false)) visit(*part);
    };
    if (!stack_.gradients_overlapped)
      each_part([&](const Part& part) { launch_all(Stream::kGradient, part.gradient_reduce); });
    wait(Stream::kGradient, 0);
    each_part([&](const Part& part) { launch_all(Stream::kParameter, part.optimizer); });
    if (!stack_.gradients_overlapped)
      each_part([&](const Part& part) { launch_all(Stream::kStepGather, part.parameter_gather); });
    for (Stream stream : {Stream::kStepGather, Stream::kParameter, Stream::kSendNext, Stream::kSendPrevious})
      wait(stream, 0);
    compute(stack_.fixed_step, Bucket::kOptimizer);
    const Job& job = spec_.job;
    if (job.input_rate.value > 0) {
      double host_tokens = program_.tokens / program_.mesh.devices() * spec_.cluster.fabric.chips_per_host;
      Bytes input{host_tokens * job.input_bytes_per_token};
      out_->push_back({Kind::kInput, Stream::kActivation, Bucket::kInput, -1, 0,
                       Time::seconds(seconds_at(input, job.input_rate))});
    }
  }

  StageProgram lower_stage(int stage) {
    StageProgram result;
    result.stage = stage;
    result.interference = stack_.interference;
    auto emit = [&](auto&& body) {
      std::vector<Instruction> segment;
      out_ = &segment;
      body();
      result.segments.push_back(std::move(segment));
      return static_cast<int>(result.segments.size()) - 1;
    };
    int chunks = static_cast<int>(program_.chunks[stage].size());
    std::vector<PipelineTask> order =
        pipeline_order(program_.schedule, program_.stages, stage, chunks, program_.microbatches);
    result.order.push_back(emit([&] {
      begin_step(stage);
      if (stack_.parameters_prefetched)
        launch_gathers(block_of(*parts_of(stage, order[0].chunk, true).front(), true));
    }));
    std::map<TaskShape, int> known;
    const std::vector<bool> last = last_of_kind(order);
    for (std::size_t k = 0; k < order.size(); ++k) {
      bool more = k + 1 < order.size();
      TaskShape shape{order[k].forward, order[k].microbatch == 0,       last[k],
                      order[k].chunk,   more ? order[k + 1].chunk : -1, more && order[k + 1].forward};
      // Waits for step gathers count down, so a first forward pass is never a repetition.
      if (auto it = known.find(shape); it != known.end() && !(shape.forward && shape.first)) {
        result.order.push_back(it->second);
      } else {
        result.order.push_back(known[shape] = emit([&] { lower_task(stage, shape); }));
      }
    }
    result.order.push_back(emit([&] { end_step(stage); }));
    return result;
  }

  // [k] whether no later task has the chunk and direction of task k.
  static std::vector<bool> last_of_kind(const std::vector<PipelineTask>& order) {
    std::vector<bool> last(order.size(), false);
    std::set<std::pair<int, bool>> seen;
    for (std::size_t k = order.size(); k-- > 0;)
      last[k] = seen.emplace(order[k].chunk, order[k].forward).second;
    return last;
  }

  const StepProgram& program_;
  const Chip& chip_;
  const Stack& stack_;
  const Spec& spec_;
  const bool merge_;
  LoweredStep step_;
  std::map<std::tuple<AxisSet, int, CollectiveKind, double>, int> message_ids_;
  std::vector<Instruction>* out_ = nullptr;
  int step_gathers_left_ = 0;
};

}  // namespace

LoweredStep lower(const StepProgram& program, const Spec& spec, bool merge) {
  return Lowering(program, spec, merge).run();
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
