// What islands of chips lack of a tensor, which slower links must bring. Part of reshard_space.h.
#include <algorithm>
#include <bit>

#include "workload/resharding/reshard_space.h"

namespace podsim {

void ReshardSpace::find_islands() {
  if (!timed_) return;
  for (int label = 1; label <= labels_; ++label) {
    const auto l = static_cast<std::size_t>(label);
    const int near = cost_->on_island(atoms_[l - 1]);
    if (near == 0 || !std::has_single_bit(static_cast<unsigned>(near)) ||
        !std::has_single_bit(static_cast<unsigned>(sizes_[l])))
      return;
    bits_[l] = std::countr_zero(static_cast<unsigned>(sizes_[l]));
    near_bits_[l] = std::countr_zero(static_cast<unsigned>(near));
  }
  for (const std::vector<Block>& dim : blocks_) {
    if (dim.size() != 1) return;
    for (int label = 1; label <= labels_; ++label)
      if (!dim.front().cut[static_cast<std::size_t>(label)]) return;
  }
  islands_ = true;
}

// A place of a dimension's index, written in bits from the major end, is one that an island has in one value
// or in both. What it needs and lacks is counted where that is most.
double ReshardSpace::bytes_from_afar(const PileState& from, const PileState& to) const {
  if (!islands_ || to.at[kSums] != 0) return 0;
  constexpr std::size_t kMostBits = 40;
  double wanted = outside_, held = 1;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (extents_[d] % shards(from.at[d]) != 0 || extents_[d] % shards(to.at[d]) != 0) return 0;
    wanted *= static_cast<double>(extents_[d]);
    if (from.at[d] == 0 && to.at[d] == 0) continue;
    std::array<int, kMostBits> before{}, after{};  // which bit of which label decides; 0 = both values
    const auto write = [&](Pile pile, std::array<int, kMostBits>& bits) {
      std::size_t place = 0;
      for (int i = 0; i < height(pile); ++i) {
        const auto label = static_cast<std::size_t>(at_depth(pile, i));
        const int far = bits_[label] - near_bits_[label];
        for (int bit = 0; bit < bits_[label]; ++bit, ++place)
          bits[place] = bit < far ? static_cast<int>(label) * 64 + bit : 0;
      }
      return place;
    };
    const std::size_t places = std::max(write(from.at[d], before), write(to.at[d], after));
    for (std::size_t place = 0; place < places; ++place) {
      if (after[place] != 0) wanted /= 2;
      if (after[place] == before[place]) continue;
      if (before[place] != 0) held = after[place] != 0 ? 0 : held / 2;
    }
  }
  return wanted * (1 - held);
}

double ReshardSpace::at_least_from_afar(const PileState& from, const PileState& to) const {
  constexpr double kRounding = 1e-12;
  const double bytes = bytes_from_afar(from, to);
  return bytes <= 0 ? 0 : (1 - kRounding) * cost_->from_afar_at_least(Bytes{bytes});
}

}  // namespace podsim
