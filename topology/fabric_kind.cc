// The table of kinds.
#include "topology/fabric_kind.h"

#include <algorithm>
#include <array>

#include "engine/check.h"

namespace podsim {
namespace {

constexpr std::array kKinds = {&kTorusPod, &kGpuCluster};

}  // namespace

const FabricKind& kind_of(const FabricSpec& spec) {
  const auto found = std::ranges::find_if(kKinds, [&](const FabricKind* kind) { return kind->is(spec); });
  PODSIM_CHECK(found != kKinds.end(), "the fabric is of no kind");
  return **found;
}

int kinds_of(const FabricSpec& spec) {
  return static_cast<int>(
      std::ranges::count_if(kKinds, [&](const FabricKind* kind) { return kind->is(spec); }));
}

}  // namespace podsim
