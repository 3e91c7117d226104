// Equitable partitions: the coarsest classes of a graph's vertices such that all of a class have alike
// neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podsim {

// Joins two vertices. Labels are hashes: several edges between the same vertices act as one whose label is
// their sum (modulo 2^64).
struct LabelledEdge {
  std::int32_t a, b;
  std::uint64_t label;
};

// The class of every vertex in the coarsest partition that is finer than the one by colour, and in which any
// two vertices of a class have equal sums of labels over their edges into each class. Classes are numbered
// from 0 in the order of their first vertices, whatever the hashes are.
// Method: partition refinement (Hopcroft 1971; with sums of weights, Valmari and Franceschinis 2010): a class
// that was split is looked at again except for its largest part. Every edge is followed O(log vertices)
// times, once when nothing splits. REQUIRES: 0 <= a, b < colours.size(), a != b.
std::vector<std::int32_t> equitable_partition(std::span<const std::uint64_t> colours,
                                              std::span<const LabelledEdge> edges);

}  // namespace podsim
