// From the values of an axis to places on a drawing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/pictures/picture.h"

namespace podsim {

struct AxisTick {
  double at;  // on the drawing
  std::string text;
};

// An axis with its values spread from `begin` to `end` of the drawing, which may run backwards.
class PlotScale {
 public:
  // `data`: the least and the greatest value of the marks. REQUIRES: a logarithmic axis has values above 0.
  PlotScale(const PictureAxis& axis, std::pair<double, double> data, double begin, double end);

  double at(double value) const;
  bool shows(double value) const;  // it is in a window
  std::vector<AxisTick> ticks(int most) const;

  // Between the windows: where the drawing is cut.
  std::vector<double> cuts() const;

 private:
  struct Stretch {
    double low, high, begin, end;
  };
  const PictureAxis& axis_;
  std::vector<Stretch> stretches_;
};

// 1500000 -> "1.5 M".
std::string with_prefix(double value);

// Least and greatest value that marks take along the axes: {x, y}.
struct MarkExtent {
  std::pair<double, double> x, y;
};
MarkExtent extent_of(const Picture& picture);

}  // namespace podsim
