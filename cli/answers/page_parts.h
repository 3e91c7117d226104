// Parts that pages of verbs share.
#pragma once

#include <string>
#include <vector>

#include "planner/search/incumbents.h"
#include "proto/pages/page.h"
#include "report/answer/report.h"

namespace podsim {

inline constexpr std::size_t kMostBars = 24;  // of a picture of steps

// The key of an object in a list: "[2]."
std::string at_index(std::size_t i);

// Tables as a terminal shows them.
PagePanel text_panel(const std::string& text);

// A dot of a picture of two figures that has `of` such dots.
PictureMark dot_at(double x, double y, std::size_t of, const std::string& label, const std::string& text);

// What is known of the step of a layout that was found, as far as a bar under this name shows it.
Report bar_of(const FoundLayout& found, const std::string& name);

// Such bars side by side. Their figures are not in JSON one by one.
Picture bars_of_found(const std::vector<Report>& steps);

// "compute 80.1%, bubble 10.2%, exposed communication 4.0%": where such a step goes, most first.
std::string buckets_text(const MainFigures& figures);

// Of points that are better the less of both they need: those that no other beats in both.
PictureSeries front_of(const PictureSeries& points);

}  // namespace podsim
