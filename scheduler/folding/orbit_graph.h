// Orbits of chips, groups and links as the graph whose equitable partition is the folding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/folding/group_graph.h"
#include "scheduler/traffic/orbit_traffic.h"

namespace podsim {

// A link of one of a group's members that the group loads. `slot` says which of the chips that the group has
// in one row, `place` which of the links of its form.
struct OrbitEdge {
  std::int32_t slot;
  TreeWay way;
  std::int32_t place;
  Colour label;  // of all phases together
};

// Groups of a communicator and what they load, by orbit. An orbit is a pattern, or a pattern and a kind of
// rows.
class CommunicatorOrbits {
 public:
  CommunicatorOrbits(const OrbitTraffic& traffic, std::size_t c, const RowMesh& rows);

  bool through_rows() const { return of_.groups.through_rows; }
  std::size_t patterns() const { return of_.groups.patterns.size(); }
  std::size_t orbits() const { return patterns() * (through_rows() ? 1 : kinds_); }
  std::size_t orbit(std::size_t pattern, std::size_t kind) const {
    return through_rows() ? pattern : pattern * kinds_ + kind;
  }
  // [slot] columns of the chips that a group has in a row.
  std::span<const std::int32_t> columns(std::size_t pattern) const { return columns_[pattern]; }
  std::size_t form(std::size_t pattern, std::size_t kind) const;
  // Of the group of the kind's first row, or of what a group through all rows has in that row.
  std::span<const OrbitEdge> edges(std::size_t pattern, std::size_t kind) const;
  Colour colour(std::size_t form) const { return colours_[form]; }
  // [form] places of links between switches, with their labels.
  struct TrunkEdge {
    std::int32_t place;
    Colour label;
  };
  std::span<const TrunkEdge> trunk_edges(std::size_t form) const { return trunk_edges_[form]; }
  const OrbitCommunicator& communicator() const { return of_; }
  // The patterns of a column's chip: as a member or source, and as a destination; -1 = none.
  std::int32_t pattern_at(std::int32_t column) const { return pattern_at_[static_cast<std::size_t>(column)]; }
  std::int32_t pattern_to(std::int32_t column) const { return pattern_to_[static_cast<std::size_t>(column)]; }

 private:
  void find_columns(const RowMesh& rows);
  void add_form(const OrbitTraffic& traffic, const RowMesh& rows, std::size_t c, std::size_t form);

  const OrbitCommunicator& of_;
  std::size_t kinds_;
  std::vector<std::vector<std::int32_t>> columns_;  // [pattern]
  std::vector<std::int32_t> pattern_at_, pattern_to_;
  std::vector<Colour> colours_;                       // [form]
  std::vector<std::vector<OrbitEdge>> edges_;         // [form]
  std::vector<std::vector<std::size_t>> first_edge_;  // [form] of each kind, through all rows
  std::vector<std::vector<TrunkEdge>> trunk_edges_;   // [form]
};

// The class of every orbit, by any numbers. Chips of a cell are of one column and kind of rows: cell = column
// * kinds + kind.
struct OrbitClasses {
  std::vector<std::int32_t> chips;                // [cell]
  std::vector<std::int32_t> links;                // [cell * kOwnWays + way], those of a chip
  std::vector<std::vector<std::int32_t>> groups;  // [communicator][orbit]
};

// The coarsest equitable partition of all chips, groups and links of chips, which are coloured by column;
// each orbit counts as often as it has members. `nvlink` and `nic` colour the links.
OrbitClasses equitable_orbits(const OrbitTraffic& traffic, std::span<const CommunicatorOrbits> communicators,
                              std::span<const std::int32_t> program_of_column, Colour nvlink, Colour nic);

}  // namespace podsim
