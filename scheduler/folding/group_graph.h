// Chips, groups and links as the graph whose equitable partition is the folding (docs/theory/folding.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/random.h"
#include "scheduler/folding/fold_request.h"
#include "scheduler/traffic/traffic.h"

namespace podsim {

using Colour = std::uint64_t;

// A class, and what their edges tell those of its members that stay together in a round of refinement.
struct ToldClass {
  std::int32_t own;
  Colour sum;
  friend bool operator==(const ToldClass&, const ToldClass&) = default;
};
struct TellClassesApart {
  std::size_t operator()(const ToldClass& told) const {
    return mix(told.sum, static_cast<std::uint64_t>(told.own));
  }
};

// What tells a link apart before anything is sent.
Colour colour_of(const Link& link);

// What a group puts on a link in one phase of a pattern, which is the f-th of pattern p. Never zero in
// practice, as hashes go.
Colour label_of(const Use& use, std::size_t p, std::size_t f);

// What a phase, the f-th of pattern p, tells of a group beyond what it puts on links.
Colour mix_phase(Colour group, const PhaseTraffic& phase, std::size_t p, std::size_t f);

// The class of every vertex, by any numbers.
struct VertexClasses {
  std::vector<std::int32_t> chips;
  std::vector<std::vector<std::int32_t>> groups;  // [communicator][group]
  std::vector<std::int32_t> links;
};

// Vertices are chips, groups and links. An edge joins a group with each of its members and with each link
// that it loads, unless the link is slack: those follow what loads them.
class GroupGraph {
 public:
  // REQUIRES: traffic and nonbinding, [link], outlive the graph; the request is as of fold().
  GroupGraph(const Fabric& fabric, const Traffic& traffic, const std::vector<bool>& nonbinding,
             const FoldRequest& request);

  // The coarsest equitable partition, by refinement with a worklist.
  VertexClasses classes() const;

  // The same by rounds over all edges, which is faster where few are needed; nothing where more are.
  std::optional<VertexClasses> classes_by_rounds() const;

 private:
  friend class Rounds;

  // What groups of one form have in common.
  struct FormColours {
    Colour group;
    std::vector<Colour> links;  // [place] of the edge to that link
  };
  FormColours colour_form(std::size_t c, std::size_t form) const;

  const Traffic& traffic_;
  const std::vector<bool>& nonbinding_;
  std::vector<Colour> chips_, links_;
  std::vector<std::vector<FormColours>> forms_;  // [communicator][form]
};

}  // namespace podsim
