// Entries of an adversity that choose parts of the fabric by selector.
#pragma once

#include <string>
#include <vector>

#include "proto/text/document.h"
#include "scheduler/question/degradation.h"

namespace podsim {

struct AxisPlacement;
struct FabricSpec;
struct Job;

namespace schema {
class Adversity;
}

// The one job and its place, for selectors by stage and data rank; nullptr where there are several jobs, or
// none that is right.
struct JobOnFabric {
  const Job* job = nullptr;
  const std::vector<AxisPlacement>* placement = nullptr;
};

// All entries of `slow`, `background` and `nic_flap`, in this order, checked against the fabric and against
// each other. Builds the fabric when there are any.
std::vector<Degradation> resolve_degradations(const schema::Adversity& adversity, const FabricSpec& fabric,
                                              JobOnFabric job, std::uint64_t seed, const std::string& path,
                                              Document& document);

}  // namespace podsim
