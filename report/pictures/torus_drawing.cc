// Implements torus_drawing of network_canvas.h: one plane for each z, side by side.
#include <algorithm>
#include <array>
#include <map>

#include "report/pictures/network_canvas.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kPlaneGap = 40, kWidest = 1200;
constexpr int kCubeSide = 4;               // of chips that have their links inside the cube
constexpr std::int64_t kMostBoxes = 4096;  // of more chips cubes are drawn, of more cubes larger ones
constexpr const char* kAxes[] = {"x", "y", "z"};

// How chips, or cubes, are drawn.
struct Grid {
  double size, pitch, stub;
};
constexpr Grid kChips{12, 26, 8}, kCubes{26, 46, 9};

// Chips along a box, so that a picture has no more boxes than can be told apart.
int side_of(const TorusSlice& slice) {
  const auto boxes = [&](int side) {
    std::int64_t count = 1;
    for (const int length : slice.shape) count *= (length + side - 1) / side;
    return count;
  };
  int side = 1;
  while (boxes(side) > kMostBoxes) side *= side == 1 ? kCubeSide : 2;
  return side;
}

// Links from a box towards the next along each dimension, those that wrap around before the first, and those
// within it.
struct BoxLinks {
  std::array<LinkBundle, 3> after, before;
  LinkBundle inside;
  int chips = 0, slow = 0;
};

class TorusPlanes {
 public:
  TorusPlanes(NetworkCanvas& canvas, const TorusSlice& slice)
      : canvas_(canvas), slice_(slice), side_(side_of(slice)), look_(side_ > 1 ? kCubes : kChips) {
    for (std::size_t d = 0; d < 3; ++d) boxes_[d] = (slice.shape[d] + side_ - 1) / side_;
    links_.resize(static_cast<std::size_t>(boxes_[0]) * static_cast<std::size_t>(boxes_[1]) *
                  static_cast<std::size_t>(boxes_[2]));
    canvas.set_box_size(look_.size, look_.size);
    gather();
  }

  Drawing drawn() {
    const auto [columns, rows, planes] = boxes_;
    const double wide = columns * look_.pitch + kPlaneGap, tall = rows * look_.pitch + kPlaneGap;
    const int across = std::clamp(static_cast<int>((kWidest - kDrawingMargin) / wide), 1, planes);
    for (int z = 0; z < planes; ++z) {
      const double left = kDrawingMargin + (z % across) * wide, top = kDrawingHead + (z / across) * tall;
      if (planes > 1) canvas_.add_label(left, top - 13, plane_name(z));
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) draw_box({x, y, z}, left + x * look_.pitch, top + y * look_.pitch);
      draw_seams(left, top);
    }
    return canvas_.drawing(summary(), 2 * kDrawingMargin + across * wide,
                           kDrawingHead + ((planes + across - 1) / across) * tall, true);
  }

 private:
  using Place = std::array<int, 3>;

  Place box_of(ChipId chip) const {
    Place at = slice_.coordinate(chip);
    for (int& each : at) each /= side_;
    return at;
  }
  BoxLinks& at(const Place& box) {
    return links_[static_cast<std::size_t>(box[0] + boxes_[0] * (box[1] + boxes_[1] * box[2]))];
  }

  void gather() {
    for (ChipId chip = slice_.first_chip; chip < slice_.first_chip + slice_.chips(); ++chip) {
      const Place place = slice_.coordinate(chip), box = box_of(chip);
      BoxLinks& links = at(box);
      ++links.chips;
      links.slow += canvas_.is_slow(chip) ? 1 : 0;
      for (int d = 0; d < 3; ++d) {
        const auto of = static_cast<std::size_t>(d);
        const ChipId next = slice_.neighbour(chip, d, 1), last = slice_.neighbour(chip, d, -1);
        const bool ends = place[of] + 1 == slice_.shape[of];
        if (next >= 0 && next != chip) {
          const bool within = side_ > 1 && !ends && box_of(next) == box;
          (within ? links.inside : links.after[of]).add(canvas_.cable(chip, next));
        }
        if (place[of] == 0 && slice_.wrap[of] && last >= 0 && last != chip)
          links.before[of].add(canvas_.cable(chip, last));
      }
    }
  }

  void draw_box(const Place& box, double left, double top) {
    const BoxLinks& links = at(box);
    const double half = look_.size / 2, x = left + half, y = top + half;
    canvas_.add_box({left, top, text_of(box, links)}, side_ > 1 ? "cube" : "chip");
    if (links.slow > 0) canvas_.add_slash(x, y);
    if (side_ > 1 && links.inside.share >= 0)
      canvas_.add_label(x, y + 3, fixed(100 * links.inside.share, 0) + "%", "inside-cube");
    // Links along z are short lines at the corners of a box.
    constexpr double kSteps[3][2] = {{1, 0}, {0, 1}, {1, 1}};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto [dx, dy] = kSteps[d];
      const bool wraps = box[d] + 1 == boxes_[d];
      const double stub = half + (d == 2 ? look_.stub / 2 : look_.stub);
      const double reach = wraps || d == 2 ? stub : look_.pitch - half;
      canvas_.add_stroke(links.after[d], x + half * dx, y + half * dy, x + reach * dx, y + reach * dy);
      canvas_.add_stroke(links.before[d], x - half * dx, y - half * dy, x - stub * dx, y - stub * dy);
    }
  }

  std::string text_of(const Place& box, const BoxLinks& links) const {
    const std::string place =
        "(" + std::to_string(box[0]) + ", " + std::to_string(box[1]) + ", " + std::to_string(box[2]) + ")";
    std::string text = side_ > 1 ? "cube " + place + " of " + std::to_string(links.chips) + " chips"
                                 : "chip " + std::to_string(slice_.chip(box)) + " at " + place;
    if (links.slow > 0) text += side_ > 1 ? ", " + std::to_string(links.slow) + " slow" : ", slow";
    const std::string inside = NetworkCanvas::use_text(links.inside);
    std::string uses = inside.empty() ? "" : "within " + inside;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::string use = NetworkCanvas::use_text(links.after[d]);
      if (!use.empty()) uses += (uses.empty() ? "" : "; ") + std::string(kAxes[d]) + " " + use;
    }
    return uses.empty() ? text : text + ": " + uses;
  }

  bool is_twisted(std::size_t d) const { return slice_.twist[d] != std::array<int, 3>{}; }

  std::string plane_name(int z) const {
    const bool ends = z == 0 || z + 1 == boxes_[2];
    const std::string name = side_ == 1 ? "z = " + std::to_string(z)
                                        : "z = " + std::to_string(z * side_) + " to " +
                                              std::to_string(std::min((z + 1) * side_, slice_.shape[2]) - 1);
    return is_twisted(2) && ends ? name + ", a twisted seam " + (z == 0 ? "before" : "behind") : name;
  }

  // Beside the stubs of dimensions past whose ends the torus goes on elsewhere.
  void draw_seams(double left, double top) {
    const double away = look_.stub + 3, right = left + (boxes_[0] - 1) * look_.pitch + look_.size;
    const double bottom = top + (boxes_[1] - 1) * look_.pitch + look_.size;
    if (is_twisted(0))
      for (const double x : {left - away, right + away}) canvas_.add_seam(x, top, x, bottom);
    if (is_twisted(1))
      for (const double y : {top - away, bottom + away}) canvas_.add_seam(left, y, right, y);
  }

  std::string summary() const {
    std::string text = canvas_.whole().name + ": " + std::to_string(slice_.chips()) + " chips, a torus of " +
                       std::to_string(slice_.shape[0]) + " x " + std::to_string(slice_.shape[1]) + " x " +
                       std::to_string(slice_.shape[2]);
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t e = 0; e < 3; ++e)
        if (slice_.twist[d][e] != 0)
          text += ", twisted: past the end of " + std::string(kAxes[d]) + " " + kAxes[e] + " goes on by " +
                  std::to_string(slice_.twist[d][e]);
    if (side_ > 1)
      text += ", by cubes of " + std::to_string(side_) + " x " + std::to_string(side_) + " x " +
              std::to_string(side_) + " chips" +
              (canvas_.has_load() ? ", each with the busiest of its links" : "");
    return text;
  }

  NetworkCanvas& canvas_;
  const TorusSlice& slice_;
  const int side_;
  const Grid look_;
  Place boxes_ = {};
  std::vector<BoxLinks> links_;
};

}  // namespace

Drawing torus_drawing(NetworkCanvas& canvas, const TorusSlice& slice) {
  return TorusPlanes(canvas, slice).drawn();
}

}  // namespace podsim
