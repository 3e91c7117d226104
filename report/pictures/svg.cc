// Draws pictures as SVG. Coordinates have two decimals; colours are classes, so that a page has them once.
#include "report/pictures/svg.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "engine/utf8.h"
#include "report/pictures/plot_scale.h"
#include "report/pictures/svg_style.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kPageWidth = 960, kTop = 34, kRight = 18, kRowHeight = 26, kOneRowHeight = 52;
constexpr double kPlotHeight = 330, kGlyph = 6.4;  // width of a letter, about
constexpr double kLegendRow = 20, kTicksHeight = 38;
constexpr std::size_t kMostTitled = 600;  // marks with a text of their own; of more each row is one path
constexpr double kHairline = 0.05;        // gaps below are closed there,
constexpr double kSeparate = 2.5, kHairGap = 0.5;  // and boxes above this width told apart by a gap

double width_of(const std::string& text) { return kGlyph * static_cast<double>(text.size()); }

std::string place(double value) {
  std::string text = fixed(value, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + escaped(value) + "\"";
}

std::string words(double x, double y, const std::string& text, const std::string& kind) {
  return "<text" + attribute("class", kind) + attribute("x", place(x)) + attribute("y", place(y)) + ">" +
         escaped(text) + "</text>";
}

std::string stroke(double x1, double y1, double x2, double y2, const std::string& kind) {
  return "<path" + attribute("class", kind) + " d=\"M" + place(x1) + " " + place(y1) + "L" + place(x2) + " " +
         place(y2) + "\"/>";
}

// Names on the left and marks beside them, ticks below, the legend at the foot.
class SvgDrawing {
 public:
  explicit SvgDrawing(const Picture& picture)
      : picture_(picture),
        left_(left_of(picture)),
        bottom_(kTop + height_of(picture)),
        x_(picture.x, extent_of(picture).x, left_, kPageWidth - kRight),
        y_(picture.y, extent_of(picture).y, picture.y.names.empty() ? bottom_ : kTop,
           picture.y.names.empty() ? kTop : bottom_) {}

  std::string element(const std::string& head) const {
    const std::string body = frame() + marks() + lines() + breaks() + legend();
    const double height = bottom_ + kTicksHeight + legend_height_ + 6;
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\"" +
           attribute("viewBox", "0 0 " + place(kPageWidth) + " " + place(height)) +
           attribute("aria-label", picture_.title + ". " + picture_.summary) + ">" + head +
           words(left_, 18, picture_.title, "title") + body + "</svg>\n";
  }

 private:
  static double left_of(const Picture& picture) {
    double widest = picture.y.names.empty() ? 44 : 30;
    for (const std::string& name : picture.y.names) widest = std::max(widest, width_of(shortened(name)));
    return widest + (picture.y.label.empty() ? 14 : 32);
  }

  static double height_of(const Picture& picture) {
    const std::size_t rows = picture.y.names.size();
    if (rows == 0) return kPlotHeight;
    const double most = 1400.0 / static_cast<double>(rows);
    return static_cast<double>(rows) * (rows == 1 ? kOneRowHeight : std::min(kRowHeight, most));
  }

  static std::string shortened(const std::string& name) {
    constexpr std::size_t kMost = 34;
    if (name.size() <= kMost) return name;
    std::size_t end = 0;
    while (end < kMost - 1) end += std::max<std::size_t>(1, utf8_length(name, end));
    return name.substr(0, std::min(end, name.size())) + "\u2026";
  }

  std::string frame() const {
    std::string out;
    for (const AxisTick& tick : x_.ticks(picture_.x.names.empty() ? 9 : 24)) {
      if (picture_.x.names.empty()) out += stroke(tick.at, kTop, tick.at, bottom_, "grid");
      out += words(tick.at, bottom_ + 15, shortened(tick.text), "tick middle");
    }
    const std::size_t rows = picture_.y.names.size();
    for (const AxisTick& tick : y_.ticks(rows == 0 ? 6 : 54)) {
      if (rows == 0) out += stroke(left_, tick.at, kPageWidth - kRight, tick.at, "grid");
      out += words(left_ - 7, tick.at + 4, shortened(tick.text), "tick end");
    }
    out += stroke(left_, kTop, left_, bottom_, "axis") +
           stroke(left_, bottom_, kPageWidth - kRight, bottom_, "axis");
    out += words(kPageWidth - kRight, bottom_ + 31, picture_.x.title(), "label end");
    if (!picture_.y.label.empty())
      out += "<text class=\"label middle\" transform=\"translate(12 " + place((kTop + bottom_) / 2) +
             ") rotate(-90)\">" + escaped(picture_.y.title()) + "</text>";
    return out + "\n";
  }

  double row_height() const {
    return (bottom_ - kTop) / static_cast<double>(std::max<std::size_t>(1, picture_.y.names.size()));
  }

  std::string marks() const {
    std::size_t count = 0;
    for (const PictureSeries& series : picture_.series) count += series.marks.size();
    std::string out;
    for (const PictureSeries& series : picture_.series) {
      out += "<g" + attribute("class", "r-" + series.role) + attribute("data-series", series.name) + ">";
      switch (series.shape) {
        case MarkShape::kBox:
          out += count > kMostTitled ? many_boxes(series) : boxes(series);
          break;
        case MarkShape::kCell:
          out += cells(series);
          break;
        case MarkShape::kDot:
          out += dots(series);
          break;
        case MarkShape::kLine:
          out += line(series);
          break;
        case MarkShape::kArea:
          out += area(series);
          break;
        case MarkShape::kTick:
          out += ticks(series);
          break;
      }
      out += "</g>\n";
    }
    return out;
  }

  struct Box {
    double left, right, top, height;
  };
  Box box_of(const PictureMark& mark) const {
    const double height = row_height() * (row_height() > 12 ? 0.78 : 0.9);
    return {x_.at(mark.x), x_.at(mark.x + mark.extent), y_.at(mark.y) - height / 2, height};
  }

  static std::string titled(const PictureMark& mark) {
    return (mark.key.empty() ? "" : attribute("data-key", mark.key)) +
           (mark.text.empty() ? "/>" : "><title>" + escaped(mark.text) + "</title></rect>");
  }

  static std::string rectangle(const Box& box, const std::string& more) {
    return "<rect" + attribute("x", place(box.left)) + attribute("y", place(box.top)) +
           attribute("width", place(box.right - box.left)) + attribute("height", place(box.height)) + more;
  }

  std::string boxes(const PictureSeries& series) const {
    std::string out;
    for (const PictureMark& mark : series.marks) {
      const Box box = box_of(mark);
      if (!(box.right > box.left)) continue;
      out += rectangle(box, titled(mark)) + label_in(box, mark.label);
    }
    return out;
  }

  static std::string label_in(const Box& box, const std::string& label) {
    if (label.empty() || box.height < 11 || width_of(label) + 4 > box.right - box.left) return "";
    return words((box.left + box.right) / 2, box.top + box.height / 2 + 4, label, "inside middle");
  }

  // Thin boxes that touch are one.
  std::string many_boxes(const PictureSeries& series) const {
    std::string path, labels;
    Box open{0, -1, 0, 0};
    const auto close = [&] {
      if (open.right - open.left > kSeparate) open.right -= kHairGap;
      if (open.right > open.left)
        path += "M" + place(open.left) + " " + place(open.top) + "h" + place(open.right - open.left) + "v" +
                place(open.height) + "H" + place(open.left) + "z";
    };
    for (const PictureMark& mark : series.marks) {
      const Box box = box_of(mark);
      labels += label_in(box, mark.label);
      const bool thin = open.right - open.left < kSeparate && box.right - box.left < kSeparate;
      if (thin && box.top == open.top && box.left - open.right < kHairline && box.left >= open.left) {
        open.right = std::max(open.right, box.right);
        continue;
      }
      close();
      open = box;
    }
    close();
    return "<path d=\"" + path + "\"/>" + labels;
  }

  std::string cells(const PictureSeries& series) const {
    const double width = std::abs(x_.at(1) - x_.at(0)), height = row_height();
    const double low = picture_.scale.low.value_or(0), high = picture_.scale.high.value_or(1);
    std::string out;
    for (const PictureMark& mark : series.marks) {
      const double left = x_.at(mark.x) - width / 2, top = y_.at(mark.y) - height / 2;
      const double share = std::clamp((mark.extent - low) / (high > low ? high - low : 1), 0.0, 1.0);
      out += rectangle({left, left + width * 0.96, top, height * 0.94},
                       attribute("fill-opacity", place(0.06 + 0.94 * share)) + titled(mark));
    }
    return out;
  }

  std::string dots(const PictureSeries& series) const {
    constexpr double kAreaOfAll = 9000, kLeastRadius = 3;
    std::string out;
    for (const PictureMark& mark : series.marks) {
      const double radius = std::max(kLeastRadius, std::sqrt(kAreaOfAll * mark.extent / 3.14159265));
      const double x = x_.at(mark.x), y = y_.at(mark.y);
      const auto [tag, geometry] = dot_of(series.dot, x, y, radius);
      out += "<" + tag + geometry + (mark.key.empty() ? "" : attribute("data-key", mark.key)) + "><title>" +
             escaped(mark.text) + "</title></" + tag + ">";
      if (!mark.label.empty()) out += dot_label(x, y, radius, mark.label);
    }
    return out;
  }

  // The element of a dot and what it is drawn by; all are about as wide.
  static std::pair<std::string, std::string> dot_of(DotShape shape, double x, double y, double radius) {
    if (shape == DotShape::kCircle)
      return {"circle",
              attribute("cx", place(x)) + attribute("cy", place(y)) + attribute("r", place(radius))};
    const double r = radius * 1.1;
    const auto point = [&](double dx, double dy) { return place(x + dx * r) + " " + place(y + dy * r); };
    const std::string corners =
        shape == DotShape::kSquare
            ? point(-1, -1) + "L" + point(1, -1) + "L" + point(1, 1) + "L" + point(-1, 1)
        : shape == DotShape::kTriangle
            ? point(0, -1.1) + "L" + point(1.1, 0.9) + "L" + point(-1.1, 0.9)
            : point(0, -1.3) + "L" + point(1.3, 0) + "L" + point(0, 1.3) + "L" + point(-1.3, 0);
    return {"path", attribute("d", "M" + corners + "z")};
  }

  // Beside its dot; left out where it would lie on another.
  std::string dot_label(double x, double y, double radius, const std::string& label) const {
    const bool left = x + radius + 6 + width_of(label) > kPageWidth - kRight;
    const double begin = left ? x - radius - 3 - width_of(label) : x + radius + 3;
    const Box place_of{begin, begin + width_of(label), y - 6, 12};
    for (const Box& other : dot_labels_) {
      if (place_of.left < other.right && other.left < place_of.right &&
          std::abs(place_of.top - other.top) < 12)
        return "";
    }
    dot_labels_.push_back(place_of);
    return left ? words(x - radius - 3, y + 4, label, "beside end") : words(begin, y + 4, label, "beside");
  }

  std::string line(const PictureSeries& series) const {
    std::string path;
    for (const PictureMark& mark : series.marks)
      path += (path.empty() ? "M" : "L") + place(x_.at(mark.x)) + " " + place(y_.at(mark.y));
    std::string out = "<path class=\"line\" d=\"" + path + "\"/>";
    for (const PictureMark& mark : series.marks)
      if (!mark.label.empty()) out += words(x_.at(mark.x) + 5, y_.at(mark.y) - 6, mark.label, "beside");
    return out;
  }

  std::string area(const PictureSeries& series) const {
    std::string path;
    for (const PictureMark& mark : series.marks)
      path += (path.empty() ? "M" : "L") + place(x_.at(mark.x)) + " " + place(y_.at(mark.y + mark.extent));
    for (auto mark = series.marks.rbegin(); mark != series.marks.rend(); ++mark)
      path += "L" + place(x_.at(mark->x)) + " " + place(y_.at(mark->y));
    return "<path d=\"" + path + "z\"/>";
  }

  std::string ticks(const PictureSeries& series) const {
    constexpr double kWidth = 1.6;
    std::string out;
    for (const PictureMark& mark : series.marks) {
      const double x = x_.at(mark.x), foot = y_.at(mark.y), top = y_.at(mark.y + mark.extent);
      out += rectangle({x - kWidth / 2, x + kWidth / 2, top, foot - top}, titled(mark));
    }
    return out;
  }

  std::string lines() const {
    std::string out;
    for (const PictureLine& line : picture_.lines) {
      if (line.vertical) {
        const double x = x_.at(line.at);
        out += stroke(x, kTop - 6, x, bottom_, "limit");
        out += x > kPageWidth / 2 ? words(x - 4, kTop - 5, line.text, "beside end")
                                  : words(x + 4, kTop - 5, line.text, "beside");
      } else {
        const double y = y_.at(line.at);
        out += stroke(left_, y, kPageWidth - kRight, y, "limit") +
               words(kPageWidth - kRight - 3, y - 5, line.text, "beside end");
      }
    }
    return out;
  }

  std::string breaks() const {
    std::string out;
    const std::vector<double> cuts = x_.cuts();
    for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
      for (const double side : {-3.0, 3.0})
        out += stroke(cuts[cut] + side - 3, bottom_ + 4, cuts[cut] + side + 3, kTop - 4, "cut");
      for (const PictureBreak& each : picture_.breaks)
        if (each.after == cut) out += words(cuts[cut], kTop - 8, each.text, "tick middle");
    }
    return out;
  }

  std::string legend() const {
    std::string out;
    double x = left_, y = bottom_ + kTicksHeight + 12;
    bool any = false;
    for (const PictureSeries& series : picture_.series) {
      if (series.name.empty()) continue;
      const std::string text = series.name + (series.note.empty() ? "" : "  " + series.note);
      const double width = width_of(text) + 30;
      if (any && x + width > kPageWidth) {
        x = left_;
        y += kLegendRow;
      }
      out += "<rect" + attribute("class", "r-" + series.role) + attribute("x", place(x)) +
             attribute("y", place(y - 9)) + " width=\"11\" height=\"11\"/>" +
             words(x + 16, y + 1, text, "legend");
      x += width;
      any = true;
    }
    legend_height_ = any ? y - bottom_ - kTicksHeight + 4 : 0;
    return out;
  }

  const Picture& picture_;
  const double left_, bottom_;
  const PlotScale x_, y_;
  mutable double legend_height_ = 0;
  mutable std::vector<Box> dot_labels_;
};

std::vector<Role> roles_in(const Picture& picture) {
  std::vector<Role> roles;
  for (const Role& role : kRoles)
    if (std::ranges::any_of(picture.series,
                            [&](const PictureSeries& each) { return each.role == role.name; }))
      roles.push_back(role);
  return roles;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const char c = text[at];
    if (length == 0 || (is_control(c) && c != '\n' && c != '\t')) {
      out += "\uFFFD";
    } else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'') {
      out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : "&#39;";
    } else {
      out += text.substr(at, length);
    }
    at += std::max<std::size_t>(1, length);
  }
  return out;
}

std::string picture_style() { return style_of(kRoles); }

std::string picture_patterns() { return patterns_of(kRoles); }

std::string svg_element(const Picture& picture) { return SvgDrawing(picture).element(""); }

std::string svg_file(const Picture& picture) {
  const std::vector<Role> roles = roles_in(picture);
  return SvgDrawing(picture).element("<style>" + style_of(roles) + "</style>" + patterns_of(roles));
}

}  // namespace podsim
