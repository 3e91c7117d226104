// Routes inside a torus slice: all shortest paths, or one walked dimension by dimension.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "engine/check.h"
#include "topology/route_parts.h"

namespace podsim {
namespace {

using Vector = std::array<int, 3>;  // coordinates, or a displacement in chips

int line_hops(int displacement, int length, bool wrap) {
  int straight = std::abs(displacement);
  if (straight >= length) straight %= length;  // a division only where a twist has shifted it so far
  return wrap ? std::min(straight, length - straight) : straight;
}

int total_hops(const Vector& displacement) {
  return std::abs(displacement[0]) + std::abs(displacement[1]) + std::abs(displacement[2]);
}

// The images of one target: where it lies when one goes round the slice or not.
class Images {
 public:
  Images(const TorusSlice& slice, const Vector& target) : slice_(slice), target_(target) {
    for (int d = 0; d < 3; ++d)
      twisted_[d] = std::ranges::any_of(slice.twist[d], [](int shift) { return shift != 0; });
  }

  // Hops from any chip of the slice to the target.
  int hops_from(const Vector& at) const {
    int hops = INT_MAX;
    for_each_round(at, [&](const Vector& image) {
      int sum = 0;
      for (int d = 0; d < 3; ++d)
        sum += twisted_[d] ? std::abs(image[d]) : line_hops(image[d], slice_.shape[d], slice_.wrap[d]);
      hops = std::min(hops, sum);
    });
    return hops;
  }

  bool twisted() const { return twisted_ != Vector{}; }

  // The neighbours of the chip that are nearer to the target; some perhaps twice. REQUIRES: nothing is
  // twisted.
  struct Neighbours {
    std::array<ChipId, 6> chips;
    std::size_t count = 0;
    bool has(NodeId node) const {
      return std::find(chips.begin(), chips.begin() + count, node) != chips.begin() + count;
    }
  };
  Neighbours nearer(ChipId chip) const {
    const Vector at = slice_.coordinate(chip);
    Neighbours found{};
    int apart = 1;  // numbers of neighbours in the dimension
    for (int d = 0; d < 3; apart *= slice_.shape[d++]) {
      const int length = slice_.shape[d], straight = target_[d] - at[d];
      if (straight == 0) continue;
      const int forward = straight > 0 ? straight : straight + length, back = length - forward;
      if (slice_.wrap[d] ? forward <= back : straight > 0)
        found.chips[found.count++] = chip + apart * (at[d] + 1 < length ? 1 : 1 - length);
      if (slice_.wrap[d] ? back <= forward : straight < 0)
        found.chips[found.count++] = chip + apart * (at[d] > 0 ? -1 : length - 1);
    }
    return found;
  }

  // All displacements of least hops.
  std::vector<Vector> nearest(const Vector& at) const {
    const int hops = hops_from(at);
    std::vector<Vector> found;
    for_each_round(at, [&](const Vector& image) {
      for (const int x : ways_round(image[0], 0))
        for (const int y : ways_round(image[1], 1))
          for (const int z : ways_round(image[2], 2))
            if (total_hops({x, y, z}) == hops) found.push_back({x, y, z});
    });
    return found;
  }

 private:
  // Going round a twisted dimension of length n twice shifts nothing, so only the parity of the rounds
  // matters. The straight displacement is less than n, so -1, 0 and 1 rounds contain the shortest image of
  // either parity.
  template <class Visit>
  void for_each_round(const Vector& at, Visit&& visit) const {
    const Vector straight = {target_[0] - at[0], target_[1] - at[1], target_[2] - at[2]};
    for (int x = -twisted_[0]; x <= twisted_[0]; ++x)
      for (int y = -twisted_[1]; y <= twisted_[1]; ++y)
        for (int z = -twisted_[2]; z <= twisted_[2]; ++z) visit(image(straight, {x, y, z}));
  }

  Vector image(Vector displacement, const Vector& rounds) const {
    for (int d = 0; d < 3; ++d) {
      if (rounds[d] == 0) continue;
      displacement[d] += rounds[d] * slice_.shape[d];
      for (int e = 0; e < 3; ++e) displacement[e] -= rounds[d] * slice_.twist[d][e];
    }
    return displacement;
  }

  // A ring that shifts nothing is passed either way round.
  std::vector<int> ways_round(int displacement, int d) const {
    const int length = slice_.shape[d];
    if (twisted_[d] || !slice_.wrap[d]) return {displacement};
    const int forward = ((displacement % length) + length) % length;
    return forward == 0 ? std::vector<int>{0} : std::vector<int>{forward, forward - length};
  }

  const TorusSlice& slice_;
  Vector target_;
  Vector twisted_ = {};  // 1 where the wrap of the dimension shifts others, else 0
};

// Of equally near images, dimension by dimension, the farthest forward from even coordinates of the source
// and the farthest back from odd ones: half of the chips of a ring take each side of a half-way tie.
Vector image_by_parity(std::vector<Vector> images, const Vector& source) {
  for (int d = 0; d < 3; ++d) {
    const auto [back, forward] =
        std::ranges::minmax_element(images, {}, [d](const Vector& image) { return image[d]; });
    const int chosen = source[d] % 2 == 0 ? (*forward)[d] : (*back)[d];
    std::erase_if(images, [d, chosen](const Vector& image) { return image[d] != chosen; });
  }
  return images.front();
}

std::vector<RouteHop> route_by_images(const Fabric& fabric, const TorusSlice& slice, ChipId from, ChipId to) {
  const Images target(slice, slice.coordinate(to));
  if (!target.twisted())
    return spread(fabric, from, to, [&](Place chip, int, std::vector<NextHop>& next) {
      const Images::Neighbours nearer = target.nearer(chip);
      for (LinkId link = fabric.out_first[chip]; link < fabric.out_first[chip + 1]; ++link)
        if (const NodeId end = fabric.links[link].to; nearer.has(end)) next.push_back({link, end});
    });
  const int hops = target.hops_from(slice.coordinate(from));
  return spread(fabric, from, to, [&](Place chip, int step, std::vector<NextHop>& next) {
    const int left = hops - step - 1;
    for (LinkId link = fabric.out_first[chip]; left >= 0 && link < fabric.out_first[chip + 1]; ++link) {
      const NodeId end = fabric.links[link].to;
      if (end < fabric.chips && target.hops_from(slice.coordinate(end)) == left) next.push_back({link, end});
    }
  });
}

int dimension_of(const TorusSlice& slice, const Link& link) {
  for (int d = 0; d < 3; ++d)
    if (slice.neighbour(link.from, d, +1) == link.to || slice.neighbour(link.from, d, -1) == link.to)
      return d;
  return 3;
}

std::vector<RouteHop> route_round_damage(const Fabric& fabric, const TorusSlice& slice, ChipId from,
                                         ChipId to, const Ways& ways) {
  PODSIM_CHECK(ways.lead_from(from),
               "no way left between chips " + std::to_string(from) + " and " + std::to_string(to));
  return spread(fabric, from, to, [&](Place chip, int, std::vector<NextHop>& next) {
    ways.next(chip, next);
    if (fabric.routing != Routing::kDimensionOrder) return;
    std::ranges::stable_sort(next, {},
                             [&](const NextHop& hop) { return dimension_of(slice, fabric.links[hop.link]); });
  });
}

}  // namespace

std::vector<RouteHop> walk_in_order(const Fabric& fabric, const TorusSlice& slice, ChipId from, ChipId to) {
  const Vector source = slice.coordinate(from);
  const Vector walk = image_by_parity(Images(slice, slice.coordinate(to)).nearest(source), source);
  std::vector<RouteHop> route;
  ChipId at = from;
  for (int d = 0; d < 3; ++d)
    for (int step = 0; step < std::abs(walk[d]); ++step) {
      const ChipId next = slice.neighbour(at, d, walk[d] > 0 ? +1 : -1);
      const LinkId link = fabric.link_between(at, next);
      if (link < 0) return {};
      route.push_back({link, 1.0});
      at = next;
    }
  PODSIM_CHECK(at == to, "a walk through a torus ends at another chip");
  return route;
}

std::vector<RouteHop> route_in_slice(const Fabric& fabric, const TorusSlice& slice, ChipId from, ChipId to,
                                     const Ways* known) {
  if (fabric.routing == Routing::kDimensionOrder)
    if (auto walk = walk_in_order(fabric, slice, from, to); !walk.empty()) return walk;
  if (!fabric.damaged) return route_by_images(fabric, slice, from, to);
  if (known != nullptr) return route_round_damage(fabric, slice, from, to, *known);
  if (const LinkId direct = fabric.link_between(from, to); direct >= 0) return {{direct, 1.0}};
  return route_round_damage(fabric, slice, from, to, Ways::in_slice(fabric, to, from));
}

}  // namespace podsim
