// What domains lack of a tensor, which slower links must bring. Part of reshard_space.h.
#include <algorithm>
#include <bit>

#include "workload/resharding/reshard_space.h"

namespace podsim {

void ReshardSpace::find_domains() {
  if (!timed_) return;
  for (int label = 1; label <= labels_; ++label)
    near_[static_cast<std::size_t>(label)] =
        cost_->neighbours_in_domain(atoms_[static_cast<std::size_t>(label) - 1]);
  for (int label = 1; label <= labels_; ++label) {
    const auto l = static_cast<std::size_t>(label);
    const int near = near_[l];
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
  knows_domains_ = true;
}

// A place of a dimension's index, written in bits from the major end, is one that a domain has in one value
// or in both. What it needs and lacks is counted where that is most.
ReshardSpace::DomainPart ReshardSpace::domain_part(std::size_t dim, Pile from, Pile to) const {
  constexpr std::size_t kMostBits = 40;
  DomainPart part{from, to};
  part.even = extents_[dim] % shards(from) == 0 && extents_[dim] % shards(to) == 0;
  if (!part.even || (from == 0 && to == 0)) return part;
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
  const std::size_t places = std::max(write(from, before), write(to, after));
  for (std::size_t place = 0; place < places; ++place) {
    if (after[place] != 0) part.wanted /= 2;
    if (after[place] == before[place]) continue;
    if (before[place] != 0) part.held = after[place] != 0 ? 0 : part.held / 2;
  }
  return part;
}

double ReshardSpace::bytes_from_afar(const PileState& from, const PileState& to) const {
  if (!knows_domains_ || to.at[kSums] != 0) return 0;
  double wanted = outside_, held = 1;
  constexpr std::size_t kKept = 32;  // of a dimension; a power of two
  if (domain_parts_.empty()) domain_parts_.resize(dims_.size() * kKept);
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    const Pile before = from.at[d], after = to.at[d];
    const Pile mixed = (before * 31 + after) * 0x9E3779B97F4A7C15u;
    DomainPart& part = domain_parts_[d * kKept + (mixed >> 32 & (kKept - 1))];
    if (part.from != before || part.to != after) part = domain_part(d, before, after);
    if (!part.even) return 0;
    wanted *= static_cast<double>(extents_[d]) * part.wanted;
    held *= part.held;
  }
  return wanted * (1 - held);
}

double ReshardSpace::at_least_from_afar(const PileState& from, const PileState& to) const {
  constexpr double kRounding = 1e-12;
  const double bytes = bytes_from_afar(from, to);
  return bytes <= 0 ? 0 : (1 - kRounding) * cost_->from_afar_at_least(Bytes{bytes});
}

// To each member its own comes in an all-to-all. Of what is gathered one copy comes to a domain, and of what
// is summed up there one sum leaves it, over the links of its members.
double ReshardSpace::price_at_least(CollectiveKind kind, Pile labels, double bytes) const {
  const auto members = static_cast<double>(shards(labels));
  const double least = at_least(bytes * (1 - 1 / members));
  double near = 1;
  for (Pile rest = labels; rest != 0; rest = popped(rest)) near *= near_[static_cast<std::size_t>(top(rest))];
  if (near == 0 || near >= members) return least;
  const double from_afar = bytes * (1 - near / members);
  return std::max(least, cost_->to_chip_from_afar_at_least(
                             Bytes{kind == CollectiveKind::kAllToAll ? from_afar : from_afar / near}));
}

}  // namespace podsim
