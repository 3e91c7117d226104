// A picture as plain data: axes, series of marks, lines that marks are held against. It knows no colours and
// no places on a page: SVG (svg.h) and the scripts of pages are drawn from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace podsim {

enum class MarkShape {
  kBox,   // from x to x + extent in row y
  kCell,  // at column x and row y; extent = its value on Picture::scale
  kDot,   // at (x, y); extent = its share of the area of all dots
  kLine,  // joins the marks in their order
  kArea,  // from y to y + extent at x
  kTick,  // a stroke from y to y + extent at x
};

// Of the dots of a series.
enum class DotShape { kCircle, kSquare, kTriangle, kDiamond };

// A part of an axis that is shown; between two of them something is left out.
struct AxisWindow {
  double low = 0, high = 0;
};

struct PictureAxis {
  std::string label, unit;
  std::vector<std::string> names = {};  // of places 0, 1, 2, ...; empty: numbers
  bool logarithmic = false;
  std::optional<double> low = {}, high = {};  // where its ends are not those of the marks
  std::vector<AxisWindow> windows = {};       // ascending; empty: all of it

  std::string title() const { return unit.empty() ? label : label + ", " + unit; }
};

struct PictureMark {
  double x = 0, y = 0, extent = 0;
  std::string label = {};  // written on it where there is room
  std::string text = {};   // what it is, in words
  std::string key = {};    // of the figure in JSON that it shows, or empty
  std::string row = {};    // the head of its row in a table beside the picture, where it has one
  std::string more = {};   // what is told of it when it is chosen, in sentences
};

struct PictureSeries {
  std::string name;
  std::string role;  // what it stands for on every picture: "compute", "bubble", ... (roles.h)
  MarkShape shape = MarkShape::kBox;
  std::vector<PictureMark> marks = {};
  std::string note = {};  // beside its name: "4.3162 s, 66.4%"
  DotShape dot = DotShape::kCircle;
};

// Held against the marks: a capacity, a limit. Across the picture at a place of the x or the y axis.
struct PictureLine {
  bool vertical = true;
  double at = 0;
  std::string text;
};

// What was left out between a window of the x axis and the next.
struct PictureBreak {
  std::size_t after = 0;  // window
  std::string text;
};

struct Picture {
  std::string id;       // "breakdown"
  std::string title;    // "Where the step goes"
  std::string summary;  // the same in a sentence or two, for whoever does not see it
  PictureAxis x = {}, y = {};
  PictureAxis scale = {};  // of the values of cells
  std::vector<PictureSeries> series = {};
  std::vector<PictureLine> lines = {};
  std::vector<PictureBreak> breaks = {};
};

}  // namespace podsim
