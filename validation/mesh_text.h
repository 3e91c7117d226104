// How tables of runs write meshes and slices: "fsdp=64; tensor=8", "v5p-256 = 4x4x8".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace podsim {

// The number, or the largest int where it is above: no cluster has as many of anything, so that a row which
// counts them is refused by what it is then held against. REQUIRES: value >= 0.
int bounded_count(std::int64_t value);
// Of counts, likewise.
inline int bounded_product(int a, int b) { return bounded_count(std::int64_t{a} * b); }

// Axis sizes in a text such as "data=1; fsdp=64 (experts on fsdp)" or "mesh [1,16,16] (data,fsdp,tensor)",
// under the names of sharding presets; empty where there are none. Axes that share a name are multiplied.
std::vector<std::pair<std::string, int>> axis_sizes(const std::string& text);

// "v5p-256 = 4x4x8" -> 4, 4, 8; empty where there is no such shape.
std::vector<int> torus_shape(const std::string& text);

// The dimensions of a slice that each axis has, as bits, so that every dimension is used: whole dimensions
// whose lengths multiply to the axis' size. `sizes` with the innermost axis first, which has the last
// dimension that suits. Empty where sizes and dimensions do not match.
std::vector<unsigned> whole_dimensions(const std::vector<int>& slice, const std::vector<int>& sizes);

}  // namespace podsim
