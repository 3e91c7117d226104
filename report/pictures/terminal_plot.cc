// Draws with eighths of a block, or with #, and letters for the marks of a plane.
#include "report/pictures/terminal_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "engine/utf8.h"
#include "report/pictures/plot_scale.h"
#include "report/pictures/roles.h"

namespace podsim {
namespace {

constexpr int kFewestColumns = 40, kMostColumns = 110, kPlaneRows = 12, kWidestName = 28;
constexpr std::string_view kMarkLetters = "ox+*%@&$";

// The colour of a role on a dark and on a light terminal alike, of the 216 that nearly all have.
int terminal_colour(const std::string& role) {
  for (const Role& each : kRoles) {
    if (each.name != role) continue;
    int colour = 16;
    for (const int place : {1, 3, 5}) {
      const int part =
          std::stoi(std::string(each.dark.substr(static_cast<std::size_t>(place), 2)), nullptr, 16);
      colour = (colour - 16) * 6 + (part * 5 + 127) / 255 + 16;
    }
    return colour;
  }
  return 0;
}

std::string in_colour(const std::string& text, const std::string& role, bool colour) {
  if (!colour || text.empty()) return text;
  return "\033[38;5;" + std::to_string(terminal_colour(role)) + "m" + text + "\033[0m";
}

// Characters of a text that a terminal shows and that a scenario may have; others would move its cursor.
std::vector<std::string> letters_of(const std::string& text) {
  std::vector<std::string> letters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const bool c1 = length == 2 && text[at] == '\xc2' && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    letters.push_back(length == 0 || is_control(text[at]) || c1 ? "?" : text.substr(at, length));
    at += std::max<std::size_t>(1, length);
  }
  return letters;
}

// Of exactly so many characters.
std::string padded(const std::string& text, std::size_t width, bool right = false) {
  std::vector<std::string> letters = letters_of(text);
  if (letters.size() > width) letters.resize(width);
  std::string joined;
  for (const std::string& letter : letters) joined += letter;
  const std::string room(width - letters.size(), ' ');
  return right ? room + joined : joined + room;
}

std::string bar(double eighths, bool unicode) {
  const int count = static_cast<int>(std::lround(std::max(0.0, eighths)));
  if (!unicode) return std::string(static_cast<std::size_t>((count + 4) / 8), '#');
  constexpr std::array<const char*, 8> kPart = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (int i = 0; i < count / 8; ++i) text += "█";
  return text + kPart[static_cast<std::size_t>(count % 8)];
}

std::string bars(const Picture& picture, const TerminalLook& look) {
  std::size_t name = 0, note = 0;
  double most = 0;
  for (const PictureSeries& series : picture.series) {
    name = std::max(name, letters_of(series.name).size());
    note = std::max(note, letters_of(series.note).size());
    for (const PictureMark& mark : series.marks) most = std::max(most, mark.extent);
  }
  name = std::min<std::size_t>(name, kWidestName);
  const int room = look.columns - static_cast<int>(name + note) - 4;
  if (!(most > 0) || room < 8) return "";
  std::string out = picture.title + "\n";
  for (const PictureSeries& series : picture.series) {
    for (const PictureMark& mark : series.marks)
      out += padded(series.name, name) + "  " + padded(series.note, note, true) + "  " +
             in_colour(bar(8 * room * mark.extent / most, look.unicode), series.role, look.colour) + "\n";
  }
  return out;
}

// A grid of characters with a scale on the left and below.
class PlaneDrawing {
 public:
  PlaneDrawing(const Picture& picture, const TerminalLook& look)
      : picture_(picture),
        look_(look),
        width_(look.columns - kLeft - 1),
        x_(picture.x, extent_of(picture).x, 0, width_ - 1),
        y_(picture.y, extent_of(picture).y, kPlaneRows - 1, 0),
        cells_(static_cast<std::size_t>(width_ * kPlaneRows)) {}

  std::string text() {
    for (const PictureLine& line : picture_.lines) draw(line);
    for (const PictureSeries& series : picture_.series)
      if (series.shape == MarkShape::kLine) join(series);
    std::string legend;
    std::size_t letter = 0;
    for (const PictureSeries& series : picture_.series) {
      const std::string mark(1, kMarkLetters[letter % kMarkLetters.size()]);
      if (series.role != "limit" || series.shape == MarkShape::kDot) {
        for (const PictureMark& each : series.marks) put(each.x, each.y, mark, series.role);
        if (!series.name.empty())
          legend += (legend.empty() ? "" : "  ") + in_colour(mark, series.role, look_.colour) + " " +
                    padded(series.name, std::min<std::size_t>(kWidestName, letters_of(series.name).size()));
        ++letter;
      }
    }
    for (const PictureLine& line : picture_.lines)
      legend += (legend.empty() ? "" : "  ") + ("- " + line.text);
    return picture_.title + "\n" + rows() + feet() +
           (legend.empty() ? "" : std::string(kLeft, ' ') + legend + "\n");
  }

 private:
  static constexpr int kLeft = 10;
  struct Cell {
    std::string letter = " ", role = {};
  };

  void put_at(int column, int row, const std::string& letter, const std::string& role) {
    if (column < 0 || column >= width_ || row < 0 || row >= kPlaneRows) return;
    cells_[static_cast<std::size_t>(row * width_ + column)] = {letter, role};
  }
  int column_of(double x) const { return static_cast<int>(std::lround(x_.at(x))); }
  int row_of(double y) const { return static_cast<int>(std::lround(y_.at(y))); }
  void put(double x, double y, const std::string& letter, const std::string& role) {
    put_at(column_of(x), row_of(y), letter, role);
  }

  void draw(const PictureLine& line) {
    if (line.vertical) {
      for (int row = 0; row < kPlaneRows; ++row) put_at(column_of(line.at), row, "|", "limit");
    } else {
      for (int column = 0; column < width_; column += 2) put_at(column, row_of(line.at), "-", "limit");
    }
  }

  void join(const PictureSeries& series) {
    for (std::size_t i = 0; i + 1 < series.marks.size(); ++i) {
      const PictureMark &from = series.marks[i], &to = series.marks[i + 1];
      const int first = column_of(from.x), last = column_of(to.x);
      const double top = y_.at(from.y), bottom = y_.at(to.y);
      const int steps = std::max({1, std::abs(last - first), std::abs(row_of(from.y) - row_of(to.y))});
      for (int step = 0; step <= steps; ++step) {
        const double share = static_cast<double>(step) / steps;
        put_at(static_cast<int>(std::lround(first + share * (last - first))),
               static_cast<int>(std::lround(top + share * (bottom - top))), ".", series.role);
      }
    }
  }

  std::string rows() const {
    std::vector<std::string> names(kPlaneRows);
    for (const AxisTick& tick : y_.ticks(4)) {
      const auto row = static_cast<std::size_t>(std::clamp<long>(std::lround(tick.at), 0, kPlaneRows - 1));
      names[row] = tick.text;
    }
    std::string out;
    for (int row = 0; row < kPlaneRows; ++row) {
      out += padded(names[static_cast<std::size_t>(row)], kLeft - 2, true) + (look_.unicode ? " │" : " |");
      std::string line;
      for (int column = 0; column < width_; ++column) {
        const Cell& cell = cells_[static_cast<std::size_t>(row * width_ + column)];
        line += cell.role.empty() ? cell.letter : in_colour(cell.letter, cell.role, look_.colour);
      }
      line.resize(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    return out;
  }

  // The line below, its numbers where they have room, and what the axes are.
  std::string feet() const {
    std::string line, numbers(static_cast<std::size_t>(width_), ' ');
    for (int column = 0; column < width_; ++column) line += look_.unicode ? "─" : "-";
    std::size_t free = 0;
    for (const AxisTick& tick : x_.ticks(std::max(2, width_ / 12))) {
      const auto centre = static_cast<std::ptrdiff_t>(std::lround(tick.at));
      const auto size = static_cast<std::ptrdiff_t>(tick.text.size());
      const auto begin = static_cast<std::size_t>(
          std::clamp<std::ptrdiff_t>(centre - size / 2, 0, std::max<std::ptrdiff_t>(0, width_ - size)));
      if (begin < free) continue;
      numbers.replace(begin, tick.text.size(), tick.text);
      free = begin + tick.text.size() + 2;
    }
    numbers.resize(numbers.find_last_not_of(' ') + 1);
    const std::string left(kLeft, ' ');
    return std::string(kLeft - 1, ' ') + (look_.unicode ? "└" : "+") + line + "\n" + left + numbers + "\n" +
           left + picture_.y.title() + " against " + picture_.x.title() + "\n";
  }

  const Picture& picture_;
  const TerminalLook look_;
  const int width_;
  const PlotScale x_, y_;
  std::vector<Cell> cells_;
};

}  // namespace

std::string terminal_plot(const Picture& picture, const TerminalLook& asked) {
  TerminalLook look = asked;
  look.columns = std::clamp(look.columns, kFewestColumns, kMostColumns);
  const auto drawn_as = [&](MarkShape shape) {
    return std::ranges::any_of(picture.series, [&](const PictureSeries& series) {
      return series.shape == shape && !series.marks.empty();
    });
  };
  if (drawn_as(MarkShape::kCell) || drawn_as(MarkShape::kArea)) return "";
  if (drawn_as(MarkShape::kBox)) return bars(picture, look);
  return drawn_as(MarkShape::kDot) || drawn_as(MarkShape::kLine) ? PlaneDrawing(picture, look).text() : "";
}

}  // namespace podsim
