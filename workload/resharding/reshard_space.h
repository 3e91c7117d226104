// The layouts of one tensor as piles of atoms: the space in which reshard plans are searched.
//
// An atom is an axis, or a piece of one, that no plan cuts further. Each dimension holds a pile of labels,
// the minor end on top. In the exact space a label is one atom. In the relaxed space a label is a class of
// atoms that cost the same (equal size, cutting the same blocks), because a permute relabels them for one
// price.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/check.h"
#include "workload/resharding/reshard_plan.h"

namespace podsim {

// Labels from 1 to 15, four bits each, the top in the lowest bits.
using Pile = std::uint64_t;
inline constexpr int kMaxLabels = 15;
inline constexpr int kMaxDims = 8;
inline constexpr int kSums = kMaxDims;  // place of the unreduced labels, kept sorted

struct PileState {
  std::array<Pile, kMaxDims + 1> at{};
  friend bool operator==(const PileState&, const PileState&) = default;
};

inline int top(Pile pile) { return static_cast<int>(pile & 15); }  // 0 when empty
inline Pile pushed(Pile pile, int label) { return pile << 4 | static_cast<Pile>(label); }
inline Pile popped(Pile pile) { return pile >> 4; }
int height(Pile pile);
bool is_prefix(Pile part, Pile whole);  // `whole` begins, from its bottom, with `part`
Pile common_prefix(Pile a, Pile b);
int at_depth(Pile pile, int from_bottom);  // REQUIRES: below its height
Pile inserted(Pile sorted, int label);     // into a sorted pile
Pile removed(Pile sorted, int label);      // one of it. REQUIRES: it is there
// Labels of the sorted pile `a` beyond those of `b`, each as often as it is more in `a`.
Pile difference(Pile a, Pile b);

// Product of `size(label)` over its labels.
template <class Size>
std::int64_t product_of(Pile pile, const Size& size) {
  std::int64_t product = 1;
  for (; pile != 0; pile = popped(pile)) product *= size(top(pile));
  return product;
}

// How often each label occurs; index 0 unused.
using LabelCounts = std::array<std::uint8_t, kMaxLabels + 1>;

enum class AtomCut : std::uint8_t {
  kAsLaidOut,          // where `from` or `to` cut an axis
  kSmallFactorsMajor,  // and into factors that the sizes share: of unequal ones the smaller is major
  kLargeFactorsMajor   // likewise, the larger is
};
// Axes of the mesh longer than one, cut so.
std::vector<AxisRef> cut_into_atoms(const Mesh& mesh, const Layout& from, const Layout& to, AtomCut by);

class ReshardSpace {
 public:
  // The exact space over dimensions `dims` of the tensor. REQUIRES: at most kMaxLabels atoms, kMaxDims dims.
  ReshardSpace(const TensorShape& shape, const std::vector<int>& dims, const std::vector<AxisRef>& atoms,
               const CostModel& cost);
  // The space of classes. REQUIRES: the cost is not timed, so that equal atoms cost the same.
  ReshardSpace relaxed() const;

  int dims() const { return static_cast<int>(dims_.size()); }
  int labels() const { return labels_; }
  int size(int label) const { return sizes_[static_cast<std::size_t>(label)]; }
  // Of labels that cost the same. REQUIRES: the cost is not timed.
  int class_of(int label) const {
    PODSIM_CHECK(!timed_, "atoms have classes only where time does not decide");
    return classes_[static_cast<std::size_t>(label)];
  }
  bool timed() const { return timed_; }

  PileState state_of(const Layout& layout) const;
  // `others` = what dimensions outside the space have.
  Layout layout_of(const PileState& state, const Layout& others) const;
  AxisList axes_of(Pile labels) const;  // canonical; exact space only
  PileState relaxed(const PileState& exact) const;
  LabelCounts unused(const PileState& state) const;

  std::int64_t shards(Pile pile) const;                                                   // product of sizes
  std::int64_t extent(int dim) const { return extents_[static_cast<std::size_t>(dim)]; }  // global size
  int tensor_dim(int dim) const { return dims_[static_cast<std::size_t>(dim)]; }
  double bytes(const PileState& state) const;        // of one device, padded
  double ideal_bytes(const PileState& state) const;  // without padding
  // What a device sends at least on any way, by sizes alone: its block grows; of partial sums every term but
  // one is sent once for each element, and every copy of the sum but the first.
  double bytes_grown(const PileState& from, const PileState& to) const;
  // The same, knowing what a device holds: the part of its block in `to` that it lacks in `from`, where that
  // is largest. Exact space.
  double bytes_missing(const PileState& from, const PileState& to) const;

  // What it takes at least that the chips of a domain together lack some of their blocks, on any way.
  double at_least_from_afar(const PileState& from, const PileState& to) const;
  double at_least_between(const PileState& from, const PileState& to) const {
    return std::max(at_least(bytes_missing(from, to)), at_least_from_afar(from, to));
  }

  // One collective over the labels, in the cost model's unit.
  double price(CollectiveKind kind, Pile labels, double bytes) const;
  // What no collective but a permute costs less than: all but a device's own share has to come to it, or
  // leave it, and what is in other domains over the slower links.
  double price_at_least(CollectiveKind kind, Pile labels, double bytes) const;
  double sent(CollectiveKind kind, Pile labels, double bytes) const;
  double at_least(double bytes) const { return cost_->at_least(Bytes{bytes}); }
  // Labels of atoms that lie on another place, or as another digit, after a permute. Exact space.
  Pile moved(const PileState& before, const PileState& after) const;

 private:
  struct Block {
    double size;
    std::array<bool, kMaxLabels + 1> cut;  // by label
  };
  struct Length {
    Pile pile = ~Pile{0};
    double local = 0, ideal = 0;  // with and without padding
  };
  // Of one dimension: the share of its length that a domain wants, and the share of that which it holds.
  // Products of halves, so that they are exact.
  struct DomainPart {
    Pile from = ~Pile{0}, to = 0;
    double wanted = 1, held = 1;
    bool even = true;  // it divides by its pieces, or nothing is known
  };
  struct Price {
    Pile labels = 0;
    double bytes = -1, value = 0;
    CollectiveKind kind = CollectiveKind::kBarrier;
  };

  void classify();
  void find_domains();
  DomainPart domain_part(std::size_t dim, Pile from, Pile to) const;
  double bytes_from_afar(const PileState& from, const PileState& to) const;
  const Length& length(std::size_t dim, Pile pile) const;

  std::vector<int> dims_;
  std::vector<std::vector<Block>> blocks_;  // [dim]
  std::vector<std::int64_t> extents_;       // [dim]
  double outside_ = 1;                      // bytes of one element over the dimensions outside
  std::vector<AxisRef> atoms_;              // [label - 1]
  int labels_ = 0;
  std::array<int, kMaxLabels + 1> sizes_{}, classes_{};
  LabelCounts total_{};
  std::array<int, kMaxLabels + 1> near_{};  // neighbours along a label in one domain; 0 = unknown
  bool knows_domains_ = false;              // chips lie in some, and digits are bits
  std::array<int, kMaxLabels + 1> bits_{}, near_bits_{};  // of a label's digit; the last, within a domain
  const CostModel* cost_;
  bool timed_;
  mutable std::vector<Length> lengths_;           // memo, direct mapped by dimension
  mutable std::vector<Price> prices_;             // memo of a timed model, direct mapped
  mutable std::vector<DomainPart> domain_parts_;  // memo, direct mapped by dimension
};

}  // namespace podsim
