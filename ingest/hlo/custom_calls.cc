// Custom calls of JAX on GPUs and TPUs whose work is known.
#include <algorithm>
#include <array>
#include <string_view>

#include "ingest/hlo/cost.h"
#include "ingest/hlo/fields.h"

namespace podsim::hlo {
namespace {

// Annotations, and moves between memories.
constexpr std::array<std::string_view, 7> kMoves = {
    "Sharding",     "SPMDFullToShardShape",      "SPMDShardToFullShape", "MoveToHost",
    "MoveToDevice", "annotate_device_placement", "AllocateBuffer"};

bool starts_with_one_of(std::string_view target, const auto& prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return target.starts_with(prefix); });
}

// Every pair of positions; forward two products, backward five.
CustomCall attention(const Instruction& call, bool backward) {
  const std::string_view config = call.attribute("backend_config");
  const std::int64_t heads = number_of(config, "attn_heads"), batch = number_of(config, "input_batch");
  const std::int64_t queries = number_of(config, "q_max_seqlen"), keys = number_of(config, "kv_max_seqlen");
  const std::int64_t qk = number_of(config, "qk_head_dim"), v = number_of(config, "v_head_dim");
  CustomCall made;
  if (std::min({heads, batch, queries, keys, qk, v}) < 0) return made;
  made.kind = CustomCall::Kind::kAttention;
  made.flops = 2 * batch * heads * queries * keys * (backward ? 3 * qk + 2 * v : qk + v);
  const std::int64_t mask = number_of(config, "mask_type");
  made.causal = mask == 2 || mask == 3;
  made.backward = backward;
  made.batch = batch;
  made.heads = heads;
  made.queries = queries;
  made.keys = keys;
  made.head_dim = qk;
  return made;
}

// cuBLAS: the result is the first leaf, and dot_dimension_numbers tell what is contracted.
CustomCall matmul(const Computation& computation, const Instruction& call) {
  CustomCall made;
  const std::string_view config = call.attribute("backend_config");
  const std::size_t at = config.find("lhs_contracting_dimensions");
  if (at == std::string_view::npos || call.operands.empty()) return made;
  const std::size_t open = config.find('[', at), close = config.find(']', at);
  if (open == std::string_view::npos || close == std::string_view::npos) return made;
  const Shape& left = computation.operand(call, 0).shape;
  const Shape& result =
      call.shape.is_tuple() && !call.shape.leaves.empty() ? call.shape.leaves.front() : call.shape;
  std::int64_t contracted = 1;
  for (const std::int64_t d : list_of(config.substr(open, close - open)))
    if (d < static_cast<std::int64_t>(left.dimensions.size()))
      contracted *= left.dimensions[static_cast<std::size_t>(d)];
  made.kind = CustomCall::Kind::kMatmul;
  made.flops = 2 * result.elements() * contracted;
  return made;
}

}  // namespace

std::string call_target(const Instruction& call) {
  std::string_view target = call.attribute("custom_call_target");
  if (target.size() > 1 && target.starts_with('"')) target = target.substr(1, target.size() - 2);
  return std::string(target);
}

CustomCall custom_call(const Computation& computation, const Instruction& call) {
  const std::string target = call_target(call);
  CustomCall move;
  move.kind = CustomCall::Kind::kMove;
  if (std::ranges::count(kMoves, target) > 0 || target.starts_with("xla.sdy.")) return move;
  if (target == "te_fused_attn_forward_ffi") return attention(call, false);
  if (target == "te_fused_attn_backward_ffi") return attention(call, true);
  constexpr std::array<std::string_view, 2> kMatmuls = {"__cublas$gemm", "__cublas$lt$matmul"};
  if (starts_with_one_of(target, kMatmuls)) return matmul(computation, call);
  return {};
}

}  // namespace podsim::hlo
