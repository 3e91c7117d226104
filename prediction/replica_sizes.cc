// By what each matrix is cut along: heads, widths of blocks, experts.
#include "prediction/replica_sizes.h"

#include <algorithm>

#include "topology/fabric_kind.h"
#include "workload/job/model.h"

namespace podsim {
namespace {

bool has_dense_blocks(const Model& model) {
  return !model.experts || model.experts->dense_layers > 0 || model.experts->every > 1;
}

// What so many chips do not cut evenly ("heads 32"), or empty.
std::string uneven_part(const Model& model, int chips) {
  const auto part = [](const char* what, int size) { return what + (" " + std::to_string(size)); };
  if (model.heads % chips != 0) return part("heads", model.heads);
  if (!model.latent && model.kv_heads % chips != 0 && chips % model.kv_heads != 0)
    return part("kv_heads", model.kv_heads);
  if (has_dense_blocks(model) && model.ffn % chips != 0) return part("ffn", model.ffn);
  if (!model.experts) return "";
  const MixtureOfExperts& experts = *model.experts;
  if (experts.shared_ffn % chips != 0) return part("shared_ffn", experts.shared_ffn);
  if (experts.expert_ffn % chips != 0 && experts.experts % chips != 0)
    return part("experts", experts.experts) + " nor " + part("expert_ffn", experts.expert_ffn);
  return "";
}

}  // namespace

int chips_per_domain(const FabricSpec& fabric) {
  return std::min(kind_of(fabric).joined_chips(fabric), fabric.chips);
}

std::vector<int> replica_sizes(const Model& model, const FabricSpec& fabric) {
  std::vector<int> sizes;
  for (int chips = 1; chips <= std::min(chips_per_domain(fabric), model.heads); ++chips)
    if (uneven_part(model, chips).empty()) sizes.push_back(chips);
  return sizes;
}

std::string explain_invalid_replica(const Model& model, const FabricSpec& fabric, int chips) {
  const int domain = chips_per_domain(fabric);
  const std::string uneven = uneven_part(model, chips);
  if (chips <= domain && uneven.empty()) return "";
  const std::vector<int> sizes = replica_sizes(model, fabric);
  const auto above = std::ranges::upper_bound(sizes, chips);
  const std::string below = std::to_string(*(above - 1));
  const std::string nearest = above == sizes.end()
                                  ? "the nearest that works is " + below
                                  : "the nearest that work are " + below + " and " + std::to_string(*above);
  const std::string why = chips > domain ? " reaches beyond the " + std::to_string(domain) +
                                               " that are joined without the network between servers"
                                         : " does not divide " + uneven + " of " + model.name;
  return "a replica of " + std::to_string(chips) + " chips" + why + ": " + nearest;
}

}  // namespace podsim
