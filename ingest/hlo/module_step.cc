// Computation by computation, from what is called to the entry: time of kernels, and of collectives beside
// them.
#include "ingest/hlo/module_step.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "collectives/collective.h"
#include "engine/check.h"
#include "ingest/hlo/collectives.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/operations.h"
#include "ingest/hlo/replica_groups.h"
#include "workload/partition/op_cost.h"

namespace podsim::hlo {
namespace {

Dtype dtype_of(const Chip& chip, const Shape& shape) {
  Dtype type = shape.type == "f32" || shape.type == "f64" ? Dtype::kFp32
               : shape.type.starts_with("f8")             ? Dtype::kFp8
               : shape.type.starts_with("f4")             ? Dtype::kFp4
               : shape.type == "s8" || shape.type == "u8" ? Dtype::kInt8
                                                          : Dtype::kBf16;
  return chip.matmul.contains(type) ? type : Dtype::kBf16;
}

CollectiveKind collective_of(std::string_view kind) {
  if (kind == "all-gather") return CollectiveKind::kAllGather;
  if (kind == "reduce-scatter") return CollectiveKind::kReduceScatter;
  if (kind == "all-to-all" || kind == "ragged-all-to-all") return CollectiveKind::kAllToAll;
  if (kind == "collective-permute") return CollectiveKind::kSendReceive;
  if (kind == "collective-broadcast") return CollectiveKind::kBroadcast;
  return CollectiveKind::kAllReduce;
}

// Neither read nor written by itself: names for what is there, or what is made where it is needed.
bool is_view(std::string_view opcode) {
  return is_free(opcode) || opcode == "tuple" || opcode == "reshape" || opcode == "broadcast" ||
         opcode == "iota" || opcode == "opt-barrier" || opcode == "partition-id" || opcode == "replica-id";
}

// Is part of the kernel of what uses it, or of what it uses.
bool fuses(std::string_view opcode) {
  return is_elementwise(opcode) || is_transcendental(opcode) || opcode == "broadcast" ||
         opcode == "reshape" || opcode == "slice" || opcode == "dynamic-slice" || opcode == "pad" ||
         opcode == "concatenate" || opcode == "iota" || opcode == "transpose";
}

// What a computation takes, and of it what runs on chips and what on links.
struct Spent {
  double seconds = 0, computing = 0, communicating = 0;
  bool has_products = false;
};

class Predictor {
 public:
  Predictor(const Module& module, const LoopCounts& loops, const Machine& machine)
      : module_(module),
        loops_(loops),
        machine_(machine),
        executions_(executions(module, loops)),
        costs_(module, nullptr),
        known_(module.computations.size()) {}

  ModuleStep predict() {
    const Spent all = of(module_.entry);
    step_.seconds = all.seconds;
    step_.communication_seconds = all.communicating;
    step_.exposed_seconds = std::max(0.0, all.seconds - all.computing);
    return std::move(step_);
  }

 private:
  // One run.
  const Spent& of(int number) {
    std::optional<Spent>& known = known_[static_cast<std::size_t>(number)];
    if (known) return *known;
    known.emplace();  // check_module has refused circles
    const Computation& computation = module_.computations[static_cast<std::size_t>(number)];
    const std::int64_t runs = executions_.of_computation[static_cast<std::size_t>(number)];
    const std::size_t size = computation.instructions.size();
    std::vector<std::vector<int>> users(size);
    for (std::size_t i = 0; i < size; ++i)
      for (const int operand : computation.instructions[i].operands)
        users[static_cast<std::size_t>(operand)].push_back(static_cast<int>(i));
    std::vector<double> alone(size, 0);  // on links
    std::vector<bool> product(size, false);
    Spent sum;
    for (std::size_t i = 0; i < size; ++i) {
      const Instruction& each = computation.instructions[i];
      if (!collective_kind(each.opcode).empty()) {
        alone[i] = collective_seconds(computation, users[i], each, runs);
      } else if (const auto inner = inside(each)) {
        sum.seconds += inner->seconds;
        sum.computing += inner->computing;
        sum.communicating += inner->communicating;
        product[i] = inner->has_products;
      } else {
        product[i] = is_product(computation, each);
        sum.computing += kernel_seconds(computation, users, i, runs);
      }
      sum.has_products = sum.has_products || product[i];
    }
    const double own = sum.computing - called_computing(computation);
    double waited = 0, beside = 0;
    const std::vector<bool> before = reached(computation, users, product, true),
                            after = reached(computation, users, product, false);
    for (std::size_t i = 0; i < size; ++i) {
      sum.communicating += alone[i];
      (before[i] && after[i] ? waited : beside) += alone[i];
    }
    sum.seconds += waited + std::max(own, beside);
    return *(known = sum);
  }

  // Of all runs of what an instruction calls; nothing where it calls nothing that runs by itself.
  std::optional<Spent> inside(const Instruction& each) {
    const std::string_view opcode = started_operation(each.opcode);
    int called = -1;
    if (opcode == "while") called = module_.find(each.attribute("body"));
    if (opcode == "call") called = module_.find(each.attribute(each.has("to_apply") ? "to_apply" : "calls"));
    if (opcode == "async-start") called = module_.find(each.attribute("calls"));
    if (opcode == "conditional") called = costs_.dearer_branch(each);
    if (called < 0) return std::nullopt;
    const auto loop = loops_.of.find(&each);
    const auto times = static_cast<double>(loop == loops_.of.end() ? 1 : loop->second.trips);
    Spent spent = of(called);
    spent.seconds *= times;
    spent.computing *= times;
    spent.communicating *= times;
    return spent;
  }

  double called_computing(const Computation& computation) {
    double sum = 0;
    for (const Instruction& each : computation.instructions)
      if (collective_kind(each.opcode).empty())
        if (const auto inner = inside(each)) sum += inner->computing;
    return sum;
  }

  bool is_product(const Computation& computation, const Instruction& each) {
    if (each.opcode == "dot" || each.opcode == "ragged-dot" || each.opcode == "convolution") return true;
    if (each.opcode == "fusion")
      return costs_.of(computation, each).dot + costs_.of(computation, each).convolution > 0;
    return each.opcode == "custom-call" && custom_call(computation, each).flops > 0;
  }

  // Instructions that some product leads to, or that lead to one.
  static std::vector<bool> reached(const Computation& computation, const std::vector<std::vector<int>>& users,
                                   const std::vector<bool>& product, bool forward) {
    std::vector<bool> found(product.size(), false);
    std::vector<int> open;
    const auto enter = [&](int next) {
      if (found[static_cast<std::size_t>(next)]) return;
      found[static_cast<std::size_t>(next)] = true;
      open.push_back(next);
    };
    const auto enter_neighbours = [&](std::size_t i) {
      if (forward)
        for (const int next : users[i]) enter(next);
      else
        for (const int next : computation.instructions[i].operands) enter(next);
    };
    for (std::size_t i = 0; i < product.size(); ++i)
      if (product[i]) enter_neighbours(i);
    while (!open.empty()) {
      const auto at = static_cast<std::size_t>(open.back());
      open.pop_back();
      enter_neighbours(at);
    }
    return found;
  }

  double collective_seconds(const Computation& computation, const std::vector<int>& users,
                            const Instruction& each, std::int64_t runs) {
    const std::string kind(collective_kind(each.opcode));
    const Groups groups = groups_of(module_, each).value();
    double operands = 0;
    for (std::size_t i = 0; i < each.operands.size(); ++i)
      operands += static_cast<double>(computation.operand(each, i).shape.bytes());
    CollectiveKind as = collective_of(kind);
    const bool scattered =
        as == CollectiveKind::kAllReduce && !users.empty() && std::ranges::all_of(users, [&](int user) {
          return computation.instructions[static_cast<std::size_t>(user)].opcode == "dynamic-slice";
        });
    if (scattered) {
      as = CollectiveKind::kReduceScatter;
      step_.scattered += runs;
    }
    std::vector<ChipId> chips;
    for (const std::int64_t member : groups.members) chips.push_back(static_cast<ChipId>(member));
    // Of podsim's partitioner, which does not say who sends to whom within the group.
    if (as == CollectiveKind::kSendReceive && chips.size() > 2) as = CollectiveKind::kPermute;
    double seconds = 0;
    const double bytes =
        as == CollectiveKind::kAllGather ? operands * static_cast<double>(groups.size) : operands;
    if (chips.size() > 1 && chips.front() != chips.back() && bytes > 0) {
      const auto [found, added] = transfers_.try_emplace({static_cast<int>(as), bytes, chips}, 0);
      if (added)
        found->second =
            podsim::predict(machine_.fabric, plan(machine_.fabric, {as, {bytes}}, chips)).in_seconds();
      seconds = found->second;
    }
    WorkTime& of_kind = step_.collectives[kind];
    of_kind.runs += runs;
    of_kind.seconds += seconds * static_cast<double>(runs);
    return seconds;
  }

  double matmul_seconds(double flops, const Shape& left, const Shape& result, double n, double hbm) {
    ComputeOp op;
    op.dtype = dtype_of(machine_.chip, left);
    const auto elements = static_cast<double>(std::max<std::int64_t>(1, result.elements()));
    op.n = std::max(1.0, n);
    op.m = std::max(1.0, elements / op.n);
    op.k = std::max(1.0, flops / (2 * elements));
    op.flops = {flops};
    op.hbm = {hbm};
    return op_seconds(op, machine_.chip, machine_.stack);
  }

  double memory_seconds(double bytes) {
    step_now_bytes_ += bytes;
    return seconds_at(Bytes{bytes}, machine_.chip.hbm * machine_.chip.hbm_efficiency);
  }

  double kernel_seconds(const Computation& computation, const std::vector<std::vector<int>>& users,
                        std::size_t i, std::int64_t runs) {
    const Instruction& each = computation.instructions[i];
    const Cost cost = costs_.of(computation, each);
    WorkTime* work = &step_.others;
    double seconds = 0;
    step_now_bytes_ = 0;
    if (const double flops = static_cast<double>(cost.dot + cost.convolution); flops > 0) {
      work = &step_.matmuls;
      const Shape& left = each.operands.empty() ? each.shape : computation.operand(each, 0).shape;
      const Shape& result =
          each.shape.is_tuple() && !each.shape.leaves.empty() ? each.shape.leaves.front() : each.shape;
      const double n = result.dimensions.empty() ? 1 : static_cast<double>(result.dimensions.back());
      seconds = matmul_seconds(flops, left, result, n, static_cast<double>(cost.bytes));
    } else if (each.opcode == "custom-call") {
      seconds = call_seconds(computation, each, work);
    } else if (!is_view(each.opcode) && !is_inside_a_kernel(computation, users, i)) {
      seconds = memory_seconds(moved_bytes(computation, users, each, cost));
    }
    if (seconds <= 0) return 0;
    work->runs += runs;
    work->seconds += seconds * static_cast<double>(runs);
    step_.bytes_fused += step_now_bytes_ * static_cast<double>(runs);
    return seconds;
  }

  double call_seconds(const Computation& computation, const Instruction& each, WorkTime*& work) {
    const CustomCall call = custom_call(computation, each);
    double bytes = static_cast<double>(each.shape.bytes());
    for (std::size_t o = 0; o < each.operands.size(); ++o)
      bytes += static_cast<double>(computation.operand(each, o).shape.bytes());
    switch (call.kind) {
      case CustomCall::Kind::kMove:
        return 0;
      case CustomCall::Kind::kUnknown:
        ++step_.unknown_calls[call_target(each)];
        return memory_seconds(bytes);
      case CustomCall::Kind::kMatmul: {
        work = &step_.matmuls;
        const Shape& result =
            each.shape.is_tuple() && !each.shape.leaves.empty() ? each.shape.leaves.front() : each.shape;
        const double n = result.dimensions.empty() ? 1 : static_cast<double>(result.dimensions.back());
        return matmul_seconds(static_cast<double>(call.flops), computation.operand(each, 0).shape, result, n,
                              bytes);
      }
      case CustomCall::Kind::kAttention:
        break;
    }
    work = &step_.attention;
    ComputeOp op;
    op.op_class = OpClass::kAttention;
    op.query_length = static_cast<double>(call.queries);
    op.key_length = static_cast<double>(call.keys);
    op.heads = static_cast<double>(call.heads);
    op.head_dim = static_cast<double>(call.head_dim);
    op.sequences = static_cast<double>(call.batch);
    op.causal = call.causal;
    op.backward = call.backward;
    op.flops = {static_cast<double>(call.flops) * (call.causal ? 0.5 : 1)};
    op.hbm = {bytes};
    return op_seconds(op, machine_.chip, machine_.stack);
  }

  // All that use it take it in as they go; or it fuses with the one thing that uses it.
  static bool is_inside_a_kernel(const Computation& computation, const std::vector<std::vector<int>>& users,
                                 std::size_t i) {
    if (!fuses(computation.instructions[i].opcode) || users[i].empty()) return false;
    return std::ranges::all_of(users[i], [&](int user) {
      const std::string& opcode = computation.instructions[static_cast<std::size_t>(user)].opcode;
      return fuses(opcode) || opcode == "reduce" || opcode == "dynamic-update-slice";
    });
  }

  // The result, and what its kernel reads from outside: everything that is no part of it.
  double moved_bytes(const Computation& computation, const std::vector<std::vector<int>>& users,
                     const Instruction& each, const Cost& cost) const {
    if (!fuses(each.opcode) && each.opcode != "reduce") return static_cast<double>(cost.bytes);
    double bytes = static_cast<double>(each.shape.bytes());
    std::vector<int> open(each.operands.begin(), each.operands.end()), seen;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (std::ranges::count(seen, at) > 0) continue;
      seen.push_back(at);
      const Instruction& source = computation.instructions[static_cast<std::size_t>(at)];
      if (source.opcode == "constant" || source.opcode == "iota") continue;  // made where they are needed
      if (fuses(source.opcode) && is_inside_a_kernel(computation, users, static_cast<std::size_t>(at))) {
        open.insert(open.end(), source.operands.begin(), source.operands.end());
        continue;
      }
      if (!source.shape.is_tuple()) bytes += static_cast<double>(source.shape.bytes());
    }
    return bytes;
  }

  const Module& module_;
  const LoopCounts& loops_;
  const Machine& machine_;
  const Executions executions_;
  CostAnalysis costs_;
  std::vector<std::optional<Spent>> known_;
  std::map<std::tuple<int, double, std::vector<ChipId>>, double> transfers_;
  double step_now_bytes_ = 0;
  ModuleStep step_;
};

}  // namespace

ModuleStep predict_module(const Module& module, const LoopCounts& loops, const Machine& machine) {
  PODSIM_CHECK(machine.chip.matmul_rate(Dtype::kBf16), "the chip has rates of matmuls in 16 bits");
  return Predictor(module, loops, machine).predict();
}

std::int64_t devices_named(const Module& module) {
  std::int64_t devices = module.replicas * module.partitions;
  for (const Computation& computation : module.computations)
    for (const Instruction& each : computation.instructions) {
      if (collective_kind(each.opcode).empty()) continue;
      const Groups groups = groups_of(module, each).value();
      const std::int64_t apart = groups.mode == GroupMode::kReplicas ? module.partitions : 1;
      const std::int64_t all = saturating_multiply(groups.size, groups.count);
      devices = std::max(devices, saturating_multiply(apart, all));
      for (const std::int64_t member : groups.members) devices = std::max(devices, member + 1);
    }
  return devices;
}

}  // namespace podsim::hlo
