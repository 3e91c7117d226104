// Groups with as many members in every NVLink domain: what each of their chips carries, by closed form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "collectives/algorithms.h"
#include "collectives/library.h"
#include "collectives/ring_trunks.h"

namespace podsim {

// On a regular tree whose switches have as much above as below, no link between them is fuller than those of
// the chips, and in most algorithms all chips carry the same. So the links of one chip, of the busiest where
// they do not, tell what a plan takes, however many ranks it has.
class EvenGroup {
 public:
  // Nothing where members do not ascend or are not as many in each of several domains, where the fabric is no
  // such tree, or where plans have latencies of their own: those over a library have the library's. The
  // fabric must outlive the result. O(members).
  static std::optional<EvenGroup> of(const Fabric& fabric, std::span<const ChipId> group);
  // The same in O(chips of a row + starts); nothing either where rows or starts cut domains.
  static std::optional<EvenGroup> of(const Fabric& fabric, const StridedGroup& group);

  // What a library asks of the group, for plans of its own and for the times of any.
  const GroupShape& shape() const { return shape_; }

  // Whether the algorithm does not apply where plan() gives nothing; else that says nothing. Where it tells
  // of all algorithms that a library has, the best of them is found without a list of the members.
  bool tells(Algorithm algorithm, const Collective& collective) const;

  // The plan's phases with the loads of one chip only and without latencies. Nothing where the algorithm does
  // not apply, and of broadcasts, of what is between two ranks and of switches that reduce. O(1), of trees
  // O(domains).
  std::optional<Phases> plan(Algorithm algorithm, const Collective& collective) const;

  struct WithTrunks {
    Phases phases;
    std::vector<AlikeTrunks> trunks;  // of each load between switches, in order
  };
  // The same with loads of links between switches, each of which stands for all that are alike; of algorithms
  // with rings. REQUIRES: the group that this was made of.
  std::optional<WithTrunks> plan_with_trunks(Algorithm algorithm, const Collective& collective,
                                             const StridedGroup& group) const;

 private:
  // Shares of a message on either direction of a chip's own links.
  struct OwnShares {
    double nvlink = 0, nic = 0;
  };

  // Of so many members in each domain. `row`: members from the first on, the second of whom is in the first
  // domain where there are several; domains of the group that lie farther begin as these do, the last of them
  // `to_last` chips higher.
  EvenGroup(const Fabric& fabric, std::size_t ranks, std::size_t members, std::span<const ChipId> row,
            ChipId to_last);

  Phase phase(const OwnShares& shares, Bytes bytes) const;
  OwnShares channels() const;
  OwnShares trees(double nvlink) const;
  static OwnShares pairs(std::size_t ranks, std::size_t members);
  Phases rings_of_rails(const Collective& collective, int passes) const;
  Phases exchange_by_rails(const Collective& collective) const;

  const Fabric* fabric_;
  const RegularTree* tree_;
  ChipId chip_;                            // the first
  std::size_t ranks_, members_, domains_;  // `members_` of each domain
  GroupShape shape_;
};

}  // namespace podsim
