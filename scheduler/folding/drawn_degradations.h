// What every chip and link has to bear: adversities drawn and put on the fabric.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/placement/place.h"
#include "scheduler/question/degradation.h"

namespace podsim {

struct Job;
struct ShardingRule;

// Which pipeline stage and which data rank of its job a chip has; -1 without.
struct ChipRoles {
  std::vector<int> stage, data_rank;  // [chip]
};

// A job's mesh on its chips. Data ranks run over the axes of the "batch" rule; pipeline_axis is -1 without
// stages.
void add_roles(ChipRoles& roles, const Mesh& mesh, int pipeline_axis, std::span<const ShardingRule> rules,
               const Placement& placement);
// Of one job that has all chips.
ChipRoles roles_of(const Fabric& fabric, const Job& job, const std::vector<AxisPlacement>& placement);

// One past the largest number that a chip has.
int role_count(const std::vector<int>& role);

// The parts that a selector names before any is drawn, ascending.
std::vector<int> candidates(const Selector& selector, const Parts& parts, const ChipRoles& roles);

// The number of the part, or of its domain, that addresses the draws of a part that the selector names.
int drawn_number(const Selector& selector, const Parts& parts, int number);

// Why a selector cannot be drawn from there ("the fabric has no host 64, only 64 of them"), or empty.
std::string explain_missing(const Selector& selector, const Parts& parts, const ChipRoles& roles);

// What an entry has drawn.
struct Hit {
  std::int64_t parts = 0, chips = 0, links = 0;  // links by direction; chips whose computation is slow
};

// A speed is its constant factor times that of its profile. Empty lists stand for parts that are all as they
// should be.
struct DrawnDegradations {
  std::vector<double> chip_factor, link_factor;          // [chip], [link]
  std::vector<std::int32_t> chip_profile, link_profile;  // [chip], [link]; -1 = none
  std::vector<SpeedProfile> profiles;                    // distinct
  std::vector<Hit> hits;                                 // [entry]
  std::vector<std::int32_t> link_flap;                   // [link] entry of the flap, or -1
};

// Draws every entry. Who is hit is addressed by (seed, kind or domain, number, Degradation::draw): an entry
// more changes nothing for the others, a larger fraction hits all that a smaller one hits, and the same parts
// are hit whatever their factor. An entry changes a link once, also where it hits the chips at both ends:
// then the slower draw counts, of equal ones that of the lower number. Factors of entries that meet on one
// chip or link are multiplied in their order. REQUIRES: the selectors' numbers, kinds and domains exist.
DrawnDegradations draw_degradations(const Fabric& fabric, const Parts& parts, const ChipRoles& roles,
                                    std::span<const Degradation> entries, std::uint64_t seed);

}  // namespace podsim
