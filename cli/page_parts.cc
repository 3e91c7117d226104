// Implements page_parts.h.
#include "cli/page_parts.h"

#include <algorithm>

namespace podsim {

std::string at_index(std::size_t i) { return "[" + std::to_string(i) + "]."; }

PagePanel text_panel(const std::string& text) {
  PagePanel panel{"tables", "As tables"};
  panel.text = text;
  return panel;
}

PictureMark dot_at(double x, double y, std::size_t of, const std::string& label, const std::string& text) {
  return {x, y, 0.35 / static_cast<double>(std::max<std::size_t>(8, of)), label, text};
}

PictureSeries front_of(const PictureSeries& points) {
  std::vector<PictureMark> sorted = points.marks;
  std::ranges::stable_sort(sorted, [](const PictureMark& a, const PictureMark& b) {
    return std::pair(a.x, a.y) < std::pair(b.x, b.y);
  });
  PictureSeries front{"no other is better in both", "limit", MarkShape::kLine};
  for (const PictureMark& mark : sorted)
    if (front.marks.empty() || mark.y < front.marks.back().y) front.marks.push_back({mark.x, mark.y, 0});
  return front;
}

}  // namespace podsim
