// Gives what workers did the rows that a recording has: starts at which they were ready, durations with
// waits.
#include "scheduler/replay/simulated_trace.h"

#include <algorithm>

#include "engine/check.h"
#include "scheduler/folding/laid_job.h"
#include "scheduler/replay/data_ranks.h"
#include "scheduler/replay/worker_steps.h"

namespace podsim {
namespace {

// Data ranks whose rows are equal become one, so that it makes no difference which chips were folded.
void merge_alike(RecordedTrace& trace) {
  const std::size_t ranks = trace.ranks_alike.size();
  std::vector<std::vector<const RecordedOp*>> rows(ranks);
  for (const RecordedOp& op : trace.ops) rows[op.data_rank].push_back(&op);
  const auto equal = [](const RecordedOp* a, const RecordedOp* b) {
    return a->start_s == b->start_s && a->duration_s == b->duration_s && a->type == b->type &&
           a->stage == b->stage && a->sequence == b->sequence && a->step == b->step;
  };
  std::vector<std::size_t> kept;
  std::vector<int> new_rank(ranks, -1);  // of those that are kept
  RecordedTrace merged = trace;
  merged.ranks_alike.clear();
  merged.rank_number.clear();
  merged.global_rank.clear();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto known = std::ranges::find_if(
        kept, [&](std::size_t other) { return std::ranges::equal(rows[other], rows[rank], equal); });
    if (known != kept.end()) {
      merged.ranks_alike[static_cast<std::size_t>(known - kept.begin())] += trace.ranks_alike[rank];
      continue;
    }
    new_rank[rank] = static_cast<int>(kept.size());
    kept.push_back(rank);
    merged.ranks_alike.push_back(trace.ranks_alike[rank]);
    merged.rank_number.push_back(trace.rank_number[rank]);
  }
  for (const auto& [worker, global] : trace.global_rank)
    if (new_rank[worker.first] >= 0) merged.global_rank[{new_rank[worker.first], worker.second}] = global;
  std::erase_if(merged.ops, [&](const RecordedOp& op) { return new_rank[op.data_rank] < 0; });
  for (RecordedOp& op : merged.ops) op.data_rank = new_rank[op.data_rank];
  trace = std::move(merged);
}

class TraceWriter {
 public:
  TraceWriter(const System& system, const LaidJob& job, const Timeline& timeline, bool every_rank)
      : system_(system),
        job_(job),
        timeline_(timeline),
        ranks_(data_ranks(system, job, every_rank)),
        stages_(job.program.stages),
        every_rank_(every_rank) {}

  RecordedTrace write() {
    PODSIM_CHECK(!ranks_.empty() && stages_ > 0, "workers have ranks and stages");
    trace_.single_precision = false;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      trace_.ranks_alike.push_back(ranks_[rank].alike);
      trace_.rank_number.push_back(ranks_[rank].number);
      for (int stage = 0; stage < stages_; ++stage)
        trace_.global_rank[{static_cast<int>(rank), stage}] = ranks_[rank].first_device[stage];
    }
    has_input_ = std::ranges::any_of(timeline_.passes,
                                     [](const StepPasses& step) { return step.next_batch > step.begin; });
    data_parallel_ = ranks_.size() > 1 || ranks_.front().alike > 1;
    for (std::size_t step = 0; step < timeline_.passes.size(); ++step) write_step(static_cast<int>(step));
    if (!every_rank_) merge_alike(trace_);
    if (trace_.ranks_alike.size() == 1) trace_.sequence_ranks = static_cast<int>(trace_.ranks_alike.front());
    return std::move(trace_);
  }

 private:
  // Of one data rank in one step; [stage].
  using Pipeline = std::vector<WorkerStep>;

  void write_step(int step) {
    step_ = step;
    std::vector<Pipeline> pipelines(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (int stage = 0; stage < stages_; ++stage)
        pipelines[rank].push_back(
            worker_step(system_, job_, timeline_.passes[step], stage, ranks_[rank].classes[stage]));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      rank_ = static_cast<int>(rank);
      for (int stage = 0; stage < stages_; ++stage) {
        write_passes(stage, pipelines[rank][stage]);
        write_transfers(stage, pipelines[rank], OpType::kForwardSend, OpType::kForwardRecv, 0);
        write_transfers(stage, pipelines[rank], OpType::kBackwardSend, OpType::kBackwardRecv, 1);
      }
    }
    write_ends(pipelines);
  }

  void write(int stage, OpType type, int sequence, const TracedSpan& span, int chunk = -1,
             int microbatch = -1) {
    const int global_chunk = chunk < 0 ? -1 : chunk * stages_ + stage;
    trace_.ops.push_back({span.start_s, span.duration_s, step_, rank_, sequence, microbatch,
                          static_cast<std::int16_t>(stage), static_cast<std::int16_t>(chunk),
                          static_cast<std::int16_t>(global_chunk), type});
  }

  void write_passes(int stage, const WorkerStep& worker) {
    int forward = 0, backward = 0;
    if (data_parallel_) write(stage, OpType::kParamsAllGather, 0, {0, worker.begin_s}, 0);
    for (const TracedPass& pass : worker.passes) {
      const bool ahead = pass.task.pass == Pass::kForward;
      write(stage, ahead ? OpType::kForwardCompute : OpType::kBackwardCompute, ahead ? forward++ : backward++,
            pass.own, pass.task.chunk, pass.task.microbatch);
    }
  }

  // Receives are recorded from the moment of the send, but not after the begin of the pass that needs them:
  // of a worker's chips, which need not wait for each other, one may begin a pass before another is sent to,
  // and what is posted behind the last pass counts as no receive. Where a stage has passes with and without a
  // neighbour the others are no-ops, which keep transfers and passes in step.
  void write_transfers(int stage, const Pipeline& pipeline, OpType send, OpType receive, int direction) {
    if (stages_ == 1) return;
    const int before = (stage + (direction == 0 ? stages_ - 1 : 1)) % stages_;
    const auto &sent = pipeline[stage].sent[direction], &received = pipeline[before].sent[direction];
    std::size_t next_sent = 0, next_received = 0;
    double last_sent_s = 0, last_received_s = 0;
    int sends = 0, receives = 0;
    for (const TracedPass& pass : pipeline[stage].passes) {
      if ((pass.task.pass == Pass::kForward) != (direction == 0)) continue;
      const bool comes = hands_on(job_.program, stage, pass.task.chunk, 1 - direction);
      if (comes || !received.empty()) {
        const TracedSpan no_op{last_received_s, 0};
        const TracedSpan span = comes ? posted(received[next_received++], pass.own.start_s) : no_op;
        write(stage, receive, receives++, span);
        last_received_s = span.start_s;
      }
      const bool goes = hands_on(job_.program, stage, pass.task.chunk, direction);
      if (goes || !sent.empty()) {
        const TracedSpan no_op{std::max(last_sent_s, pass.own.end_s()), 0};
        const TracedSpan& span = goes ? sent[next_sent++] : no_op;
        write(stage, send, sends++, span);
        last_sent_s = span.start_s;
      }
    }
  }

  // The same until its end, from `latest_s` on at the latest.
  static TracedSpan posted(const TracedSpan& received, double latest_s) {
    if (received.start_s <= latest_s) return received;
    return {latest_s, received.end_s() - latest_s};
  }

  // After the last pass: first and last stage meet, data ranks meet on each stage, and then all for clipping.
  void write_ends(const std::vector<Pipeline>& pipelines) {
    double clip_s = 0;
    for (const Pipeline& pipeline : pipelines)
      for (int stage = 0; stage < stages_; ++stage) clip_s = std::max(clip_s, ready_to_clip(pipeline, stage));
    for (rank_ = 0; rank_ < static_cast<int>(pipelines.size()); ++rank_)
      for (int stage = 0; stage < stages_; ++stage) write_end(stage, pipelines[rank_], clip_s);
  }

  double ready_to_scatter(const Pipeline& pipeline, int stage) const {
    const double own_s = pipeline[stage].passes.back().own.end_s();
    if (stage != 0 && stage != stages_ - 1) return own_s;
    return std::max(pipeline.front().passes.back().own.end_s(), pipeline.back().passes.back().own.end_s());
  }

  double ready_to_clip(const Pipeline& pipeline, int stage) const {
    const double scatter_s = ready_to_scatter(pipeline, stage);
    return data_parallel_ ? std::max(scatter_s, pipeline[stage].scatter_end_s) : scatter_s;
  }

  void write_end(int stage, const Pipeline& pipeline, double clip_s) {
    const WorkerStep& worker = pipeline[stage];
    const double end_s = worker.passes.back().own.end_s();
    const double scatter_s = ready_to_scatter(pipeline, stage), ready_s = ready_to_clip(pipeline, stage);
    write(stage, OpType::kGarbageCollection, 0, {end_s, 0});
    write(stage, OpType::kLayernormGradsAllReduce, 0, {end_s, 0});
    if (stage == 0 || stage == stages_ - 1)
      write(stage, OpType::kEmbeddingGradsAllReduce, 0, {end_s, scatter_s - end_s});
    double left_s = worker.optimizer_s;
    if (data_parallel_) {
      write(stage, OpType::kGradsReduceScatter, 0, {scatter_s, ready_s - scatter_s}, 0);
    } else {  // there is no communication with other ranks
      left_s += worker.begin_s + (worker.scatter_end_s - end_s);
    }
    write(stage, OpType::kClip, 0, {ready_s, clip_s - ready_s});
    write(stage, OpType::kOptimizer, 0, {clip_s, left_s});
    if (!has_input_) return;
    const StepPasses& step = timeline_.passes[static_cast<std::size_t>(step_)];
    write(stage, OpType::kInput, 0, {0, std::max(0.0, (step.next_batch - step.begin).in_seconds())});
  }

  const System& system_;
  const LaidJob& job_;
  const Timeline& timeline_;
  const std::vector<DataRank> ranks_;
  const int stages_;
  const bool every_rank_;
  bool data_parallel_ = false;
  bool has_input_ = false;   // in some step
  int step_ = 0, rank_ = 0;  // of the rows at hand
  RecordedTrace trace_;
};

}  // namespace

std::string explain_untraceable(const LaidJob& job) {
  if (!schedule_traits(job.program.schedule).passes_as_recorded)
    return "the schedule has passes that traces have no operations for";
  return job.program.forward_only ? "the job has no backward passes" : "";
}

RecordedTrace simulated_trace(const System& system, const LaidJob& job, const Timeline& timeline,
                              bool every_rank) {
  return TraceWriter(system, job, timeline, every_rank).write();
}

}  // namespace podsim
