// Classes of the links between the switches of a regular tree, by what they carry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduler/folding/group_graph.h"
#include "scheduler/traffic/tree_places.h"

namespace podsim {

// One way above switches of a tier, one after the other; of leaves, above those of one rail.
struct TrunkRun {
  TreeWay way;
  NodeId first;  // switch
  std::int32_t switches;
};

// Such links never limit: they are alike when they carry the same of groups of the same classes. What comes
// is kept for the links where it changes.
class TrunkClasses {
 public:
  // The tree must outlive this.
  explicit TrunkClasses(const RegularTree& tree) : tree_(tree), trunks_(tree), more_(all()) {}

  // Each link of the run carries so much more. O(1), as it is kept where the run begins and behind its end.
  void add(const TrunkRun& run, Colour carried);

  struct Class {
    LinkId first;        // by number
    std::int64_t links;  // that are in it
  };
  // Numbers the classes by their first links, once all was added. O(links between switches).
  std::vector<Class> number();

  // visit(class) for each whose first link is in the run, once they have numbers.
  template <class Visit>
  void for_each_first(const TrunkRun& run, Visit&& visit) const {
    const std::int32_t begin = trunk(run.way, run.first), step = step_of(run.way);
    auto first = std::ranges::lower_bound(firsts_, begin, {}, &First::trunk);
    for (; first != firsts_.end() && first->trunk < begin + run.switches * step; ++first)
      if ((first->trunk - begin) % step == 0) visit(first->number);
  }

  // Links that carry the same, `step` trunks apart (TreeTrunks), and their class.
  struct Alike {
    std::int32_t trunk, count, step, number;
  };
  // Of all tiers. Leaves none.
  std::vector<Alike> take_runs() { return std::move(runs_); }

 private:
  struct First {
    std::int32_t trunk, number;
  };

  std::size_t all() const { return static_cast<std::size_t>(trunks_.count()); }
  std::int32_t trunk(TreeWay way, NodeId of) const { return trunks_.of({of, false, way_leads_down(way)}); }
  std::int32_t step_of(TreeWay way) const { return 2 * tree_.tier(tier_of_way(way)).in_set; }
  std::int32_t end_of_tier(std::size_t t) const {
    return trunk(way_of_tier(t, false), tree_.tier(t).first) + 2 * tree_.tier(t).switches;
  }
  void find_runs(std::size_t tier);

  const RegularTree& tree_;
  TreeTrunks trunks_;
  std::vector<Colour> more_;     // [trunk] than the one a step before it; of the first ones of a tier all
  std::vector<Colour> carried_;  // [run]
  std::vector<Alike> runs_;
  std::vector<First> firsts_;  // by trunk
};

}  // namespace podsim
