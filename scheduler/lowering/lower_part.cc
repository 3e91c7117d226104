// One piece of the model as instructions.
#include "scheduler/lowering/lower_part.h"

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/time_limits.h"
#include "scheduler/lowering/chunked_matmuls.h"
#include "workload/job/stack.h"
#include "workload/partition/op_cost.h"

namespace podsim {
namespace {

bool of_experts(const ProgramOp& op) {
  const auto* work = std::get_if<ComputeOp>(&op);
  return work && work->of_experts;
}

}  // namespace

int count_gathers(const Block& block) {
  return static_cast<int>(std::count_if(block.begin(), block.end(), gathers_weights));
}

int count_copies(const Block& block) {
  return static_cast<int>(std::count_if(block.begin(), block.end(), copies_from_host));
}

void PartLowering::launch_gathers(const Visit& visit) {
  for (const ProgramOp& op : block(visit))
    if (gathers_weights(op)) writer_.launch(Stream::kParameter, std::get<CollectiveOp>(op));
}

void PartLowering::launch_copies(const Block& block) {
  for (const ProgramOp& op : block)
    if (copies_from_host(op)) writer_.copy(std::get<HostCopy>(op));
}

void PartLowering::pass(const Visit& visit, Ahead ahead) {
  PODSIM_CHECK(ahead.gathers >= 0 && ahead.copies >= 0, "what is ahead is on its way");
  PODSIM_CHECK(!exchanges_pending_ && !hidden_pending_, "a visit begins when the last one has ended");
  if (!rings_.empty()) return write(visit, ahead);  // for its first matmul
  const WrittenVisits::key_type key{visit.part,        visit.pass,   ahead.gathers, ahead.copies,
                                    ahead.own_gathers, activations_, stall_};
  if (const auto known = written_.find(key); known != written_.end()) return writer_.append(known->second);
  std::vector<Instruction> instructions;
  std::vector<Instruction>* const segment = writer_.begin(instructions);
  write(visit, ahead);
  writer_.begin(*segment);
  writer_.append(instructions);
  if (rings_.empty()) written_.emplace(key, std::move(instructions));
}

void PartLowering::write(const Visit& visit, Ahead ahead) {
  gathers_launched_ = ahead.own_gathers;
  gathers_left_ = ahead.gathers + count_gathers(block(visit));
  copies_left_ = ahead.copies + count_copies(block(visit));
  const Block& ops = block(visit);
  const std::vector<ChunkedMatmul> chunked =
      stack_.tensor_chunks > 1 ? chunked_matmuls(ops) : std::vector<ChunkedMatmul>{};
  auto next = chunked.begin();
  Launches launches = launches_of(visit);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (launches.synchronises && of_experts(ops[i])) synchronise(launches);
    if (next != chunked.end() && next->gather == i) {
      launch_chunks(std::get<CollectiveOp>(ops[i]));
    } else if (next != chunked.end() && next->matmul == i) {
      in_chunks(ops, *next);
      if (next->scatter) ++i;
      ++next;
    } else {
      operation(ops[i]);
    }
  }
  settle_hidden();
  settle_exchanges();
  launch(launches);
}

PartLowering::Launches PartLowering::launches_of(const Visit& visit) const {
  const Block& ops = block(visit);
  const auto collectives = std::count_if(
      ops.begin(), ops.end(), [](const auto& op) { return std::holds_alternative<CollectiveOp>(op); });
  return {.kernels = blocks_.kernels(visit.part, visit.pass, stack_),
          .of_experts = blocks_.expert_kernels(visit.part, visit.pass, stack_),
          .collectives = static_cast<double>(collectives),
          .synchronises = stack_.experts.synchronises && visit.pass == Pass::kForward};
}

void PartLowering::launch(const Launches& launches) {
  const double kernels = launches.kernels + launches.of_experts;
  writer_.compute(capped_seconds(gap_seconds(kernels, stack_)), Bucket::kCompute);
  writer_.host(capped_seconds(host_seconds(kernels, launches.collectives, stack_)));
}

// The host has launched what comes before the experts, and waits to learn how many tokens each of them gets.
void PartLowering::synchronise(Launches& launches) {
  launch({.kernels = launches.kernels});
  writer_.synchronise();
  launches.kernels = 0;
  launches.synchronises = false;
}

double PartLowering::seconds(const ComputeOp& op) { return (1 + stall_) * writer_.seconds(op); }

void PartLowering::operation(const ProgramOp& op) {
  if (const auto* exchange = std::get_if<CollectiveOp>(&op)) collective(*exchange);
  if (const auto* move = std::get_if<HostCopy>(&op)) copy(*move);
  const auto* work = std::get_if<ComputeOp>(&op);
  if (!work) return;
  if (work->op_class == OpClass::kMemoryBound) {
    writer_.compute(capped_seconds(seconds(*work)), Bucket::kCompute);
  } else {
    matrix_work(seconds(*work));
  }
}

void PartLowering::launch_chunks(const CollectiveOp& gather) {
  settle_hidden();
  for (int chunk = 0; chunk < stack_.tensor_chunks; ++chunk)
    writer_.launch(activations_, gather, 1.0 / stack_.tensor_chunks);
}

// Each chunk waits for its own part of the input, and its part of the output leaves at once.
void PartLowering::in_chunks(const Block& ops, const ChunkedMatmul& chunked) {
  const int chunks = stack_.tensor_chunks;
  const double chunk_s =
      (1 + stall_) * writer_.seconds_of_chunk(std::get<ComputeOp>(ops[chunked.matmul]), chunks);
  if (!chunked.gather) settle_hidden();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int gathers_behind = chunks - 1 - chunk, scatters_under_way = chunked.scatter ? chunk : 0;
    if (chunked.gather) writer_.wait(activations_, gathers_behind + scatters_under_way);
    writer_.compute(capped_seconds(chunk_s), Bucket::kCompute);
    if (chunked.scatter)
      writer_.launch(activations_, std::get<CollectiveOp>(ops[*chunked.scatter]), 1.0 / chunks);
  }
  if (chunked.scatter) writer_.wait(activations_, 0);
}

void PartLowering::collective(const CollectiveOp& op) {
  if (op.windows > 1) {
    rings_.push_back(&op);
    return;
  }
  switch (op.purpose) {
    case Purpose::kParameter:
      --gathers_left_;
      if (!gathers_launched_) writer_.launch(Stream::kParameter, op);
      writer_.wait(Stream::kParameter, gathers_launched_ ? gathers_left_ : 0);
      break;
    case Purpose::kGradient:
      writer_.launch(Stream::kGradient, op);
      if (!stack_.gradients_overlapped) writer_.wait(Stream::kGradient, 0);
      break;
    case Purpose::kActivation:
      if (op.of_experts && stack_.experts.exchange_hidden)
        return exchange(op, *stack_.experts.exchange_hidden);
      settle_hidden();
      hidden_pending_ = activation(op);
      break;
  }
}

void PartLowering::copy(const HostCopy& op) {
  if (op.to_host) {
    writer_.copy(op);
    if (stack_.host_copies) writer_.wait(Stream::kToHost, *stack_.host_copies);
  } else {
    writer_.wait(Stream::kFromHost, --copies_left_);
  }
}

void PartLowering::optimizer(const std::vector<const Part*>& parts) {
  launch_copies(parts.front()->optimizer);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Block& block = parts[i]->optimizer;
    copies_left_ = count_copies(block);
    if (i + 1 < parts.size()) {
      launch_copies(parts[i + 1]->optimizer);
      copies_left_ += count_copies(parts[i + 1]->optimizer);
    }
    for (const ProgramOp& op : block) {
      if (const auto* exchange = std::get_if<CollectiveOp>(&op))
        writer_.launch(Stream::kParameter, *exchange);
      if (const auto* move = std::get_if<HostCopy>(&op)) copy(*move);
      if (const auto* work = std::get_if<ComputeOp>(&op)) writer_.compute(*work, Bucket::kOptimizer);
    }
    writer_.compute(capped_seconds(update_seconds(parts[i]->weights, stack_)), Bucket::kOptimizer);
    writer_.host(parts[i]->weights *
                 capped_seconds(stack_.optimizer_calls * stack_.host_launch.in_seconds()));
  }
}

// The hidden share runs beside the whole pass: in truth beside that of another microbatch, which takes turns.
void PartLowering::exchange(const CollectiveOp& op, double hidden) {
  settle_hidden();
  if (hidden < 1) {
    writer_.launch(activations_, op, 1 - hidden);
    writer_.wait(activations_, 0);
  }
  if (hidden <= 0) return;
  writer_.launch(beside(), op, hidden);
  exchanges_pending_ = true;
}

void PartLowering::settle_exchanges() {
  if (std::exchange(exchanges_pending_, false)) writer_.wait(beside(), 0);
}

Stream PartLowering::beside() const {
  return activations_ == Stream::kActivation ? Stream::kActivationBeside : Stream::kActivation;
}

void PartLowering::settle_hidden() {
  if (std::exchange(hidden_pending_, false)) writer_.wait(activations_, 0);
}

void PartLowering::matrix_work(double seconds) {
  if (rings_.empty()) {
    writer_.compute(capped_seconds(seconds), Bucket::kCompute);
    return;
  }
  settle_hidden();
  rings(std::exchange(rings_, {}), capped_seconds(seconds));
}

// A computation in as many pieces as the longest ring has blocks: while one piece is computed, the block of
// the next travels.
void PartLowering::rings(const std::vector<const CollectiveOp*>& rings, Time duration) {
  int pieces = 1;
  for (const CollectiveOp* ring : rings) pieces = std::max(pieces, ring->windows);
  for (int piece = 0; piece < pieces; ++piece) {
    for (const CollectiveOp* ring : rings)
      if (piece + 1 < ring->windows) writer_.launch(activations_, *ring);
    writer_.compute({duration.ps * (piece + 1) / pieces - duration.ps * piece / pieces}, Bucket::kCompute);
    if (piece + 1 < pieces) writer_.wait(activations_, 0);
  }
}

// The exposed share blocks; the hidden share runs beside what follows. True when something is still under
// way.
bool PartLowering::activation(const CollectiveOp& op) {
  const double hidden = stack_.tensor_hidden;
  if (hidden < 1) {
    writer_.launch(activations_, op, 1 - hidden);
    writer_.wait(activations_, 0);
  }
  if (hidden <= 0) return false;
  writer_.launch(activations_, op, hidden);
  return true;
}

}  // namespace podsim
