// Equitable partitions: small graphs by hand, random ones against refinement round by round.
#include "scheduler/folding/equitable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tests/scheduler/simulation/random_step.h"

namespace podsim::equitable_test {
namespace {

using Classes = std::vector<std::int32_t>;

std::vector<LabelledEdge> ring(int vertices) {
  std::vector<LabelledEdge> edges;
  for (int v = 0; v < vertices; ++v) edges.push_back({v, (v + 1) % vertices, 1});
  return edges;
}

Classes partition(const std::vector<std::uint64_t>& colours, const std::vector<LabelledEdge>& edges) {
  return equitable_partition(colours, edges);
}

TEST(Equitable, all_vertices_of_a_ring_are_alike) {
  EXPECT_EQ(partition({7, 7, 7, 7, 7}, ring(5)), (Classes{0, 0, 0, 0, 0}));
}

TEST(Equitable, vertices_of_a_path_are_told_by_their_distance_to_the_nearer_end) {
  EXPECT_EQ(partition({7, 7, 7, 7, 7}, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}}),
            (Classes{0, 1, 2, 1, 0}));
}

TEST(Equitable, one_odd_vertex_of_a_ring_is_felt_by_all_at_their_distance) {
  EXPECT_EQ(partition({7, 7, 9, 7, 7, 7}, ring(6)), (Classes{0, 1, 2, 1, 0, 3}));
}

TEST(Equitable, labels_tell_vertices_apart_by_their_sum_into_a_class) {
  EXPECT_EQ(partition({1, 1, 1, 2, 2}, {{0, 3, 5}, {1, 3, 2}, {1, 4, 3}, {2, 4, 4}}),
            (Classes{0, 1, 2, 3, 4}));
  EXPECT_EQ(partition({1, 1, 2, 2}, {{0, 2, 2}, {0, 3, 3}, {1, 2, 3}, {1, 3, 2}}), (Classes{0, 0, 1, 1}));
}

TEST(Equitable, a_vertex_without_edges_keeps_its_colour) {
  EXPECT_EQ(partition({4, 3, 4}, {}), (Classes{0, 1, 0}));
  EXPECT_TRUE(partition({}, {}).empty());
}

// Every vertex is told anew by all of its neighbours, until no round tells any apart.
Classes refine_by_rounds(const std::vector<std::uint64_t>& colours, const std::vector<LabelledEdge>& edges) {
  using Signature = std::pair<std::uint64_t, std::map<std::int32_t, std::uint64_t>>;
  const auto number = [](const std::vector<Signature>& signatures) {
    std::map<Signature, std::int32_t> known;
    Classes classes;
    for (const Signature& signature : signatures)
      classes.push_back(known.try_emplace(signature, static_cast<std::int32_t>(known.size())).first->second);
    return classes;
  };
  std::vector<Signature> signatures;
  for (const std::uint64_t colour : colours) signatures.push_back({colour, {}});
  for (Classes classes = number(signatures);;) {
    for (std::size_t v = 0; v < colours.size(); ++v)
      signatures[v] = {static_cast<std::uint64_t>(classes[v]), {}};
    for (const LabelledEdge& edge : edges) {
      signatures[edge.a].second[classes[edge.b]] += edge.label;
      signatures[edge.b].second[classes[edge.a]] += edge.label;
    }
    const Classes finer = number(signatures);
    if (finer == classes) return classes;
    classes = finer;
  }
}

TEST(EquitableLaw, the_partition_is_that_of_refinement_by_rounds_on_1000_random_graphs) {
  int between = 0;
  for (int round = 0; round < 1000; ++round) {
    testing::Draw draw(round);
    const int vertices = 2 + draw.below(30);
    std::vector<std::uint64_t> colours(vertices);
    for (std::uint64_t& colour : colours) colour = draw.below(1 + draw.below(3));
    std::vector<LabelledEdge> edges = draw.below(2) ? ring(vertices) : std::vector<LabelledEdge>{};
    for (int i = draw.below(vertices); i > 0; --i) {
      const int a = draw.below(vertices), b = draw.below(vertices);
      if (a != b) edges.push_back({a, b, 1u + draw.below(2)});
    }
    const Classes classes = partition(colours, edges);
    ASSERT_EQ(classes, refine_by_rounds(colours, edges)) << "round " << round;
    const int found = 1 + *std::max_element(classes.begin(), classes.end());
    between += found > 3 && found < vertices;
  }
  EXPECT_GT(between, 300) << "graphs that split not at all, or wholly, prove little";
}

}  // namespace
}  // namespace podsim::equitable_test
