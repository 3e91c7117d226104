// The traffic of a job that fills a regular tree in order, by orbits: groups that are the same but for a
// shift along the mesh are planned and kept once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/placement/place.h"
#include "scheduler/traffic/pattern_traffic.h"
#include "scheduler/traffic/row_mesh.h"
#include "scheduler/traffic/tree_places.h"

namespace podsim {

// All groups of one scope. A group within a row is of a pattern and a kind of rows; one through all rows is a
// pattern.
struct OrbitCommunicator {
  Scope scope;
  ScopeGroups groups;
  std::vector<std::vector<TreePlace>> places;  // [form] of the links that its plans load
  std::vector<std::int32_t> form_of_family;    // of groups through all rows: [family]; else [family][kind]

  bool point_to_point() const { return scope.point_to_point(); }
};

// Rows of runs that are alike: groups within them have the same forms, and groups through all rows put the
// same on the links of their chips.
struct RowKind {
  std::int32_t first;  // row
  std::int64_t rows;
};

// As Traffic, with the groups of a kind of rows in place of each of them.
struct OrbitTraffic {
  std::vector<std::int32_t> runs;         // first rows of the runs, ascending, and the number of rows
  std::vector<std::int32_t> kind_of_run;  // [run]
  std::vector<RowKind> kinds;             // by first rows
  std::vector<OrbitCommunicator> communicators;
  std::vector<PlannedCollective> patterns;
  std::vector<PatternTraffic> loads;                      // [pattern]
  std::vector<std::int32_t> pattern_of, communicator_of;  // [message]

  std::size_t run_count() const { return runs.size() - 1; }
  std::int32_t rows_of(std::size_t run) const { return runs[run + 1] - runs[run]; }
  std::size_t kind_of_row(std::int32_t row) const;
};

// Chips of a run, one column, load their own links alike, and groups within its rows have the same forms.
// Nothing where links between switches may limit transfers, or where groups of a scope share links that do:
// then no orbit is like another. REQUIRES: the fabric has a tree, on which the mesh lies in order, and `rows`
// are of both. Forms, plans and algorithms are those of plan_traffic.
std::optional<OrbitTraffic> plan_orbits(const Fabric& fabric, const RowMesh& rows,
                                        const std::vector<CollectiveCall>& messages, double network_share);

}  // namespace podsim
