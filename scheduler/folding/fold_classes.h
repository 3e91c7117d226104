// Which chips, groups and links must behave alike.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/folding/fold_request.h"
#include "scheduler/traffic/traffic.h"

namespace podsim {

// Classes of things of one kind, numbered in the order of their first members.
struct ClassList {
  std::vector<std::int32_t> class_of;  // [thing], -1 = in no class
  std::vector<std::int32_t> first;     // [class] its first thing
};

// A partition of chips, groups and links into classes whose members cannot be told apart by time.
struct FoldClasses {
  ClassList chips;                // a chip without work is in no class
  std::vector<ClassList> groups;  // [communicator]
  ClassList links;
  std::int32_t limiting_links;  // link classes below this number may limit traffic, others never do
};

// docs/theory/folding.md. REQUIRES: as of fold().
FoldClasses find_classes(const Fabric& fabric, const Traffic& traffic, const FoldRequest& request);

}  // namespace podsim
