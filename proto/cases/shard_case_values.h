// What all sharding cases are made of, out of a JSON tree: meshes, axes, tensors, element types.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/text/json_values.h"
#include "workload/cases/shard_case.h"

namespace podsim {

constexpr std::int64_t kMostSize = std::int64_t{1} << 40;  // elements along a dimension

class ShardCaseValues : public JsonValues {
 public:
  ShardCaseValues(Document& document, const JsonTree& tree) : JsonValues(document, tree), tree_(tree) {}

  // Of an object, whatever else it holds; kMissing where it is no object or lacks the key.
  std::int32_t find(std::int32_t object, const std::string& key) const;
  // Keys and values of an object with any keys.
  std::optional<std::vector<std::pair<std::string, std::int32_t>>> entries(std::int32_t object);
  // Like `find`; lacking the key is a problem.
  std::int32_t require(std::int32_t object, const std::string& key);

  std::optional<std::int64_t> whole(std::int32_t value, std::int64_t least, std::int64_t most);
  // One per dimension of something with `rank` of them, which `what` names; a missing value gives
  // `fallback`s.
  std::optional<std::vector<std::int64_t>> per_dim(std::int32_t value, std::size_t rank,
                                                   const std::string& what, std::int64_t least,
                                                   std::int64_t most, std::int64_t fallback);
  std::optional<std::vector<std::int64_t>> sizes(std::int32_t value);
  std::optional<double> element_bytes(std::int32_t value);
  // By the element type under this key of a question; those of bf16 where it says none that there is.
  double element_bytes_in(std::int32_t question, const std::string& key = "dtype");

  // Of the case whose tensors come next.
  std::optional<Mesh> mesh(std::int32_t value);

  // A tensor of these dims whose axes are listed, [["x"], []]. REQUIRES: as below.
  std::optional<CaseTensor> sharded(std::int32_t sharding, const std::vector<std::int64_t>& dims,
                                    const Mesh& mesh, double element_bytes);

  // {dims, sharding, unreduced}; REQUIRES: mesh() gave this mesh.
  std::optional<CaseTensor> tensor(std::int32_t value, const Mesh& mesh, double element_bytes);
  // That of a question's key, in its element type; a missing key is a problem.
  std::optional<CaseTensor> tensor_in(std::int32_t question, const std::string& key, const Mesh& mesh);

 private:
  // `used`: axes that the tensor has already, and then those of its dimensions too.
  std::optional<CaseTensor> sharded(std::int32_t sizes_at, std::int32_t sharding,
                                    const std::vector<std::int64_t>& dims, const Mesh& mesh,
                                    double element_bytes, AxisList& used);
  std::optional<AxisRef> axis(std::int32_t value, const Mesh& mesh);
  // Adds the axes listed to `axes`, and to `used`, where each may be only once.
  bool axes(std::int32_t value, const Mesh& mesh, AxisList& axes, AxisList& used);
  bool cuts_fit(std::int32_t value, const Mesh& mesh, const AxisRef& ref);

  const JsonTree& tree_;
  std::vector<std::vector<int>> cuts_;  // [axis of the mesh] where pieces of it begin and end
};

}  // namespace podsim
