// The subcluster: the part of a fabric that one of several jobs has.
#pragma once

#include <string>

#include "topology/fabric.h"
#include "topology/fabric_spec.h"

namespace podsim {

struct PlacedJob;
struct Spec;

// Why chips first .. first + chips - 1 cannot be a job's own ("a job begins and ends at borders of NVLink
// domains of 8 GPUs, ..."), or empty. They can when nothing inside a domain or a slice is cut: whole NVLink
// domains, a part of a single one, or whole torus slices. REQUIRES: first >= 0, chips >= 1.
std::string explain_invalid_subcluster(const FabricSpec& fabric, ChipId first, int chips);

// The same kind of fabric with only that many chips. REQUIRES: they can be a job's own.
FabricSpec subcluster(const FabricSpec& fabric, int chips);

// The spec of one of several jobs by itself: its subcluster is the cluster, and what goes wrong at chips of
// other jobs is left out. Chips in `adversities` keep their numbers on the whole fabric.
Spec spec_of_job(const Spec& spec, const PlacedJob& job);

}  // namespace podsim
