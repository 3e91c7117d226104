// Takes a share of the passes of the largest microbatch over every layer.
#include "planner/bounds/lighter_stems.h"

#include <algorithm>

#include "engine/check.h"
#include "planner/bounds/stem_bounds.h"

namespace podsim {
namespace {

bool cuts_more_than_state(const JobLayout& stem) { return stem.sharding > StateSharding::kZero1; }

// What lies outside passes does not grow with the microbatch, and counts as nothing. Nor does what a chip
// waits for with no computation between where `beside`: weights that have been gathered are copied beside it.
PieceSeconds share_of(const PieceSeconds& piece, double share, bool beside) {
  PieceSeconds result;
  for (std::size_t p = 0; p < std::size(piece.of_pass); ++p) {
    const PieceSeconds::OfPass& pass = piece.of_pass[p];
    result.of_pass[p] = {.chip = share * pass.chip,
                         .compute = share * pass.compute,
                         .blocked = beside ? 0 : share * pass.blocked,
                         .host = share * pass.host,
                         .gathers = 0,
                         .gradients = 0,
                         .activations = share * pass.activations,
                         .weights = {}};
  }
  result.forward = piece.forward;
  result.backward_beside = piece.backward_beside;
  for (std::vector<LoneOp>* ops : {&result.forward, &result.backward_beside})
    for (LoneOp& op : *ops) op.seconds *= share;
  return result;
}

}  // namespace

LighterStems::LighterStems(const Space& space)
    : space_(space), routes_(space.spec().job.model.experts.has_value()) {
  for (const JobLayout& stem : space.stems())
    if (auto key = whole(stem)) {
      key->microbatch = 0;
      microbatches_[*key].insert(stem.microbatch);
    }
}

// But for its microbatch.
std::optional<JobLayout> LighterStems::whole(JobLayout stem) const {
  const bool cut = cuts_more_than_state(stem);
  stem.recompute_layers = 0;
  JobLayout all = stem;
  all.sharding = StateSharding::kDdp;
  all.group = all.data = all.pipeline = 1;
  const bool shared = shares_passes(space_, all);
  if (cut && (routes_ || !shared)) return std::nullopt;
  if (!shared) return stem;
  all.pipeline = space_.spec().cluster.fabric.chips / all.chips();
  return canonical(all);
}

std::optional<JobLayout> LighterStems::of(const JobLayout& stem) const {
  std::optional<JobLayout> lighter = whole(stem);
  if (!lighter) return lighter;
  JobLayout key = *lighter;
  key.microbatch = 0;
  for (const int size : microbatches_.at(key))
    if (size % stem.microbatch == 0) lighter->microbatch = size;
  return lighter;
}

std::vector<std::vector<JobLayout>> LighterStems::by_mesh(const std::vector<JobLayout>& stems) const {
  return stems_by_mesh(stems, [this](const JobLayout& stem) { return of(stem).value_or(stem); });
}

const StageTimes& LighterTables::times(const JobLayout& stem) {
  const auto found = lighter_.of(stem);
  PODSIM_CHECK(found.has_value(), "the stem has a lighter one");
  const JobLayout& lighter = *found;
  if (layout_ != lighter) of_stem_.clear();
  layout_ = lighter;
  const bool cut = cuts_more_than_state(stem);
  const auto [known, is_new] = of_stem_.try_emplace({stem.microbatch, cut});
  if (!is_new) return known->second;
  const StageTimes& all = tables_.times(lighter);
  const std::vector<ModelPart>& parts = tables_.space().model().parts;
  known->second.skew = all.skew;
  for (std::size_t i = 0; i < all.pieces.size(); ++i)
    known->second.pieces.push_back(
        parts[i % parts.size()].layer
            ? share_of(all.pieces[i], static_cast<double>(stem.microbatch) / lighter.microbatch, cut)
            : PieceSeconds{});
  return known->second;
}

Time LighterTables::bound(const JobLayout& stem, const std::vector<JobLayout>& leaves) {
  if (!lighter_.of(stem)) return {};
  constexpr double kRounding = 1e-5;  // operations of whole picoseconds, and shares of them
  return rounded_down((1 - kRounding) * tables_.bound_s(times(stem), leaves));
}

}  // namespace podsim
