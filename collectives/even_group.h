// Groups with as many members in every NVLink domain: what each of their chips carries, by closed form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "collectives/algorithms.h"

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

  // The plan's phases with the loads of one chip only and without latencies. Nothing where the algorithm does
  // not apply, and of broadcasts, of what is between two ranks and of switches that reduce. O(1), of trees
  // O(domains).
  std::optional<Phases> plan(Algorithm algorithm, const Collective& collective) const;

  // The same with the loads of all links between switches, of algorithms with rings. REQUIRES: the group that
  // this was made of. O(members).
  std::optional<Phases> plan_with_trunks(Algorithm algorithm, const Collective& collective,
                                         std::span<const ChipId> group) const;

 private:
  // Shares of a message on either direction of a chip's own links.
  struct OwnShares {
    double nvlink = 0, nic = 0;
  };

  EvenGroup(const Fabric& fabric, ChipId chip, std::size_t ranks, std::size_t members)
      : tree_(fabric.tree()),
        nvls_(fabric.nvls),
        chip_(chip),
        ranks_(ranks),
        members_(members),
        domains_(ranks / members) {}

  void add_trunks(bool closes_aside, bool both_ways, std::span<const ChipId> group, LoadSum& sum) const;
  Phase phase(const OwnShares& shares, Bytes bytes) const;
  OwnShares channels() const;
  OwnShares trees(double nvlink) const;
  static OwnShares pairs(std::size_t ranks, std::size_t members);
  Phases rings_of_rails(const Collective& collective, int passes) const;
  Phases exchange_by_rails(const Collective& collective) const;

  const RegularTree* tree_;
  bool nvls_;
  ChipId chip_;                            // the first
  std::size_t ranks_, members_, domains_;  // `members_` of each domain
};

}  // namespace podsim
