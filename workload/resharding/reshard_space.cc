// The layouts of one tensor as piles of atoms: the space in which reshard plans are searched.
#include "workload/resharding/reshard_space.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "engine/check.h"

namespace podsim {
namespace {

// Few labels make few states, and spaces are made more often than they are searched. Powers of two.
std::size_t lengths_kept(int labels) { return std::size_t{4} << std::min(labels, 4); }
std::size_t prices_kept(int labels) { return std::size_t{16} << std::min(labels, 4); }

// Numbers that share no factor, and of which every given size is a product.
std::vector<int> coprime_base(std::vector<int> sizes) {
  std::set<int> base;
  while (!sizes.empty()) {
    int size = sizes.back();
    sizes.pop_back();
    if (size == 1) continue;
    const auto other =
        std::find_if(base.begin(), base.end(), [&](int b) { return b != size && std::gcd(b, size) > 1; });
    if (other == base.end()) {
      base.insert(size);
      continue;
    }
    const int shared = std::gcd(*other, size);
    const int rest = *other / shared;
    base.erase(other);
    sizes.insert(sizes.end(), {shared, rest, size / shared});
  }
  return {base.begin(), base.end()};
}

// The piece cut into members of the base, or as it is where they do not make it up.
std::vector<AxisRef> cut_piece(const AxisRef& piece, const std::vector<int>& base, AtomCut by) {
  std::vector<int> sizes;
  int rest = piece.size;
  for (const int b : base) {
    for (; rest % b == 0; rest /= b) sizes.push_back(b);
  }
  if (rest != 1) return {piece};
  if (by == AtomCut::kLargeFactorsMajor) std::reverse(sizes.begin(), sizes.end());
  std::vector<AxisRef> atoms;
  int pre = piece.pre;
  for (const int size : sizes) {
    atoms.push_back({piece.axis, pre, size});
    pre *= size;
  }
  return atoms;
}

std::vector<const AxisList*> axis_lists(const Layout& from, const Layout& to) {
  std::vector<const AxisList*> lists{&from.unreduced, &to.unreduced};
  for (const AxisList& dim : from.dims) lists.push_back(&dim);
  for (const AxisList& dim : to.dims) lists.push_back(&dim);
  return lists;
}

}  // namespace

int height(Pile pile) { return (std::bit_width(pile) + 3) / 4; }

bool is_prefix(Pile part, Pile whole) {
  const int more = height(whole) - height(part);
  return more >= 0 && whole >> (4 * more) == part;
}

Pile common_prefix(Pile a, Pile b) {
  while (!is_prefix(a, b)) a = popped(a);
  return a;
}

int at_depth(Pile pile, int from_bottom) {
  const int above = height(pile) - 1 - from_bottom;
  PODSIM_CHECK(from_bottom >= 0 && above >= 0, "a label of the pile lies there");
  return top(pile >> (4 * above));
}

Pile inserted(Pile sorted, int label) {
  int shift = 0;
  while (top(sorted >> shift) > label) shift += 4;
  const Pile below = sorted & ((Pile{1} << shift) - 1);
  return pushed(sorted >> shift, label) << shift | below;
}

Pile removed(Pile sorted, int label) {
  int shift = 0;
  for (; top(sorted >> shift) != label; shift += 4)
    PODSIM_CHECK(sorted >> shift != 0, "the label is in the pile");
  const Pile below = sorted & ((Pile{1} << shift) - 1);
  return popped(sorted >> shift) << shift | below;
}

Pile difference(Pile a, Pile b) {
  Pile left = 0;
  for (; a != 0; a = popped(a)) {
    while (top(b) > top(a)) b = popped(b);
    if (top(b) == top(a)) {
      b = popped(b);
    } else {
      left = inserted(left, top(a));
    }
  }
  return left;
}

std::vector<AxisRef> cut_into_atoms(const Mesh& mesh, const Layout& from, const Layout& to, AtomCut by) {
  std::vector<std::set<int>> cuts(mesh.axes.size());
  std::vector<bool> used(mesh.axes.size());
  for (const AxisList* list : axis_lists(from, to)) {
    for (const AxisRef& ref : *list) {
      const auto axis = static_cast<std::size_t>(ref.axis);
      cuts[axis].insert(ref.pre);
      cuts[axis].insert(ref.pre * ref.size);
      used[axis] = true;
    }
  }
  std::vector<AxisRef> pieces;
  std::vector<int> sizes;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    cuts[axis].insert(mesh.axes[axis].size);
    int pre = 1;
    for (const int cut : cuts[axis]) {
      if (cut == pre) continue;
      PODSIM_CHECK(cut % pre == 0, "pieces of one axis are cut at boundaries that divide each other");
      pieces.push_back({static_cast<int>(axis), pre, cut / pre});
      if (used[axis]) sizes.push_back(cut / pre);
      pre = cut;
    }
  }
  if (by == AtomCut::kAsLaidOut) return pieces;
  const std::vector<int> base = coprime_base(sizes);
  std::vector<AxisRef> atoms;
  for (const AxisRef& piece : pieces) {
    const std::vector<AxisRef> cut = cut_piece(piece, base, by);
    atoms.insert(atoms.end(), cut.begin(), cut.end());
  }
  return atoms;
}

ReshardSpace::ReshardSpace(const TensorShape& shape, const std::vector<int>& dims,
                           const std::vector<AxisRef>& atoms, const CostModel& cost)
    : dims_(dims),
      outside_(shape.element_bytes),
      atoms_(atoms),
      labels_(static_cast<int>(atoms.size())),
      cost_(&cost),
      timed_(cost.timed()) {
  PODSIM_CHECK(atoms.size() <= kMaxLabels, "every atom has a label");
  PODSIM_CHECK(dims.size() <= kMaxDims, "every dimension has a pile");
  for (std::size_t label = 1; label <= atoms.size(); ++label) {
    sizes_[label] = atoms[label - 1].size;
    total_[label] = 1;
  }
  for (const int d : dims) {
    const TensorDim& dim = shape.dims[static_cast<std::size_t>(d)];
    std::vector<Block>& blocks = blocks_.emplace_back();
    std::int64_t extent = 0;
    for (const DimBlock& block : dim.blocks) {
      extent += block.size;
      Block& mine = blocks.emplace_back(Block{static_cast<double>(block.size), {}});
      for (std::size_t label = 1; label <= atoms.size(); ++label)
        mine.cut[label] = (block.cut >> atoms[label - 1].axis & 1) != 0;
    }
    extents_.push_back(extent);
  }
  lengths_.resize(dims.size() * lengths_kept(labels_));
  if (!timed_) classify();
  find_domains();
}

void ReshardSpace::classify() {
  int count = 0;
  for (int label = 1; label <= labels_; ++label) {
    const auto l = static_cast<std::size_t>(label);
    for (int other = 1; other < label && classes_[l] == 0; ++other) {
      const auto o = static_cast<std::size_t>(other);
      bool alike = sizes_[l] == sizes_[o];
      for (const std::vector<Block>& dim : blocks_)
        for (const Block& block : dim) alike &= block.cut[l] == block.cut[o];
      if (alike) classes_[l] = classes_[o];
    }
    if (classes_[l] == 0) classes_[l] = ++count;
  }
}

ReshardSpace ReshardSpace::relaxed() const {
  PODSIM_CHECK(!timed_, "atoms that are alike cost the same only where time does not decide");
  ReshardSpace space = *this;
  space.total_ = {};
  space.lengths_.assign(lengths_.size(), {});
  space.labels_ = 0;
  for (int label = 1; label <= labels_; ++label) {
    const auto from = static_cast<std::size_t>(label);
    const auto to = static_cast<std::size_t>(class_of(label));
    ++space.total_[to];
    space.sizes_[to] = sizes_[from];
    space.classes_[to] = class_of(label);
    space.labels_ = std::max(space.labels_, class_of(label));
    for (std::size_t d = 0; d < blocks_.size(); ++d)
      for (std::size_t b = 0; b < blocks_[d].size(); ++b)
        space.blocks_[d][b].cut[to] = blocks_[d][b].cut[from];
  }
  return space;
}

PileState ReshardSpace::state_of(const Layout& layout) const {
  PileState state;
  const auto push = [&](Pile pile, const AxisRef& ref) {
    int pre = ref.pre;
    for (std::size_t label = 1; label <= atoms_.size() && pre < ref.pre * ref.size; ++label) {
      const AxisRef& atom = atoms_[label - 1];
      if (atom.axis != ref.axis || atom.pre != pre) continue;
      pile = pushed(pile, static_cast<int>(label));
      pre *= atom.size;
    }
    return pile;
  };
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    for (const AxisRef& ref : layout.dims[static_cast<std::size_t>(dims_[d])])
      state.at[d] = push(state.at[d], ref);
  }
  Pile sums = 0;
  for (const AxisRef& ref : layout.unreduced) sums = push(sums, ref);
  for (; sums != 0; sums = popped(sums)) state.at[kSums] = inserted(state.at[kSums], top(sums));
  return state;
}

AxisList ReshardSpace::axes_of(Pile labels) const {
  AxisList axes;
  for (; labels != 0; labels = popped(labels))
    axes.push_back(atoms_[static_cast<std::size_t>(top(labels)) - 1]);
  return canonical(std::move(axes));
}

Layout ReshardSpace::layout_of(const PileState& state, const Layout& others) const {
  Layout layout = others;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    AxisList axes;
    for (int i = 0; i < height(state.at[d]); ++i)
      axes.push_back(atoms_[static_cast<std::size_t>(at_depth(state.at[d], i)) - 1]);
    layout.dims[static_cast<std::size_t>(dims_[d])] = merged(std::move(axes));
  }
  layout.unreduced = axes_of(state.at[kSums]);
  return layout;
}

PileState ReshardSpace::relaxed(const PileState& exact) const {
  PileState classes;
  for (std::size_t place = 0; place < exact.at.size(); ++place) {
    for (int i = 0; i < height(exact.at[place]); ++i) {
      const int label = class_of(at_depth(exact.at[place], i));
      classes.at[place] =
          place == kSums ? inserted(classes.at[place], label) : pushed(classes.at[place], label);
    }
  }
  return classes;
}

LabelCounts ReshardSpace::unused(const PileState& state) const {
  LabelCounts left = total_;
  for (Pile pile : state.at)
    for (; pile != 0; pile = popped(pile)) --left[static_cast<std::size_t>(top(pile))];
  return left;
}

std::int64_t ReshardSpace::shards(Pile pile) const {
  return product_of(pile, [this](int label) { return size(label); });
}

const ReshardSpace::Length& ReshardSpace::length(std::size_t dim, Pile pile) const {
  const std::size_t kept = lengths_kept(labels_);
  Length& entry = lengths_[dim * kept + (pile * 0x9E3779B97F4A7C15u >> 32 & (kept - 1))];
  if (entry.pile == pile) return entry;
  entry = {pile, 0, static_cast<double>(extents_[dim]) / static_cast<double>(shards(pile))};
  for (const Block& block : blocks_[dim]) {
    double count = 1;
    for (; pile != 0; pile = popped(pile))
      if (block.cut[static_cast<std::size_t>(top(pile))]) count *= size(top(pile));
    entry.local += std::ceil(block.size / count);
    pile = entry.pile;
  }
  return entry;
}

double ReshardSpace::bytes(const PileState& state) const {
  double product = outside_;
  for (std::size_t d = 0; d < dims_.size(); ++d) product *= length(d, state.at[d]).local;
  return product;
}

double ReshardSpace::ideal_bytes(const PileState& state) const {
  double product = outside_;
  for (std::size_t d = 0; d < dims_.size(); ++d) product *= length(d, state.at[d]).ideal;
  return product;
}

double ReshardSpace::bytes_grown(const PileState& from, const PileState& to) const {
  const std::int64_t before = shards(from.at[kSums]), after = shards(to.at[kSums]);
  const bool padded = to.at[kSums] != 0;  // then a block may grow by zero padding, for nothing
  if (padded && after >= before) return 0;
  const double size = ideal_bytes(from), wanted = ideal_bytes(to);
  if (before <= after) return std::max(0.0, wanted - size);
  double copies = 1;
  const LabelCounts left = unused(from);
  for (int label = 1; label <= labels_; ++label)
    for (int i = 0; i < left[static_cast<std::size_t>(label)]; ++i) copies *= this->size(label);
  const double terms = static_cast<double>(before) / static_cast<double>(after);
  const double summed = size / copies / terms;
  return (terms - 1) * summed + (padded ? 0 : std::max(0.0, wanted - summed));
}

double ReshardSpace::bytes_missing(const PileState& from, const PileState& to) const {
  if (from.at[kSums] != to.at[kSums] || to.at[kSums] != 0) return bytes_grown(from, to);
  double held = 1;  // share of the wanted block
  for (std::size_t d = 0; d < dims_.size() && held > 0; ++d) {
    const int before = height(from.at[d]), after = height(to.at[d]);
    int same = 0;
    while (same < before && same < after && at_depth(from.at[d], same) == at_depth(to.at[d], same)) ++same;
    if (same < before && same < after) held = 0;  // some device holds nothing of what it needs
    for (int i = same; i < before; ++i) held /= size(at_depth(from.at[d], i));
  }
  return ideal_bytes(to) * (1 - held);
}

double ReshardSpace::sent(CollectiveKind kind, Pile labels, double bytes) const {
  return sent_bytes(kind, static_cast<int>(shards(labels)), Bytes{bytes}).value;
}

double ReshardSpace::price(CollectiveKind kind, Pile labels, double bytes) const {
  if (!timed_) return sent(kind, labels, bytes);
  if (prices_.empty()) prices_.resize(prices_kept(labels_));
  Pile sorted = 0;
  for (; labels != 0; labels = popped(labels)) sorted = inserted(sorted, top(labels));
  const std::size_t slot = (sorted * 0x9E3779B97F4A7C15u >> 40 ^ std::bit_cast<std::uint64_t>(bytes) >> 45 ^
                            static_cast<std::size_t>(kind)) &
                           (prices_.size() - 1);
  Price& entry = prices_[slot];
  if (entry.labels != sorted || entry.bytes != bytes || entry.kind != kind)
    entry = {sorted, bytes, cost_->collective(kind, axes_of(sorted), Bytes{bytes}), kind};
  return entry.value;
}

Pile ReshardSpace::moved(const PileState& before, const PileState& after) const {
  std::array<std::pair<int, std::int64_t>, kMaxLabels + 1> was{}, is{};  // place + 1 and more major shards
  const auto note = [&](const PileState& state, auto& places) {
    for (std::size_t place = 0; place < state.at.size(); ++place) {
      std::int64_t major = 1;
      for (int i = 0; i < height(state.at[place]); ++i) {
        const int label = at_depth(state.at[place], i);
        places[static_cast<std::size_t>(label)] = {static_cast<int>(place) + 1, place == kSums ? 1 : major};
        major *= size(label);
      }
    }
  };
  note(before, was);
  note(after, is);
  Pile labels = 0;
  for (int label = 1; label <= labels_; ++label) {
    const auto l = static_cast<std::size_t>(label);
    if (was[l] != is[l]) labels = inserted(labels, label);
  }
  return labels;
}

}  // namespace podsim
