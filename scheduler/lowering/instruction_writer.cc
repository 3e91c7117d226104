// Writes the instructions of one segment after the other.
#include "scheduler/lowering/instruction_writer.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/time_limits.h"
#include "scheduler/lowering/chunked_matmuls.h"
#include "workload/job/chip.h"
#include "workload/job/stack.h"
#include "workload/partition/op_cost.h"

namespace podsim {

using Kind = Instruction::Kind;

std::int32_t InstructionWriter::message(const CollectiveCall& message) {
  const auto key = std::make_tuple(message.scope, message.kind, message.bytes.value, message.fanout);
  const auto [it, added] = ids_.try_emplace(key, static_cast<std::int32_t>(messages_.size()));
  if (added) messages_.push_back(message);
  return it->second;
}

double InstructionWriter::seconds(const ComputeOp& op) {
  const auto [known, added] = seconds_.try_emplace(&op);
  if (added) known->second = op_seconds(op, chip_, stack_);
  return known->second;
}

double InstructionWriter::seconds_of_chunk(const ComputeOp& matmul, int chunks) {
  const auto [known, added] = seconds_of_chunk_.try_emplace(&matmul);
  if (added) known->second = op_seconds(chunk_of(matmul, chunks), chip_, stack_);
  return known->second;
}

void InstructionWriter::compute(Time duration, Bucket bucket) {
  PODSIM_CHECK(duration >= Time{}, "no operation ends before it begins");
  PODSIM_CHECK(out_ != nullptr, "instructions belong to a segment");
  if (duration.ps == 0) return;
  if (merge_ && !out_->empty() && out_->back().kind == Kind::kCompute && out_->back().bucket == bucket) {
    out_->back().duration = std::min(out_->back().duration + duration, kTooLongForAStep);
    return;
  }
  out_->push_back({Kind::kCompute, Stream::kActivation, bucket, -1, 0, duration});
}

// Only computations depend on what is before them.
void InstructionWriter::append(std::span<const Instruction> written) {
  if (written.empty()) return;
  if (const Instruction& first = written.front(); first.kind == Kind::kCompute) {
    compute(first.duration, first.bucket);
    written = written.subspan(1);
  }
  out_->insert(out_->end(), written.begin(), written.end());
}

void InstructionWriter::compute(const ComputeOp& op, Bucket bucket) {
  compute(capped_seconds(seconds(op)), bucket);
}

void InstructionWriter::host(Time duration) {
  PODSIM_CHECK(duration >= Time{}, "no launch ends before it begins");
  if (duration.ps > 0) out_->push_back({Kind::kHost, Stream::kActivation, Bucket::kCompute, -1, 0, duration});
}

void InstructionWriter::host_collectives(int count) { host({stack_.host_collective.ps * count}); }

void InstructionWriter::synchronise() {
  out_->push_back({Kind::kSynchronise, Stream::kActivation, Bucket::kCompute, -1, 0, {}});
}

void InstructionWriter::launch(Stream stream, const CollectiveOp& op, double share) {
  launch(stream, {op.axes, 0}, op.kind, op.bytes * share, Bucket::kCommunication, op.fanout);
}

void InstructionWriter::launch(Stream stream, Scope scope, CollectiveKind kind, Bytes bytes, Bucket bucket,
                               Fanout fanout) {
  PODSIM_CHECK(bytes.value >= 0, "a collective has a size");
  out_->push_back({Kind::kLaunch, stream, bucket, message({scope, kind, bytes, fanout}), 0, {}});
}

void InstructionWriter::copy(const HostCopy& op) {
  PODSIM_CHECK(chip_.host_link.value > 0, "a chip that copies to its host has a link to it");
  out_->push_back({Kind::kCopy, op.to_host ? Stream::kToHost : Stream::kFromHost, Bucket::kOffload, -1, 0,
                   capped_seconds(seconds_at(op.bytes, chip_.host_link))});
}

void InstructionWriter::wait(Stream stream, int pending) {
  PODSIM_CHECK(pending >= 0, "so many may still be under way");
  out_->push_back({Kind::kWait, stream, Bucket::kCommunication, -1, pending, {}});
}

void InstructionWriter::receive(Stream stream) {
  out_->push_back({Kind::kReceive, stream, Bucket::kBubble, -1, 0, {}});
}

void InstructionWriter::await_input() {
  out_->push_back({Kind::kInput, Stream::kActivation, Bucket::kInput, -1, 0, {}});
}

int InstructionWriter::launch_all(Stream stream, const Block& block, Bucket bucket) {
  int launched = 0;
  for (const ProgramOp& op : block) {
    if (const auto* collective = std::get_if<CollectiveOp>(&op)) {
      launch(stream, *collective);
      ++launched;
    } else if (const auto* work = std::get_if<ComputeOp>(&op)) {
      compute(*work, bucket);
    } else {
      copy(std::get<HostCopy>(op));
    }
  }
  return launched;
}

}  // namespace podsim
