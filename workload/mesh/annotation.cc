// What a user or propagation has said about the sharding of one tensor: axes per dimension, open or closed.
#include "workload/mesh/annotation.h"

#include <algorithm>

#include "engine/spelling.h"

namespace podsim {
namespace {

// Reads one annotation from left to right; the first problem ends it.
class Parser {
 public:
  Parser(const Mesh& mesh, std::size_t rank, std::string_view text) : mesh_(mesh), rank_(rank), text_(text) {}

  ParsedAnnotation parse() {
    if (word("unset")) {
      annotation_ = unset(rank_);
      if (skip_blanks(); at_ < text_.size()) fail("unexpected text after unset");
    } else {
      dims() && sets();
    }
    return {std::move(annotation_), std::move(problem_)};
  }

 private:
  bool dims() {
    skip_blanks();
    const std::size_t start = at_;
    if (!expect('[', "an annotation is unset or begins with [")) return false;
    if (!take(']')) {
      do {
        if (!dim()) return false;
      } while (take(','));
      if (!expect(']', "expected , or ] after a dimension")) return false;
    }
    if (annotation_.dims.size() == rank_) return true;
    at_ = start;
    return fail("dimensions annotated: " + std::to_string(annotation_.dims.size()) +
                    ", of the tensor: " + std::to_string(rank_),
                "write {} for a dimension that stays whole and {?} for one that is open");
  }

  bool dim() {
    if (!expect('{', "expected { before the axes of a dimension")) return false;
    const std::string place = "on dimension " + std::to_string(annotation_.dims.size());
    DimAnnotation dim{.axes = {}, .open = false, .priority = 0};
    while (!take('}')) {
      if (take('?')) {
        dim.open = true;
        if (!expect('}', "expected } after ?: an open dimension ends with it")) return false;
        break;
      }
      if (!axis(dim.axes, place) || !separated()) return false;
    }
    dim.axes = merged(std::move(dim.axes));
    if (take('p') && !number(dim.priority, "expected a number after p, the priority of the dimension"))
      return false;
    annotation_.dims.push_back(std::move(dim));
    return true;
  }

  bool sets() {
    while (skip_blanks(), at_ < text_.size()) {
      const bool replicated = word("replicated=");
      if (!replicated && !word("unreduced="))
        return fail("expected replicated={...}, unreduced={...} or the end");
      if (!expect('{', "expected { before a set of axes")) return false;
      AxisList& set = replicated ? annotation_.replicated : annotation_.unreduced;
      while (!take('}')) {
        if (!axis(set, replicated ? "replicated" : "unreduced") || !separated()) return false;
      }
      set = canonical(std::move(set));
    }
    return true;
  }

  // After an axis: a comma, or the end of the list, which stays.
  bool separated() {
    if (take(',')) return true;
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '}') return true;
    return fail("expected , or } after an axis");
  }

  bool axis(AxisList& axes, const std::string& place) {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && std::string_view(",:{}[]()? ").find(text_[at_]) == std::string_view::npos)
      ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (name.empty()) return fail("expected the name of an axis");
    const int index = mesh_.find(name);
    if (index < 0) {
      at_ = start;
      return fail("the mesh has no axis \"" + name + '"', names_hint(name));
    }
    AxisRef ref = whole_axis(mesh_, index);
    if (take(':') && !piece(ref, start)) return false;
    if (ref.size == 1) return true;  // cuts nothing
    for (const Used& used : used_) {
      if (!overlap(used.ref, ref)) continue;
      at_ = start;
      return fail("axis " + to_string(mesh_, ref) + " is used twice on the tensor: " +
                      to_string(mesh_, used.ref) + " is already " + used.place,
                  "an axis cuts one dimension of a tensor, or is replicated or unreduced on it");
    }
    used_.push_back({ref, place});
    axes.push_back(ref);
    return true;
  }

  // "(pre)size" after the colon of an axis.
  bool piece(AxisRef& ref, std::size_t start) {
    const std::string expected = "expected (pre)size after the colon of a piece of an axis";
    const std::int64_t whole = ref.size;
    if (!expect('(', expected) || !number(ref.pre, expected)) return false;
    if (!expect(')', expected) || !number(ref.size, expected)) return false;
    const std::int64_t covered = std::int64_t{ref.pre} * ref.size;
    if (covered > 0 && ref.size > 1 && whole % covered == 0) return true;
    at_ = start;
    return fail("axis " + mesh_.axes[static_cast<std::size_t>(ref.axis)].name + " of size " +
                    std::to_string(whole) + " has no piece (" + std::to_string(ref.pre) + ")" +
                    std::to_string(ref.size),
                "(pre)size reads the axis as [pre, size, rest]: pre x size must divide it");
  }

  bool number(int& value, const std::string& expected) {
    skip_blanks();
    constexpr std::size_t kDigits = 9;  // fits an int
    std::size_t end = at_;
    while (end < text_.size() && text_[end] >= '0' && text_[end] <= '9') ++end;
    if (end == at_ || end - at_ > kDigits) return fail(expected);
    value = std::stoi(std::string(text_.substr(at_, end - at_)));
    at_ = end;
    return true;
  }

  std::string names_hint(const std::string& name) const {
    std::vector<std::string> names;
    std::string all;
    for (const MeshAxis& axis : mesh_.axes) {
      names.push_back(axis.name);
      all += (all.empty() ? "" : ", ") + axis.name;
    }
    const std::string near = closest_name(name, names);
    return near.empty() ? "axes of the mesh: " + all : "did you mean " + near + "?";
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    skip_blanks();
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  bool expect(char c, const std::string& message) {
    return take(c) || fail(message, "for example [{data,fsdp},{?}] replicated={tensor}");
  }
  bool fail(const std::string& message, const std::string& hint = "") {
    problem_ = AnnotationProblem{static_cast<int>(at_) + 1, message, hint};
    return false;
  }

  struct Used {
    AxisRef ref;
    std::string place;  // "on dimension 1"
  };

  const Mesh& mesh_;
  std::size_t rank_;
  std::string_view text_;
  std::size_t at_ = 0;
  Annotation annotation_;
  std::vector<Used> used_;
  std::optional<AnnotationProblem> problem_;
};

std::string braces(const Mesh& mesh, const AxisList& axes, bool open) {
  std::string text = "{";
  for (const AxisRef& ref : axes) text += (text.size() > 1 ? "," : "") + to_string(mesh, ref);
  if (open) text += text.size() > 1 ? ",?" : "?";
  return text + "}";
}

}  // namespace

Annotation unset(std::size_t rank) {
  return {.dims = std::vector<DimAnnotation>(rank), .replicated = {}, .unreduced = {}};
}

Annotation closed(const Layout& layout) {
  Annotation annotation{.dims = {}, .replicated = {}, .unreduced = layout.unreduced};
  for (const AxisList& axes : layout.dims)
    annotation.dims.push_back({.axes = axes, .open = false, .priority = 0});
  return annotation;
}

Layout layout_of(const Annotation& annotation) {
  Layout layout{.dims = {}, .unreduced = annotation.unreduced};
  for (const DimAnnotation& dim : annotation.dims) layout.dims.push_back(dim.axes);
  return layout;
}

std::string to_string(const Mesh& mesh, const Annotation& annotation) {
  if (annotation == unset(annotation.dims.size())) return "unset";
  std::string text = "[";
  for (const DimAnnotation& dim : annotation.dims) {
    if (text.size() > 1) text += ",";
    text += braces(mesh, dim.axes, dim.open);
    if (dim.priority > 0) text += "p" + std::to_string(dim.priority);
  }
  text += "]";
  if (!annotation.replicated.empty()) text += " replicated=" + braces(mesh, annotation.replicated, false);
  if (!annotation.unreduced.empty()) text += " unreduced=" + braces(mesh, annotation.unreduced, false);
  return text;
}

ParsedAnnotation parse_annotation(const Mesh& mesh, std::size_t rank, std::string_view text) {
  return Parser(mesh, rank, text).parse();
}

}  // namespace podsim
