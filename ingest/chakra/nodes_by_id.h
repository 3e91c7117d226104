// Nodes of a trace by their ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/check.h"
#include "ingest/chakra/trace.h"

namespace podsim::chakra {

// Ids mostly count up; then nothing is searched. REQUIRES: there are nodes, which outlive it.
class NodesById {
 public:
  explicit NodesById(const std::vector<Node>& nodes) : nodes_(nodes) {
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      counts_up_ = counts_up_ && nodes[i].id == nodes[0].id + i;
      ascends_ = ascends_ && nodes[i - 1].id < nodes[i].id;
    }
    if (ascends_) return;
    sorted_.resize(nodes.size());
    std::iota(sorted_.begin(), sorted_.end(), 0);
    std::ranges::stable_sort(sorted_, {}, [&](std::int32_t node) { return id_of(node); });
  }

  // Nodes whose id an earlier one has.
  std::vector<std::size_t> repeated() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (id_of(sorted_[i - 1]) == id_of(sorted_[i])) found.push_back(static_cast<std::size_t>(sorted_[i]));
    std::ranges::sort(found);
    return found;
  }

  // -1 where there is none.
  std::int32_t at(std::uint64_t id) const {
    PODSIM_CHECK(!nodes_.empty(), "there are nodes");
    if (counts_up_) {
      const std::uint64_t place = id - nodes_[0].id;
      return place < nodes_.size() ? static_cast<std::int32_t>(place) : -1;
    }
    if (ascends_) {
      const auto found = std::ranges::lower_bound(nodes_, id, {}, &Node::id);
      return found != nodes_.end() && found->id == id ? static_cast<std::int32_t>(found - nodes_.begin())
                                                      : -1;
    }
    const auto found =
        std::ranges::lower_bound(sorted_, id, {}, [&](std::int32_t node) { return id_of(node); });
    return found != sorted_.end() && id_of(*found) == id ? *found : -1;
  }

 private:
  std::uint64_t id_of(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].id; }

  const std::vector<Node>& nodes_;
  bool counts_up_ = true, ascends_ = true;
  std::vector<std::int32_t> sorted_;  // by id; empty where the nodes are
};

}  // namespace podsim::chakra
