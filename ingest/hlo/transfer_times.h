// How long a collective takes of whose groups all are at it at once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collectives/collective.h"
#include "ingest/hlo/module.h"
#include "ingest/hlo/replica_groups.h"
#include "scheduler/placement/crowd.h"
#include "topology/fabric.h"

namespace podsim::hlo {

class TransferTimes {
 public:
  // REQUIRES: both outlive this; the fabric has a chip for every device.
  TransferTimes(const Module& module, const Fabric& fabric)
      : module_(module), fabric_(fabric), crowd_(fabric) {}

  // Of the slowest group, with what the others put on its links; device i is chip i. `operands` in bytes, of
  // a device.
  double seconds(const Instruction& collective, CollectiveKind kind, double operands);

 private:
  using Groups = Crowd::Groups;
  const Groups& groups_of(const Instruction& collective);
  double slowest(const Groups& groups, CollectiveKind kind, double operands) const;
  double together(const Groups& groups, const std::vector<CollectivePlan>& plans) const;

  const Module& module_;
  const Fabric& fabric_;
  Crowd crowd_;
  std::map<std::string, Groups> groups_;  // [as written, with what the numbers stand for]
  std::map<std::tuple<const Groups*, CollectiveKind, double>, double> known_;
};

// What podsim calls it.
CollectiveKind collective_of(std::string_view kind);

}  // namespace podsim::hlo
