// The mixture of experts as a block: route, dispatch to slots, expert matmuls, combine.
#include <algorithm>
#include <cmath>
#include <utility>

#include "workload/model/transformer_blocks.h"

namespace podsim {
namespace {

constexpr double kScoreBytes = 4;  // the router decides in fp32

}  // namespace

std::int64_t expert_capacity(const MixtureOfExperts& experts, std::int64_t tokens) {
  const double even = static_cast<double>(tokens) * experts.experts_per_token / experts.experts;
  return static_cast<std::int64_t>(std::ceil(even * experts.capacity_factor * experts.imbalance));
}

TensorId TransformerBuilder::travelling(TensorId id, Journey journey) {
  graph.tensors[static_cast<std::size_t>(id)].journey = journey;
  return of_experts(id);
}

TensorId TransformerBuilder::of_experts(TensorId id) {
  graph.tensors[static_cast<std::size_t>(id)].of_experts = true;
  return id;
}

// Slots lie [experts, groups, slots, embed]: a group is a sequence, whose tokens fill the same number of
// slots of every expert. Right after dispatch the groups carry the axes of the batch, so dispatch is local;
// at the experts, axes of "experts" lie there. What moves between the two, both ways, follows from that.
void TransformerBuilder::experts(TensorId normalised, TensorId out) {
  const MixtureOfExperts& experts = *model_.experts;
  const std::int64_t capacity = expert_capacity(experts, tokens_);
  const TensorDim choice = dim("", experts.experts);
  const auto gate = [&](const std::string& name) {
    const TensorId id = activation(name, {batch(), residual_sequence(), choice});
    graph.tensors.back().element_bytes = kScoreBytes;
    return id;
  };
  const auto slots_of = [&](const std::string& name, Journey journey) {
    return travelling(
        activation(name, {choice, batch(), dim("residual_sequence", capacity), dim("embed", model_.d_model)}),
        journey);
  };

  const TensorId scores = gate("router scores"), weights = gate("router weights");
  einsum("router", {normalised, "bsd"}, {matrix("router weight", {embed_rows(), choice}), "de"},
         {scores, "bse"}, false);
  std::vector<Operand> routed = {{scores, "bse"}};
  if (experts.router_bias) routed.push_back({vector("router bias", {choice}), "e"});
  graph.operations.push_back({.name = "route",
                              .kind = OperationKind::kRoute,
                              .inputs = std::move(routed),
                              .outputs = {{weights, "bse"}},
                              .whole = "e"});
  const TensorId slots = slots_of("slots", Journey::kToExperts);
  graph.operations.push_back({.name = "dispatch",
                              .kind = OperationKind::kDispatch,
                              .inputs = {{normalised, "bsd"}, {weights, "bse"}},
                              .outputs = {{slots, "ebsd"}},
                              .whole = "e"});
  const TensorId returned = slots_of("expert results", Journey::kFromExperts);
  expert_matmuls(slots, returned, capacity);

  const TensorId combined = experts.shared_ffn > 0 ? residual("combined") : out;
  std::vector<Operand> terms = {{returned, "ebsd"}, {weights, "bse"}};
  bias(terms, "expert down bias", {dim("param_experts", experts.experts), embed_rows()}, "ed");
  graph.operations.push_back({.name = "combine",
                              .kind = OperationKind::kCombine,
                              .inputs = std::move(terms),
                              .outputs = {{combined, "bsd"}},
                              .whole = "e"});
  if (experts.shared_ffn == 0) return;
  const TensorId shared = residual("shared expert down");
  feed_forward("shared expert", normalised, shared, experts.shared_ffn, model_.gated_ffn);
  sum("add shared expert", {{combined, "bsd"}, {shared, "bsd"}}, out);
}

void TransformerBuilder::expert_matmuls(TensorId slots, TensorId returned, std::int64_t capacity) {
  const MixtureOfExperts& experts = *model_.experts;
  const int matrices = experts.gated ? 2 : 1;
  const auto at_experts = [&](const std::string& name, std::vector<TensorDim> inner) {
    std::vector<TensorDim> dims = {dim("experts", experts.experts),
                                   dim("expert_groups", batch().blocks[0].size), dim("sequence", capacity)};
    dims.insert(dims.end(), inner.begin(), inner.end());
    return activation(name, std::move(dims));
  };
  const auto move = [&](const std::string& name, TensorId from, TensorId to) {
    graph.operations.push_back({.name = name,
                                .kind = OperationKind::kReshape,
                                .inputs = {{from, "ebsd"}},
                                .outputs = {{to, "ebsd"}},
                                .saves_inputs = false});
  };
  const auto matmul = [&](const std::string& name, Operand x, Operand weight, Operand to) {
    einsum(name, std::move(x), std::move(weight), std::move(to));
    const double filled = static_cast<double>(tokens_) * experts.experts_per_token /
                          (static_cast<double>(experts.experts) * static_cast<double>(capacity));
    graph.operations.back().useful = std::min(1.0, filled);  // what finds no slot is computed by nobody
  };
  const TensorDim rows = dim("param_experts", experts.experts),
                  ffn = dim("param_expert_ffn", experts.expert_ffn);
  const TensorDim hidden = dim("expert_ffn", experts.expert_ffn), parallel = dim("", matrices);

  const TensorId in = travelling(at_experts("expert input", {dim("", model_.d_model)}), Journey::kToExperts);
  move("to experts", slots, in);
  const TensorId up = of_experts(at_experts("expert up", {parallel, hidden}));
  matmul("expert up", {in, "ebsd"}, {matrix("expert up weight", {rows, embed_rows(), parallel, ffn}), "edgf"},
         {up, "ebsgf"});
  const TensorId active = of_experts(at_experts("expert activation", {hidden}));
  std::vector<Operand> inputs = {{up, "ebsgf"}};
  bias(inputs, "expert up bias", {rows, parallel, ffn}, "egf");
  graph.operations.push_back({.name = "expert activation",
                              .kind = OperationKind::kElementwise,
                              .inputs = std::move(inputs),
                              .outputs = {{active, "ebsf"}},
                              .chain = experts.gated ? KernelChain::kActivation : KernelChain::kNone});
  const TensorId down =
      travelling(at_experts("expert down", {dim("", model_.d_model)}), Journey::kFromExperts);
  graph.tensors.back().constrained = false;  // partial sums are reduced on the way back
  matmul("expert down", {active, "ebsf"}, {matrix("expert down weight", {rows, ffn, embed_rows()}), "efd"},
         {down, "ebsd"});
  move("from experts", down, returned);
}

}  // namespace podsim
