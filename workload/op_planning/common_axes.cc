// The axes per factor that a compiler chooses that counts elements, as Shardy does; docs/guide/sharding.md
// has the rule in words.
#include <algorithm>
#include <tuple>

#include "workload/op_planning/op_space.h"

namespace podsim {
namespace {

bool shares(Pile a, Pile b) {
  for (; a != 0; a = popped(a))
    for (Pile other = b; other != 0; other = popped(other))
      if (top(a) == top(other)) return true;
  return false;
}

// A tensor with a known layout.
struct Voter {
  const OpTensor* tensor;
  FactorPiles piles;

  bool has(std::size_t f) const { return has_factor(*tensor->map, f); }
  Pile used() const {
    Pile all = 0;
    for (Pile pile : piles)
      for (; pile != 0; pile = popped(pile)) all = inserted(all, top(pile));
    return all;
  }
};

class CommonAxes {
 public:
  explicit CommonAxes(const OpSpace& space) : space_(space) {
    for (const OpTensor& operand : space.operands()) voters_.push_back({&operand, operand.known_piles[0]});
    for (const OpTensor& result : space.results())
      if (!result.known.empty()) voters_.push_back({&result, result.known_piles[0]});
  }

  FactorPiles choose() {
    if (const auto piles = dot()) return *piles;
    if (const auto piles = agreed()) return *piles;
    if (const auto piles = of_two()) return *piles;
    return greedy();
  }

 private:
  FactorKind kind(std::size_t f) const { return space_.factor(f).kind; }

  bool any_kind(FactorKind wanted) const {
    for (std::size_t f = 0; f < space_.factors(); ++f)
      if (kind(f) == wanted) return true;
    return false;
  }

  bool compound() const {
    return std::any_of(voters_.begin(), voters_.end(), [](const Voter& voter) {
      return std::any_of(voter.tensor->map->begin(), voter.tensor->map->end(),
                         [](const std::vector<int>& dim) { return dim.size() > 1; });
    });
  }

  // No axis on two factors.
  static bool disjoint(const FactorPiles& piles) {
    for (std::size_t f = 0; f < piles.size(); ++f)
      for (std::size_t g = 0; g < f; ++g)
        if (shares(piles[f], piles[g])) return false;
    return true;
  }

  // Two operands that agree, and a small result that differs on one dimension only, where it wants the axes
  // of the contraction: the result is resharded.
  std::optional<FactorPiles> dot() const {
    if (voters_.size() != 3 || space_.operands().size() != 2 || compound()) return {};
    const Voter &lhs = voters_[0], &rhs = voters_[1], &out = voters_[2];
    FactorPiles piles(space_.factors());
    Pile contracted = 0;
    std::size_t differing = space_.factors();
    for (std::size_t f = 0; f < piles.size(); ++f) {
      const bool in_lhs = lhs.has(f), in_rhs = rhs.has(f);
      if (in_lhs && in_rhs && lhs.piles[f] != rhs.piles[f]) return {};
      piles[f] = in_lhs ? lhs.piles[f] : rhs.piles[f];
      if (kind(f) == FactorKind::kReduction) {
        contracted = contracted << (4 * height(piles[f])) | piles[f];
      } else if (kind(f) != FactorKind::kPassThrough) {
        return {};
      } else if (out.piles[f] != piles[f]) {
        if (differing != space_.factors()) return {};
        differing = f;
      }
    }
    if (differing == space_.factors() || piles[differing] == 0 || !disjoint(piles)) return {};
    const Voter& operand = lhs.has(differing) ? lhs : rhs;
    if (out.tensor->elements > operand.tensor->elements || out.piles[differing] != contracted) return {};
    return piles;
  }

  std::optional<FactorPiles> agreed() const {
    FactorPiles piles(space_.factors());
    for (std::size_t f = 0; f < piles.size(); ++f) {
      bool first = true;
      for (const Voter& voter : voters_) {
        if (!voter.has(f)) continue;
        if (!first && voter.piles[f] != piles[f]) return {};
        piles[f] = voter.piles[f];
        first = false;
      }
      if (kind(f) == FactorKind::kNeedReplication && piles[f] != 0) return {};
    }
    if (!disjoint(piles)) return {};
    return piles;
  }

  std::optional<FactorPiles> of_two() const {
    std::vector<const Voter*> tensors;
    for (const Voter& voter : voters_)
      if (!voter.tensor->map->empty()) tensors.push_back(&voter);
    if (tensors.size() != 2 || any_kind(FactorKind::kNeedReplication) || compound()) return {};
    const auto rank = [&](const Voter& voter) {
      bool moves = false;
      for (std::size_t f = 0; f < space_.factors(); ++f)
        moves |= kind(f) == FactorKind::kPermutation && voter.piles[f] != 0;
      return std::tuple(!moves, voter.tensor->elements, space_.shards(voter.used()));
    };
    return rank(*tensors[1]) > rank(*tensors[0]) ? tensors[1]->piles : tensors[0]->piles;
  }

  struct Candidate {
    std::size_t factor = 0;
    Pile pile = 0;
  };

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> all;
    for (const Voter& voter : voters_) {
      for (std::size_t f = 0; f < space_.factors(); ++f) {
        for (Pile pile = voter.piles[f]; pile != 0; pile = popped(pile)) {
          const bool known = std::any_of(all.begin(), all.end(),
                                         [&](const Candidate& c) { return c.factor == f && c.pile == pile; });
          if (!known) all.push_back({f, pile});
        }
      }
    }
    return all;
  }

  // Behind a factor that is not cut to single indices no minor one may be cut.
  bool eligible(const Candidate& candidate, const FactorPiles& piles) const {
    for (const Voter& voter : voters_) {
      for (const std::vector<int>& dim : *voter.tensor->map) {
        const auto here = std::find(dim.begin(), dim.end(), static_cast<int>(candidate.factor));
        if (here == dim.end()) continue;
        for (auto major = dim.begin(); major != here; ++major) {
          const auto f = static_cast<std::size_t>(*major);
          if (space_.shards(piles[f]) != space_.factor(f).size) return false;
        }
      }
    }
    return true;
  }

  // Compared in this order: elements of the tensors that have it, kind, shards gained, then the first.
  auto score(const Candidate& candidate, const FactorPiles& piles) const {
    double elements = 0;
    for (const Voter& voter : voters_)
      if (is_prefix(candidate.pile, voter.piles[candidate.factor])) elements += voter.tensor->elements;
    constexpr int kRank[] = {3, 2, 1, 0};  // pass-through, reduction, permutation, need-replication
    const std::int64_t gained = space_.shards(candidate.pile) / space_.shards(piles[candidate.factor]);
    return std::tuple(elements, kRank[static_cast<int>(kind(candidate.factor))], gained,
                      -static_cast<int>(candidate.factor));
  }

  // The pile up to where it meets the axes taken.
  static Pile truncated(Pile pile, Pile taken) {
    Pile kept = 0;
    for (int i = 0; i < height(pile); ++i) {
      if (shares(inserted(0, at_depth(pile, i)), taken)) break;
      kept = pushed(kept, at_depth(pile, i));
    }
    return kept;
  }

  FactorPiles greedy() const {
    FactorPiles piles(space_.factors());
    std::vector<Candidate> left = candidates();
    for (;;) {
      const Candidate* best = nullptr;
      for (const Candidate& candidate : left) {
        if (!eligible(candidate, piles)) continue;
        if (!best || score(candidate, piles) > score(*best, piles)) best = &candidate;
      }
      if (!best) break;
      const Candidate chosen = *best;
      piles[chosen.factor] = chosen.pile;
      std::vector<Candidate> next;
      for (Candidate candidate : left) {
        if (candidate.factor == chosen.factor) {
          if (candidate.pile == chosen.pile || !is_prefix(chosen.pile, candidate.pile)) continue;
        } else {
          candidate.pile = truncated(candidate.pile, chosen.pile);
          if (candidate.pile == piles[candidate.factor] || candidate.pile == 0) continue;
        }
        next.push_back(candidate);
      }
      left = std::move(next);
    }
    return without_need_replication(std::move(piles));
  }

  // Axes of factors that must be whole go, in order, to batching factors that have room.
  FactorPiles without_need_replication(FactorPiles piles) const {
    for (std::size_t f = 0; f < piles.size(); ++f) {
      if (kind(f) != FactorKind::kNeedReplication || piles[f] == 0) continue;
      const Pile moving = piles[f];
      piles[f] = 0;
      for (int i = 0; i < height(moving); ++i) {
        for (std::size_t g = 0; g < piles.size(); ++g) {
          const Pile more = pushed(piles[g], at_depth(moving, i));
          if (!batching(g) || space_.factor(g).size % space_.shards(more) != 0) continue;
          piles[g] = more;
          break;
        }
      }
    }
    return piles;
  }

  bool batching(std::size_t f) const {
    return kind(f) == FactorKind::kPassThrough &&
           std::all_of(voters_.begin(), voters_.end(), [&](const Voter& voter) { return voter.has(f); });
  }

  const OpSpace& space_;
  std::vector<Voter> voters_;
};

}  // namespace

FactorPiles common_piles(const OpSpace& space) { return CommonAxes(space).choose(); }

std::vector<AxisList> common_axes(const Mesh& mesh, const OpProblem& problem) {
  const SentBytes cost;
  const OpSpace space(mesh, problem, cost);
  return space.axes(common_piles(space));
}

}  // namespace podsim
