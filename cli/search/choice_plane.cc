// Dots of choices, by the memory that they leave free, and the front that joins the best of them.
#include "cli/search/choice_plane.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "cli/answers/page_parts.h"

namespace podsim {
namespace {

// Memory that a choice leaves free, in steps that a picture can tell apart.
struct Headroom {
  double below;  // share
  const char* role;
  const char* name;
};
constexpr Headroom kHeadrooms[] = {{0.05, "room-least", "less than 5% of memory free"},
                                   {0.15, "room-little", "5% to 15% free"},
                                   {0.30, "room-some", "15% to 30% free"},
                                   {2.0, "room-much", "30% free or more"}};

std::size_t headroom_of(double memory_free) {
  const auto found =
      std::ranges::find_if(kHeadrooms, [&](const Headroom& each) { return memory_free < each.below; });
  return static_cast<std::size_t>(std::distance(std::begin(kHeadrooms), found));
}

constexpr DotShape kShapes[] = {DotShape::kCircle, DotShape::kSquare, DotShape::kTriangle,
                                DotShape::kDiamond};

}  // namespace

std::vector<PictureSeries> plane_series(const std::vector<PlaneChoice>& choices) {
  double chips = 0;
  std::vector<std::string> kinds;
  for (const PlaneChoice& each : choices) {
    chips += each.chips;
    if (std::ranges::find(kinds, each.chip) == kinds.end()) kinds.push_back(each.chip);
  }
  constexpr double kAreaOfAll = 0.35 * 8;  // as much as eight dots of dot_at
  const double area = std::min(kAreaOfAll, 0.35 / 8 * static_cast<double>(choices.size()));
  PictureSeries all{"", "limit", MarkShape::kDot};
  std::map<std::pair<std::size_t, std::size_t>, PictureSeries> by_kind;  // [chip, headroom]
  for (const PlaneChoice& each : choices) {
    const auto kind = static_cast<std::size_t>(std::ranges::find(kinds, each.chip) - kinds.begin());
    const Headroom& room = kHeadrooms[headroom_of(each.memory_free)];
    const auto [found, fresh] = by_kind.try_emplace({kind, headroom_of(each.memory_free)});
    if (fresh)
      found->second = {.name = each.chip + ", " + room.name,
                       .role = room.role,
                       .shape = MarkShape::kDot,
                       .dot = kShapes[kind % std::size(kShapes)]};
    found->second.marks.push_back({.x = each.time,
                                   .y = each.usd,
                                   .extent = chips > 0 ? area * each.chips / chips : 0,
                                   .label = each.label,
                                   .text = each.text,
                                   .row = each.row,
                                   .more = each.more});
    all.marks.push_back(found->second.marks.back());
  }
  std::vector<PictureSeries> series = {front_of(all)};
  for (auto& [kind, of_kind] : by_kind) series.push_back(std::move(of_kind));
  return series;
}

}  // namespace podsim
