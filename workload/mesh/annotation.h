// What a user or propagation has said about the sharding of one tensor: axes per dimension, open or closed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/mesh/axes.h"
#include "workload/mesh/layout.h"

namespace podsim {

struct DimAnnotation {
  AxisList axes;
  bool open = true;  // propagation may add minor axes
  int priority = 0;  // p0 is decided first
  friend bool operator==(const DimAnnotation&, const DimAnnotation&) = default;
};

// The default is "unset": all dimensions open and empty, nothing replicated or unreduced.
struct Annotation {
  std::vector<DimAnnotation> dims;
  AxisList replicated;  // axes that propagation must not use on this tensor
  AxisList unreduced;   // the value is, or may stay, a partial sum over these
  friend bool operator==(const Annotation&, const Annotation&) = default;
};

Annotation unset(std::size_t rank);
Annotation closed(const Layout& layout);
Layout layout_of(const Annotation& annotation);

// "[{a,b:(2)4,?},{}p1] replicated={c} unreduced={d}": ? = open, p1 = priority; "unset" = all open.
std::string to_string(const Mesh& mesh, const Annotation& annotation);

// A problem names the offending piece and its column (1-based) in the text: unknown axis (with the nearest
// name), axis used twice, piece that does not divide its axis, number of dimensions other than `rank`.
struct AnnotationProblem {
  int column = 0;
  std::string message, hint;
};
struct ParsedAnnotation {
  Annotation annotation;
  std::optional<AnnotationProblem> problem;
};
ParsedAnnotation parse_annotation(const Mesh& mesh, std::size_t rank, std::string_view text);

}  // namespace podsim
