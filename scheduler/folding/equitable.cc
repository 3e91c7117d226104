// Partition refinement with a worklist of splitters.
#include "scheduler/folding/equitable.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "engine/cache.h"

namespace podsim {
namespace {

using Vertex = std::int32_t;
using ClassId = std::int32_t;

struct Arc {
  std::uint64_t label;
  Vertex to;
};

// The arcs out of every vertex, both ways along each edge.
class Neighbours {
 public:
  Neighbours(std::size_t vertices, std::span<const LabelledEdge> edges) : first_(vertices + 2, 0) {
    for (const LabelledEdge& edge : edges) ++first_[edge.a + 2], ++first_[edge.b + 2];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    arcs_.resize(2 * edges.size());
    for (const LabelledEdge& edge : edges) {
      arcs_[first_[edge.a + 1]++] = {edge.label, edge.b};
      arcs_[first_[edge.b + 1]++] = {edge.label, edge.a};
    }
  }
  std::span<const Arc> operator[](Vertex v) const {
    return {arcs_.data() + first_[v], arcs_.data() + first_[v + 1]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Arc> arcs_;
};

class Refinement {
 public:
  Refinement(std::span<const std::uint64_t> colours, std::span<const LabelledEdge> edges)
      : neighbours_(colours.size(), edges), standing_(colours.size()), order_(colours.size()) {
    number_colours(colours);
    for (const Standing& vertex : standing_) {
      if (static_cast<std::size_t>(vertex.own) == classes_.size()) add_class(0, 0);
      ++classes_[vertex.own].size;
    }
    for (std::size_t c = 1; c < classes_.size(); ++c)
      classes_[c].first = classes_[c - 1].first + classes_[c - 1].size;
    std::vector<Vertex> end;
    for (const Class& part : classes_) end.push_back(part.first);
    for (std::size_t v = 0; v < standing_.size(); ++v) put(static_cast<Vertex>(v), end[standing_[v].own]++);
  }

  void run() {
    while (!splitters_.empty()) {
      const ClassId splitter = splitters_.back();
      splitters_.pop_back();
      classes_[splitter].waits = false;
      sum_labels(splitter);
      for (const ClassId c : touched_classes_) split(c);
      touched_classes_.clear();
    }
  }

  // [vertex], numbered in the order of their first vertices.
  std::vector<std::int32_t> classes() const {
    std::vector<ClassId> number(classes_.size(), -1), result(standing_.size());
    ClassId next = 0;
    for (std::size_t v = 0; v < standing_.size(); ++v) {
      ClassId& own = number[standing_[v].own];
      if (own < 0) own = next++;
      result[v] = own;
    }
    return result;
  }

 private:
  struct Class {
    Vertex first, size;  // its vertices are order_[first .. first + size)
    Vertex touched = 0;  // so many of them, at the front, have arcs from the present splitter
    bool waits = true;   // to be a splitter
  };

  static constexpr std::size_t kFar = 16, kNear = 4;  // members ahead at which what they lead to is loaded

  // Of a vertex; together, because an arc that leads to it asks for all of it.
  struct Standing {
    std::uint64_t sum = 0;  // of labels from the present splitter
    ClassId own = 0;        // its class
    Vertex place = 0;       // in order_
    bool touched = false;   // by an arc from the splitter
  };

  // Neighbours in number are mostly of one colour.
  void number_colours(std::span<const std::uint64_t> colours) {
    std::unordered_map<std::uint64_t, ClassId> known;
    for (std::size_t v = 0; v < colours.size(); ++v)
      standing_[v].own =
          v > 0 && colours[v] == colours[v - 1]
              ? standing_[v - 1].own
              : known.try_emplace(colours[v], static_cast<ClassId>(known.size())).first->second;
  }

  void put(Vertex v, Vertex place) {
    order_[place] = v;
    standing_[v].place = place;
  }
  void add_class(Vertex first, Vertex size) {
    splitters_.push_back(static_cast<ClassId>(classes_.size()));
    classes_.push_back({first, size});
  }

  // Leaves in their sums the labels of all arcs from the splitter, and the vertices they lead to at the front
  // of their classes. No arc leads into the splitter itself while it is read: both ends of it are moved at
  // most inside the range that is copied first.
  void sum_labels(ClassId splitter) {
    const auto begin = order_.begin() + classes_[splitter].first;
    members_.assign(begin, begin + classes_[splitter].size);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (i + kFar < members_.size()) fetch(neighbours_[members_[i + kFar]].data(), kCacheLine);
      if (i + kNear < members_.size())
        for (const Arc& arc : neighbours_[members_[i + kNear]]) fetch(standing_[arc.to]);
      for (const Arc& arc : neighbours_[members_[i]]) {
        Standing& to = standing_[arc.to];
        to.sum += arc.label;
        if (!to.touched) touch(arc.to, to);
      }
    }
  }

  void touch(Vertex v, Standing& standing) {
    standing.touched = true;
    Class& own = classes_[standing.own];
    if (own.touched == 0) touched_classes_.push_back(standing.own);
    const Vertex front = own.first + own.touched++;
    if (front == standing.place) return;
    put(order_[front], standing.place);
    put(v, front);
  }

  // Parts of one sum each become classes; the largest part, or what was not touched, keeps the old number.
  void split(ClassId c) {
    const Vertex first = classes_[c].first, size = classes_[c].size;
    const Vertex touched = std::exchange(classes_[c].touched, 0);
    const auto begin = order_.begin() + first, end = begin + touched;
    const auto sum = [&](Vertex v) { return standing_[v].sum; };
    if (std::any_of(begin, end, [&](Vertex v) { return sum(v) != sum(*begin); })) {
      std::sort(begin, end, [&](Vertex a, Vertex b) { return sum(a) < sum(b); });
      for (Vertex place = first; place < first + touched; ++place) standing_[order_[place]].place = place;
    }
    parts_.clear();
    for (Vertex from = first, to; from < first + touched; from = to) {
      for (to = from; to < first + touched && sum(order_[to]) == sum(order_[from]);) ++to;
      parts_.push_back({from, to - from});
    }
    if (touched < size) parts_.push_back({first + touched, size - touched});
    for (auto v = begin; v != end; ++v) {
      standing_[*v].sum = 0;
      standing_[*v].touched = false;
    }
    const auto largest = std::max_element(parts_.begin(), parts_.end(),
                                          [](const Part& a, const Part& b) { return a.size < b.size; });
    classes_[c].first = largest->first;
    classes_[c].size = largest->size;
    for (auto part = parts_.begin(); part != parts_.end(); ++part) {
      if (part == largest) continue;
      for (Vertex place = part->first; place < part->first + part->size; ++place)
        standing_[order_[place]].own = static_cast<ClassId>(classes_.size());
      add_class(part->first, part->size);
    }
  }

  struct Part {
    Vertex first, size;
  };

  Neighbours neighbours_;
  std::vector<Standing> standing_;  // [vertex]
  std::vector<Class> classes_;
  std::vector<Vertex> order_;  // vertices by class
  std::vector<ClassId> splitters_, touched_classes_;
  std::vector<Vertex> members_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<std::int32_t> equitable_partition(std::span<const std::uint64_t> colours,
                                              std::span<const LabelledEdge> edges) {
  Refinement refinement(colours, edges);
  refinement.run();
  return refinement.classes();
}

}  // namespace podsim
