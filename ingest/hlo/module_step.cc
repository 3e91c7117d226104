// Computation by computation, from what is called to the entry: time of kernels, and of collectives beside
// them.
#include "ingest/hlo/module_step.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "engine/check.h"
#include "ingest/hlo/collectives.h"
#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"
#include "ingest/hlo/kept_parts.h"
#include "ingest/hlo/operations.h"
#include "ingest/hlo/products.h"
#include "ingest/hlo/transfer_times.h"
#include "ingest/hlo/waits.h"
#include "workload/partition/op_cost.h"

namespace podsim::hlo {
namespace {

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
  double saved_at_end = 0;  // of a loop, where no product needs what its last trip hands on
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
        known_(module.computations.size()),
        kept_parts_(module),
        transfers_(module, machine.fabric) {}

  ModuleStep predict() {
    const Spent all = of(module_.entry, false);
    step_.seconds = all.seconds;
    step_.communication_seconds = all.communicating;
    step_.exposed_seconds = std::max(0.0, all.seconds - all.computing);
    for (const auto& [name, loop] : loops_.by_name)
      if (loop.how == TripCount::How::kUnknown) step_.unknown_loops.push_back(name);
    return std::move(step_);
  }

 private:
  // One run; with `repeats` one trip of a loop.
  const Spent& of(int number, bool repeats) {
    std::optional<Spent>& known = known_[static_cast<std::size_t>(number)];
    if (known) return *known;
    known.emplace();  // check_module has refused circles
    const Computation& computation = module_.computations[static_cast<std::size_t>(number)];
    const std::int64_t runs = executions_.of_computation[static_cast<std::size_t>(number)];
    const std::size_t size = computation.instructions.size();
    const Users users = users_of(computation);
    std::vector<InstructionTime> times(size);
    std::vector<double> saved(size, 0);
    Spent sum;
    double own = 0;  // kernels that nothing calls
    for (std::size_t i = 0; i < size; ++i) {
      const Instruction& each = computation.instructions[i];
      if (!collective_kind(each.opcode).empty()) {
        times[i].linked = collective_seconds(number, users, i, runs);
      } else if (const auto inner = inside(each)) {
        times[i].product = inner->has_products;
        saved[i] = inner->saved_at_end;
        if (each.opcode == "async-start" && inner->computing == 0) {  // nothing but collectives
          times[i].linked = inner->seconds;
          continue;
        }
        sum.seconds += inner->seconds;
        sum.computing += inner->computing;
        sum.communicating += inner->communicating;
      } else {
        times[i].product = is_product(computation, each);
        times[i].computed = kernel_seconds(computation, users, i, runs);
        own += times[i].computed;
      }
      sum.has_products = sum.has_products || times[i].product;
    }
    const std::vector<Wait> waited = waits(computation, users, times, repeats);
    double within = 0, for_next = 0, beside = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum.communicating += times[i].linked;
      within += waited[i].within;
      for_next += waited[i].for_next;
      beside += times[i].linked - waited[i].within - waited[i].for_next;
      if (saved[i] > 0 && !repeats && !product_needs(computation, users, times, i)) sum.seconds -= saved[i];
    }
    sum.computing += own;
    const double trip = within + for_next + std::max(own, beside);
    sum.saved_at_end = trip - within - std::max(own, beside + for_next);
    sum.seconds += trip;
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
    Spent spent = of(called, opcode == "while" && times > 1);
    spent.seconds *= times;
    spent.computing *= times;
    spent.communicating *= times;
    if (opcode != "while") spent.saved_at_end = 0;
    return spent;
  }

  bool is_product(const Computation& computation, const Instruction& each) {
    if (each.opcode == "dot" || each.opcode == "ragged-dot" || each.opcode == "convolution") return true;
    if (each.opcode == "fusion") return costs_.of(computation, each).products() > 0;
    return each.opcode == "custom-call" && custom_call(computation, each).flops > 0;
  }

  double collective_seconds(int number, const Users& users, std::size_t i, std::int64_t runs) {
    const Computation& computation = module_.computations[static_cast<std::size_t>(number)];
    const Instruction& each = computation.instructions[i];
    const std::string kind(collective_kind(each.opcode));
    // Behind what a ragged all-to-all sends stand the place of its result, and sizes.
    const std::size_t sent = kind == "ragged-all-to-all" ? 1 : each.operands.size();
    double operands = 0;
    for (std::size_t o = 0; o < sent; ++o)
      operands += static_cast<double>(computation.operand(each, o).shape.bytes());
    CollectiveKind as = collective_of(kind);
    if (as == CollectiveKind::kAllReduce && kept_parts_.each_device_keeps_one(number, users, i)) {
      as = CollectiveKind::kReduceScatter;
      step_.scattered += runs;
    }
    const double seconds = transfers_.seconds(each, as, operands);
    WorkTime& of_kind = step_.collectives[kind];
    of_kind.runs += runs;
    of_kind.seconds += seconds * static_cast<double>(runs);
    return seconds;
  }

  double matmul_seconds(const Product& product, double flops, double hbm, std::int64_t runs) {
    const ProductRate rate = product_rate(machine_.chip, product);
    if (!rate.without_rate.empty()) step_.without_rate[rate.without_rate] += runs;
    return op_seconds(matmul_op(product, rate.dtype, flops, hbm), machine_.chip, machine_.stack);
  }

  double memory_seconds(double bytes) {
    step_now_bytes_ += bytes;
    return seconds_at(Bytes{bytes}, machine_.chip.hbm * machine_.chip.hbm_efficiency);
  }

  double kernel_seconds(const Computation& computation, const Users& users, std::size_t i,
                        std::int64_t runs) {
    const Instruction& each = computation.instructions[i];
    const Cost cost = costs_.of(computation, each);
    WorkTime* work = &step_.others;
    double seconds = 0;
    step_now_bytes_ = 0;
    if (const double flops = static_cast<double>(cost.products()); flops > 0) {
      work = &step_.matmuls;
      const Product product = product_of(module_, costs_, computation, each)
                                  .value_or(Product{each.shape, each.shape, each.shape});
      seconds = matmul_seconds(product, flops, static_cast<double>(cost.bytes), runs);
    } else if (each.opcode == "custom-call") {
      seconds = call_seconds(computation, each, runs, work);
    } else if (each.opcode == "send" || each.opcode == "recv") {
      step_.not_timed[each.opcode.text()] += runs;
    } else if (!is_view(each.opcode) && !is_inside_a_kernel(computation, users, i)) {
      seconds = memory_seconds(moved_bytes(computation, users, each, cost));
    }
    if (seconds <= 0) return 0;
    work->runs += runs;
    work->seconds += seconds * static_cast<double>(runs);
    step_.bytes_fused += step_now_bytes_ * static_cast<double>(runs);
    return seconds;
  }

  double call_seconds(const Computation& computation, const Instruction& each, std::int64_t runs,
                      WorkTime*& work) {
    const CustomCall call = custom_call(computation, each);
    double bytes = static_cast<double>(each.shape.bytes());
    for (std::size_t o = 0; o < each.operands.size(); ++o)
      bytes += static_cast<double>(computation.operand(each, o).shape.bytes());
    switch (call.kind) {
      case CustomCall::Kind::kMove:
        add_move(call_target(each), static_cast<double>(each.shape.bytes()), runs);
        return 0;
      case CustomCall::Kind::kUnknown:
        ++step_.unknown_calls[call_target(each)];
        return memory_seconds(bytes);
      case CustomCall::Kind::kMatmul:
        work = &step_.matmuls;
        return matmul_seconds(product_of(module_, costs_, computation, each).value(),
                              static_cast<double>(call.flops), bytes, runs);
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

  // Between the memories of a chip and of its host.
  void add_move(const std::string& target, double bytes, std::int64_t runs) {
    if (target != "MoveToHost" && target != "MoveToDevice") return;
    step_.not_timed[target] += runs;
    (target == "MoveToHost" ? step_.bytes_to_host : step_.bytes_from_host) +=
        bytes * static_cast<double>(runs);
  }

  // All that use it take it in as they go; or it fuses with the one thing that uses it.
  static bool is_inside_a_kernel(const Computation& computation, const Users& users, std::size_t i) {
    if (!fuses(computation.instructions[i].opcode) || users[i].empty()) return false;
    return std::ranges::all_of(users[i], [&](int user) {
      const std::string& opcode = computation.instructions[static_cast<std::size_t>(user)].opcode;
      return fuses(opcode) || opcode == "reduce" || opcode == "dynamic-update-slice";
    });
  }

  // The result, and what its kernel reads from outside: everything that is no part of it, and of that as many
  // elements as are needed of what is made of it, which of a slice are its own.
  double moved_bytes(const Computation& computation, const Users& users, const Instruction& each,
                     const Cost& cost) const {
    if (!fuses(each.opcode) && each.opcode != "reduce") return static_cast<double>(cost.bytes);
    double bytes = static_cast<double>(each.shape.bytes());
    std::map<int, double> needed;  // elements, by place in the text
    const auto need_operands = [&](const Instruction& user, double elements) {
      for (const int operand : user.operands) {
        const auto all =
            static_cast<double>(computation.instructions[static_cast<std::size_t>(operand)].shape.elements());
        double& sum = needed[operand];
        sum = std::min(all, sum + elements);
      }
    };
    // A sum reads all that it adds up.
    need_operands(each, each.opcode == "reduce" ? std::numeric_limits<double>::infinity()
                                                : static_cast<double>(each.shape.elements()));
    std::set<int> met;
    while (!needed.empty()) {  // what is used stands before what uses it
      const auto last = std::prev(needed.end());
      const int at = last->first;
      const double elements = last->second;
      needed.erase(last);
      if (!met.insert(at).second) continue;
      const Instruction& source = computation.instructions[static_cast<std::size_t>(at)];
      if (source.opcode == "constant" || source.opcode == "iota") continue;  // made where they are needed
      if (fuses(source.opcode) && is_inside_a_kernel(computation, users, static_cast<std::size_t>(at)))
        need_operands(source, elements);
      else if (!source.shape.is_tuple() && elements > 0)
        bytes += static_cast<double>(source.shape.bytes()) *
                 (elements / static_cast<double>(source.shape.elements()));
    }
    return bytes;
  }

  const Module& module_;
  const LoopCounts& loops_;
  const Machine& machine_;
  const Executions executions_;
  CostAnalysis costs_;
  std::vector<std::optional<Spent>> known_;
  KeptParts kept_parts_;
  TransferTimes transfers_;
  double step_now_bytes_ = 0;
  ModuleStep step_;
};

}  // namespace

ModuleStep predict_module(const Module& module, const LoopCounts& loops, const Machine& machine) {
  PODSIM_CHECK(machine.chip.matmul_rate(Dtype::kBf16), "the chip has rates of matmuls in 16 bits");
  return Predictor(module, loops, machine).predict();
}

}  // namespace podsim::hlo
