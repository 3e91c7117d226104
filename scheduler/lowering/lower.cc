// The step of each stage: its passes in the order of the schedule, between the begin and the end of the step.
#include "scheduler/lowering/lower.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "engine/check.h"
#include "engine/time_limits.h"
#include "scheduler/lowering/gradient_buckets.h"
#include "scheduler/lowering/instruction_writer.h"
#include "scheduler/lowering/interleave_passes.h"
#include "scheduler/lowering/lower_part.h"
#include "scheduler/lowering/stage_transfers.h"
#include "scheduler/lowering/weight_prefetch.h"
#include "scheduler/question/spec.h"
#include "topology/fabric_kind.h"
#include "workload/job/chip.h"
#include "workload/job/job.h"
#include "workload/job/stack.h"
#include "workload/partition/model_flops.h"
#include "workload/partition/op_cost.h"
#include "workload/pipeline/pipeline.h"

namespace podsim {
namespace {

std::vector<PipelineTask> task_order(const StepProgram& program, const PipelineShape& pipeline, int stage) {
  std::vector<PipelineTask> order = pipeline_order(pipeline, stage);
  if (!program.forward_only) return order;
  std::erase_if(order, [](const PipelineTask& task) { return task.pass != Pass::kForward; });
  for (PipelineTask& task : order) task.with_next = false;
  return order;
}

class StageLowering {
 public:
  StageLowering(const StepProgram& program, const Spec& spec, const PassBlocks& blocks,
                InstructionWriter& writer, WrittenVisits& written, int stage)
      : program_(program),
        stack_(spec.job.stack),
        spec_(spec),
        stage_(stage),
        pipeline_{program.schedule, program.stages, static_cast<int>(program.chunks[stage].size()),
                  program.microbatches},
        writer_(writer),
        order_(task_order(program, pipeline_, stage)),
        pieces_(pieces()),
        first_(first_forward()),
        last_(last_weight_gradient()),
        handover_(program, pipeline_, stack_, writer, stage),
        parts_(writer, stack_, blocks, written, stall()),
        parts_beside_(writer, stack_, blocks, written, stall(), Stream::kActivationBeside),
        prefetch_(parts_, blocks, stack_, visits()),
        buckets_(writer, stack_.gradient_bucket) {}

  StageProgram run() {
    result_.stage = stage_;
    result_.pipeline = pipeline_;
    result_.interference = stack_.interference;
    result_.skew = skew_of(stack_, spec_.cluster.fabric, program_.mesh.devices());
    if (stack_.launch_queue > 0 && stack_.host_launch.ps > 0)
      result_.host_lead = {stack_.launch_queue * stack_.host_launch.ps};
    result_.input = {load_of_batch(), spec_.job.batches_ahead};
    result_.tasks = order_;
    result_.order.reserve(order_.size() + 2);
    result_.tasks_before.reserve(order_.size() + 2);
    append_segment([&](auto&) {
      begin_step();
      prefetch_.begin_step();
    });
    std::map<RunShape, std::int32_t> known;
    RunShape run;
    int visit = 0;
    for (std::size_t task = 0; task < order_.size();) {
      const int begin = visit;
      const std::size_t before = task;
      visit = next_run(task, visit, run);
      // Waits for step gathers count down, so a first forward pass is never a repetition.
      const auto it = known.find(run);
      if (it != known.end() && std::ranges::none_of(run, &TaskShape::first)) {
        result_.order.push_back(it->second);
      } else {
        append_segment([&](auto& segment) { lower_run(run, begin, segment); });
        if (spec_.job.lengths.any()) result_.attention.back() = attention(begin, visit);
        if (varies_) {
          roofline_s_.resize(result_.segments.size());
          roofline_s_.back() = roofline(begin, visit);
        }
        known[run] = result_.order.back();
      }
      result_.tasks_before.push_back(static_cast<std::int32_t>(before));
    }
    if (varies_) result_.least_factor = least_factor();
    append_segment([&](auto&) { end_step(); });
    result_.tasks_before.insert(result_.tasks_before.begin(), 0);
    result_.tasks_before.push_back(static_cast<std::int32_t>(order_.size()));
    return std::move(result_);
  }

 private:
  // Everything that makes two tasks of a stage issue different instructions.
  struct TaskShape {
    Pass pass;
    bool first;  // forward pass of its chunk
    bool last;   // that adds to the weight gradients of its chunk
    int chunk;
    std::vector<std::int32_t> ahead;  // Prefetch::shape
    auto operator<=>(const TaskShape&) const = default;
  };
  using RunShape = std::vector<TaskShape>;

  // Takes up the run that begins with `task`: a task alone, or two that take turns. The visit behind it.
  int next_run(std::size_t& task, int visit, RunShape& run) const {
    run.clear();
    for (bool more = true; more; ++task) {
      const PipelineTask& each = order_[task];
      run.push_back(
          {each.pass, first_[task], last_[task], each.chunk, prefetch_.shape(visit, parts_in(each.chunk))});
      visit += parts_in(each.chunk);
      more = each.with_next;
    }
    return visit;
  }

  // [task]
  std::vector<bool> first_forward() const {
    std::vector<bool> first;
    std::vector<bool> begun(pieces_.size(), false);  // [chunk]
    for (const PipelineTask& task : order_) {
      first.push_back(task.pass == Pass::kForward && !begun[task.chunk]);
      if (first.back()) begun[task.chunk] = true;
    }
    return first;
  }
  std::vector<bool> last_weight_gradient() const {
    std::vector<bool> last(order_.size(), false);
    std::vector<bool> ended(pieces_.size(), false);  // [chunk]
    for (std::size_t k = order_.size(); k-- > 0;) {
      const bool adds = order_[k].pass == Pass::kBackward || order_[k].pass == Pass::kWeightGradient;
      last[k] = adds && !ended[order_[k].chunk];
      if (adds) ended[order_[k].chunk] = true;
    }
    return last;
  }

  template <typename Body>
  void append_segment(Body&& body) {
    std::vector<Instruction> segment;
    writer_.begin(segment);
    body(segment);
    result_.order.push_back(static_cast<std::int32_t>(result_.segments.size()));
    result_.segments.push_back(std::move(segment));
    result_.attention.emplace_back();
  }

  // [window] What of the computation of the last segment, which these visits make, is attention.
  std::vector<double> attention(int visit, int end) const {
    std::vector<double> attention(windows_.size(), 0);
    for (; visit < end; ++visit)
      for (const ProgramOp& op : parts_.block(prefetch_.visit(visit)))
        if (const auto* work = std::get_if<ComputeOp>(&op); work && work->op_class == OpClass::kAttention)
          attention[place_of({work->window, work->causal}, windows_)] +=
              writer_.seconds(*work) * (1 + stall());
    const double all = computation(result_.segments.back()).in_seconds();
    const double sum = std::accumulate(attention.begin(), attention.end(), 0.0);
    for (double& share : attention) share = all == 0 ? 0 : share / std::max(all, sum);
    return attention;
  }

  static Time computation(const std::vector<Instruction>& segment) {
    Time all;
    for (const Instruction& each : segment)
      if (each.kind == Instruction::Kind::kCompute) all += each.duration;
    return all;
  }

  // What these visits compute, at the peaks of the chip.
  double roofline(int visit, int end) const {
    double seconds = 0;
    for (; visit < end; ++visit)
      for (const ProgramOp& op : parts_.block(prefetch_.visit(visit)))
        if (const auto* work = std::get_if<ComputeOp>(&op))
          seconds += roofline_seconds(*work, spec_.cluster.chip);
    return seconds;
  }

  // Of all passes together. The first segment is the begin of the step and computes nothing.
  double least_factor() const {
    std::vector<double> computed_s;
    for (const std::vector<Instruction>& segment : result_.segments)
      computed_s.push_back(computation(segment).in_seconds());
    double roofline = 0, computed = 0;
    for (const std::int32_t segment : result_.order) {
      roofline += roofline_s_[static_cast<std::size_t>(segment)];
      computed += computed_s[static_cast<std::size_t>(segment)];
    }
    return computed == 0 ? 0 : std::min(1.0, roofline / computed);
  }

  int parts_in(int chunk) const { return static_cast<int>(pieces_[chunk].size()); }

  std::vector<Visit> visits() const {
    std::vector<Visit> visits;
    bool beside_last = false;
    for (const PipelineTask& task : order_) {
      const bool interleaved = beside_last || task.with_next;
      each_piece(task.chunk, task.pass == Pass::kForward, [&](int part) {
        visits.push_back({part, task.pass, task.microbatch, task.chunk, interleaved});
      });
      beside_last = task.with_next;
    }
    return visits;
  }

  // [chunk] indices of parts, in forward order.
  std::vector<std::vector<int>> pieces() const {
    std::vector<std::vector<int>> pieces;
    for (const ChunkShape& chunk : program_.chunks[stage_]) {
      std::vector<int>& parts = pieces.emplace_back();
      for (const PartRun& run : chunk.runs) parts.insert(parts.end(), run.count, run.part);
      PODSIM_CHECK(!parts.empty(), "every chunk of a stage holds a part of the model");
    }
    return pieces;
  }

  template <typename Visit>
  void each_piece(int chunk, bool forward, Visit&& visit) const {
    const std::vector<int>& parts = pieces_[chunk];
    for (std::size_t i = 0; i < parts.size(); ++i) visit(parts[forward ? i : parts.size() - 1 - i]);
  }

  // Tasks in turns have received all that they need before they begin, and send when both have ended.
  void lower_run(const RunShape& tasks, int visit, std::vector<Instruction>& segment) {
    for (const TaskShape& task : tasks) handover_.receive(task.pass, task.chunk);
    if (tasks.size() == 1) {
      lower_task(tasks.front(), visit, parts_);
    } else {
      std::array<std::vector<Instruction>, 2> passes;
      writer_.begin(passes[0]);
      lower_task(tasks[0], visit, parts_);
      writer_.begin(passes[1]);
      lower_task(tasks[1], visit + parts_in(tasks[0].chunk), parts_beside_);
      interleave(passes, segment);
      writer_.begin(segment);
    }
    for (const TaskShape& task : tasks) handover_.send(task.pass, task.chunk);
  }

  void lower_task(const TaskShape& task, int visit, PartLowering& parts) {
    for (const int end = visit + parts_in(task.chunk); visit < end; ++visit) {
      const Part& part = program_.parts[prefetch_.visit(visit).part];
      if (task.first) wait_for_step_gather(part);
      parts.pass(prefetch_.visit(visit), prefetch_.begin_visit(visit));
      if (task.last && overlapped(part)) buckets_.add(part.gradient_reduce);
    }
  }

  // Chunks in the order of their first forward passes.
  template <typename Visit>
  void each_part(bool forward, Visit&& visit) const {
    for (std::size_t k = 0; k < order_.size(); ++k)
      if (first_[k]) each_piece(order_[k].chunk, forward, [&](int part) { visit(program_.parts[part]); });
  }

  bool overlapped(const Part& part) const { return podsim::overlapped(stack_, gathers_of(part) > 0); }
  static int gathers_of(const Part& part) {
    return static_cast<int>(
        std::count_if(part.parameter_gather.begin(), part.parameter_gather.end(),
                      [](const ProgramOp& op) { return std::holds_alternative<CollectiveOp>(op); }));
  }

  // Gathers of updated weights that overlap the first forward pass of the step are all launched when it
  // begins, and each part waits for its own.
  void begin_step() {
    each_part(true, [&](const Part& part) {
      if (overlapped(part)) step_gathers_left_ += gather_updated(part);
    });
  }

  int gather_updated(const Part& part) {
    writer_.host_collectives(gathers_of(part));
    return writer_.launch_all(Stream::kStepGather, part.parameter_gather, Bucket::kOptimizer);
  }

  void wait_for_step_gather(const Part& part) {
    const int own = gathers_of(part);
    if (own == 0 || !overlapped(part)) return;
    step_gathers_left_ -= own;
    writer_.wait(Stream::kStepGather, step_gathers_left_);
  }

  void end_step() {
    each_part(false, [&](const Part& part) {
      if (!overlapped(part)) buckets_.add(part.gradient_reduce);
    });
    buckets_.flush();
    sum_mirrored_gradients();
    writer_.wait(Stream::kGradient, 0);
    std::vector<const Part*> parts;
    each_part(false, [&](const Part& part) { parts.push_back(&part); });
    parts_.optimizer(parts);
    each_part(false, [&](const Part& part) {
      if (!overlapped(part)) gather_updated(part);
    });
    for (Stream stream :
         {Stream::kStepGather, Stream::kParameter, Stream::kForwardNext, Stream::kForwardPrevious,
          Stream::kBackwardNext, Stream::kBackwardPrevious, Stream::kToHost, Stream::kFromHost})
      writer_.wait(stream, 0);
    if (!program_.forward_only) {
      if (spec_.job.measured) writer_.compute(spec_.job.measured->update, Bucket::kOptimizer);
      writer_.compute(stack_.fixed_step, Bucket::kOptimizer);
    }
    if (result_.input.load.ps > 0 || spec_.adversities.variation.input.probability > 0) writer_.await_input();
  }

  // Where every piece lies on two stages (DualPipe), both copies of its gradients are added up, once they are
  // reduced and cut as the optimizer has them. Both stages go through their pieces in the order of the model.
  void sum_mirrored_gradients() {
    if (schedule_traits(program_.schedule).layout != PieceLayout::kFromBothEnds) return;
    const int lower = stage_ < pipeline_.stages / 2 ? 0 : 1;
    for (const int chunk : {lower, 1 - lower}) {
      double elements = 0;
      for (const int part : pieces_[chunk]) elements += program_.parts[part].local_state;
      if (elements == 0) continue;
      writer_.launch(Stream::kGradient, {AxisSet{1} << program_.pipeline_axis, 0, 0, true},
                     CollectiveKind::kAllReduce, Bytes{elements * stack_.gradient_bytes},
                     Bucket::kCommunication);
    }
  }

  // What retries of the allocator cost, as a share of computation. A step that does not fit is simulated as
  // if it had all the memory it needs.
  double stall() const {
    if (stack_.retry_free_share <= 0) return 0;
    const double used = program_.memory[stage_].total().value / spec_.cluster.chip.hbm_capacity.value;
    return used > 1 ? 0 : stack_.retry_stall * std::max(0.0, 1 - (1 - used) / stack_.retry_free_share);
  }

  // Every host reads the tokens of the job's chips on it; the slower of host and storage sets the pace.
  Time load_of_batch() const {
    const Job& job = spec_.job;
    const FabricSpec& fabric = spec_.cluster.fabric;
    const int devices = program_.mesh.devices();
    const double of_host = std::min(fabric.chips_per_host, devices / fabric.slices);
    const Bytes batch{program_.tokens * job.input_bytes_per_token};
    double seconds = job.input_rate.value > 0 ? seconds_at(of_host / devices * batch, job.input_rate) : 0;
    if (job.storage_rate.value > 0) seconds = std::max(seconds, seconds_at(batch, job.storage_rate));
    return capped_seconds(seconds);
  }

  const StepProgram& program_;
  const Stack& stack_;
  const Spec& spec_;
  const int stage_;
  const PipelineShape pipeline_;
  InstructionWriter& writer_;
  const std::vector<PipelineTask> order_;
  const std::vector<std::vector<int>> pieces_;  // [chunk]
  const std::vector<bool> first_, last_;        // [task] TaskShape
  StageTransfers handover_;
  PartLowering parts_, parts_beside_;
  WeightPrefetch prefetch_;
  GradientBuckets buckets_;
  const std::vector<KeyWindow> windows_ = key_windows(program_.flops_per_token);
  const bool varies_ = spec_.adversities.variation.factors();
  std::vector<double> roofline_s_;  // [segment] of passes, where factors vary
  StageProgram result_;
  int step_gathers_left_ = 0;
};

}  // namespace

double skew_of(const Stack& stack, const FabricSpec& fabric, int devices) {
  if (stack.skew_per_doubling == 0) return 0;
  const double units = static_cast<double>(devices) / kind_of(fabric).chips_in_step(fabric);
  return units > 1 ? stack.skew_per_doubling * std::log2(units) : 0;
}

LoweredStep lower(const StepProgram& program, const Spec& spec, bool merge) {
  LoweredStep step;
  InstructionWriter writer(step.messages, spec.cluster.chip, spec.job.stack, merge);
  const PassBlocks blocks(program.parts);
  WrittenVisits written;
  for (int stage = 0; stage < program.stages; ++stage)
    step.stages.push_back(StageLowering(program, spec, blocks, writer, written, stage).run());
  return step;
}

}  // namespace podsim
