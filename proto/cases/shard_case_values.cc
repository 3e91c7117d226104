// Checks of meshes, axes and tensors of sharding cases, with messages.
#include "proto/cases/shard_case_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/spelling.h"
#include "proto/text/assign.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::size_t kMostAxes = 6, kMostDims = 12;  // the search over axes is exhaustive
constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;
constexpr double kMostElements = std::int64_t{1} << 44;  // bytes of all steps stay whole numbers

struct ElementType {
  const char* name;
  double bytes;
};
constexpr ElementType kElementTypes[] = {{"f32", 4}, {"bf16", 2}, {"f16", 2},    {"f64", 8},
                                         {"s32", 4}, {"u32", 4},  {"s64", 8},    {"u64", 8},
                                         {"s8", 1},  {"u8", 1},   {"f8e4m3", 1}, {"f8e5m2", 1}};

std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxis& axis : mesh.axes) names.push_back(axis.name);
  return names;
}

// "(2)4" behind the colon: a piece of that pre-size and size.
std::optional<std::pair<int, int>> piece(const std::string& text) {
  const char* const end = text.data() + text.size();
  int pre = 0, size = 0;
  if (text.empty() || text[0] != '(') return std::nullopt;
  const auto first = std::from_chars(text.data() + 1, end, pre);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ')') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, size);
  if (second.ec != std::errc{} || second.ptr != end || pre < 1 || size < 1) return std::nullopt;
  return std::pair{pre, size};
}

}  // namespace

std::int32_t ShardCaseValues::find(std::int32_t object, const std::string& key) const {
  if (object == kMissing || !is(object, JsonKind::kObject)) return kMissing;
  for (std::int32_t v = tree_.first_inside(object); v < tree_.after(object); v = tree_.after(v)) {
    if (tree_.texts[tree_.at(v).key] == key && !is(v, JsonKind::kNull)) return v;
  }
  return kMissing;
}

std::optional<std::vector<std::pair<std::string, std::int32_t>>> ShardCaseValues::entries(
    std::int32_t object) {
  if (!is(object, JsonKind::kObject)) {
    report(object, "must be an object");
    return std::nullopt;
  }
  std::vector<std::pair<std::string, std::int32_t>> found;
  for (std::int32_t v = tree_.first_inside(object); v < tree_.after(object); v = tree_.after(v))
    found.emplace_back(tree_.texts[tree_.at(v).key], v);
  return found;
}

std::int32_t ShardCaseValues::require(std::int32_t object, const std::string& key) {
  const std::int32_t value = find(object, key);
  if (value == kMissing) report_missing(object, key);
  return value;
}

std::optional<std::int64_t> ShardCaseValues::whole(std::int32_t value, std::int64_t least,
                                                   std::int64_t most) {
  const auto found = number(value, static_cast<double>(least), static_cast<double>(most));
  if (!found) return std::nullopt;
  if (*found == std::floor(*found)) return static_cast<std::int64_t>(*found);
  report(value, "must be a whole number, not " + shortest(*found));
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> ShardCaseValues::per_dim(std::int32_t value, std::size_t rank,
                                                                  const std::string& what, std::int64_t least,
                                                                  std::int64_t most, std::int64_t fallback) {
  if (value == kMissing) return std::vector<std::int64_t>(rank, fallback);
  const auto listed = array(value);
  if (!is(value, JsonKind::kArray)) return std::nullopt;
  if (listed.size() != rank) {
    report(value, "has " + std::to_string(listed.size()) + " entries; " + what + " has " +
                      std::to_string(rank) + " dimensions");
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers;
  for (const std::int32_t v : listed) {
    if (const auto n = whole(v, least, most)) numbers.push_back(*n);
  }
  if (numbers.size() != rank) return std::nullopt;
  return numbers;
}

std::optional<std::vector<std::int64_t>> ShardCaseValues::sizes(std::int32_t value) {
  if (value == kMissing) return std::nullopt;
  const auto listed = array(value);
  if (!is(value, JsonKind::kArray)) return std::nullopt;
  if (listed.size() > kMostDims) {
    report(value, "has " + std::to_string(listed.size()) + " dimensions; at most " +
                      std::to_string(kMostDims) + " are planned");
    return std::nullopt;
  }
  return per_dim(value, listed.size(), "it", 1, kMostSize, 1);
}

std::optional<double> ShardCaseValues::element_bytes(std::int32_t value) {
  const auto name = text(value);
  if (!name) return std::nullopt;
  std::vector<std::string> names;
  for (const ElementType& type : kElementTypes) {
    if (*name == type.name) return type.bytes;
    names.emplace_back(type.name);
  }
  report(value, "is \"" + *name + "\", which is no element type", suggest(*name, names, "element types"));
  return std::nullopt;
}

double ShardCaseValues::element_bytes_in(std::int32_t question, const std::string& key) {
  constexpr double kBf16Bytes = 2;
  return element_bytes(find(question, key)).value_or(kBf16Bytes);
}

std::optional<Mesh> ShardCaseValues::mesh(std::int32_t value) {
  if (value == kMissing) return std::nullopt;
  const auto listed = array(value);
  if (!is(value, JsonKind::kArray)) return std::nullopt;
  if (listed.size() > kMostAxes) {
    report(value, "has more than " + std::to_string(kMostAxes) + " axes");
    return std::nullopt;
  }
  Mesh mesh;
  std::int64_t devices = 1;
  for (const std::int32_t v : listed) {
    const auto pair = array(v);
    if (pair.size() != 2) {
      report(v, "must be [name of the axis, its size]");
      return std::nullopt;
    }
    const auto name = text(pair[0]);
    const auto size = whole(pair[1], 1, kMostDevices);
    if (!name || !size) return std::nullopt;
    if (name->empty() || name->find_first_of(":,{}()[]? \"") != std::string::npos) {
      report(pair[0], "must be a name without blanks and punctuation, not \"" + *name + "\"");
      return std::nullopt;
    }
    if (mesh.find(*name) >= 0) {
      report(pair[0], "is \"" + *name + "\", the name of another axis of this mesh");
      return std::nullopt;
    }
    mesh.axes.push_back({*name, static_cast<int>(*size)});
    devices *= *size;
    if (devices > kMostDevices) {
      report(value, "has more than " + std::to_string(kMostDevices) + " devices");
      return std::nullopt;
    }
  }
  cuts_.assign(mesh.axes.size(), {});
  return mesh;
}

// Two pieces of one axis, wherever the case uses them, must begin and end where one divides the other: only
// then is what is left of the axis beside them a piece too.
bool ShardCaseValues::cuts_fit(std::int32_t value, const Mesh& mesh, const AxisRef& ref) {
  std::vector<int>& cuts = cuts_[static_cast<std::size_t>(ref.axis)];
  for (const int cut : {ref.pre, ref.pre * ref.size}) {
    for (const int other : cuts) {
      if (std::max(cut, other) % std::min(cut, other) == 0) continue;
      report(value, "cuts axis \"" + mesh.axes[static_cast<std::size_t>(ref.axis)].name + "\" at " +
                        std::to_string(cut) + "; another piece of this case is cut at " +
                        std::to_string(other) + ", and one must divide the other");
      return false;
    }
    cuts.push_back(cut);
  }
  return true;
}

std::optional<AxisRef> ShardCaseValues::axis(std::int32_t value, const Mesh& mesh) {
  const auto said = text(value);
  if (!said) return std::nullopt;
  const std::size_t colon = said->find(':');
  const std::string name = said->substr(0, colon);
  const int found = mesh.find(name);
  if (found < 0) {
    report(value, "names axis \"" + name + "\", which the mesh does not have",
           suggest(name, axis_names(mesh), "its axes"));
    return std::nullopt;
  }
  AxisRef ref = whole_axis(mesh, found);
  if (colon == std::string::npos) return ref;
  const auto part = piece(said->substr(colon + 1));
  if (!part) {
    report(value, "must be an axis or a piece of one, not \"" + *said + "\"",
           "a piece is written \"" + name + ":(pre-size)size\"");
    return std::nullopt;
  }
  if (static_cast<std::int64_t>(part->first) * part->second > ref.size ||
      ref.size % (part->first * part->second) != 0) {
    report(value, "is \"" + *said + "\": " + std::to_string(part->first) + " x " +
                      std::to_string(part->second) + " does not divide the axis's " +
                      std::to_string(ref.size));
    return std::nullopt;
  }
  ref.pre = part->first;
  ref.size = part->second;
  if (!cuts_fit(value, mesh, ref)) return std::nullopt;
  return ref;
}

bool ShardCaseValues::axes(std::int32_t value, const Mesh& mesh, AxisList& axes, AxisList& used) {
  if (value == kMissing) return true;
  const auto listed = array(value);
  if (!is(value, JsonKind::kArray)) return false;
  for (const std::int32_t v : listed) {
    const auto ref = axis(v, mesh);
    if (!ref) return false;
    if (overlap(AxisList{*ref}, used)) {
      report(v, "uses axis \"" + mesh.axes[static_cast<std::size_t>(ref->axis)].name +
                    "\" a second time on one tensor");
      return false;
    }
    if (ref->size == 1) continue;  // cuts nothing
    axes.push_back(*ref);
    used.push_back(*ref);
  }
  axes = merged(axes);
  return true;
}

std::optional<CaseTensor> ShardCaseValues::tensor(std::int32_t value, const Mesh& mesh,
                                                  double element_bytes) {
  const auto keys = object(value, {"dims", "sharding", "unreduced"});
  if (!keys) return std::nullopt;
  const auto dims = sizes((*keys)[0]);
  if ((*keys)[0] == kMissing) report_missing(value, "dims");
  if (!dims) return std::nullopt;
  AxisList used;
  auto tensor = sharded((*keys)[0], (*keys)[1], *dims, mesh, element_bytes, used);
  if (!tensor || !axes((*keys)[2], mesh, tensor->layout.unreduced, used)) return std::nullopt;
  tensor->layout.unreduced = canonical(tensor->layout.unreduced);
  return tensor;
}

std::optional<CaseTensor> ShardCaseValues::tensor_in(std::int32_t question, const std::string& key,
                                                     const Mesh& mesh) {
  const std::int32_t found = require(question, key);
  return found == kMissing ? std::nullopt : tensor(found, mesh, element_bytes_in(question));
}

std::optional<CaseTensor> ShardCaseValues::sharded(std::int32_t sharding,
                                                   const std::vector<std::int64_t>& dims, const Mesh& mesh,
                                                   double element_bytes) {
  AxisList used;
  return sharded(sharding, sharding, dims, mesh, element_bytes, used);
}

std::optional<CaseTensor> ShardCaseValues::sharded(std::int32_t sizes_at, std::int32_t sharding,
                                                   const std::vector<std::int64_t>& dims, const Mesh& mesh,
                                                   double element_bytes, AxisList& used) {
  double elements = 1;
  for (const std::int64_t size : dims) elements *= static_cast<double>(size);
  if (elements > kMostElements) {
    report(sizes_at, "are those of more than 2^44 elements");
    return std::nullopt;
  }
  CaseTensor tensor{dims, element_bytes, replicated(dims.size())};
  if (sharding == kMissing) return tensor;
  const auto listed = array(sharding);
  if (!is(sharding, JsonKind::kArray)) return std::nullopt;
  if (listed.size() != dims.size()) {
    report(sharding, "has " + std::to_string(listed.size()) + " lists of axes; the tensor has " +
                         std::to_string(dims.size()) + " dimensions");
    return std::nullopt;
  }
  bool whole = true;
  for (std::size_t d = 0; d < listed.size(); ++d) whole &= axes(listed[d], mesh, tensor.layout.dims[d], used);
  return whole ? std::optional(tensor) : std::nullopt;
}

}  // namespace podsim
