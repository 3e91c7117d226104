// Parts that pages of verbs share.
#pragma once

#include <string>

#include "proto/pages/page.h"

namespace podsim {

inline constexpr std::size_t kMostBars = 24;  // of a picture of steps

// The key of an object in a list: "[2]."
std::string at_index(std::size_t i);

// Tables as a terminal shows them.
PagePanel text_panel(const std::string& text);

// A dot of a picture of two figures that has `of` such dots.
PictureMark dot_at(double x, double y, std::size_t of, const std::string& label, const std::string& text);

// Of points that are better the less of both they need: those that no other beats in both.
PictureSeries front_of(const PictureSeries& points);

}  // namespace podsim
