// Plots of terminals, as text.
#include "report/pictures/terminal_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/text_lines.h"

namespace podsim::terminal_plot_test {
namespace {

using testing::lines_of;

Picture two_bars() {
  Picture picture{.id = "b", .title = "Where it goes", .summary = ""};
  picture.y.names = {"step"};
  picture.series = {{"compute", "compute", MarkShape::kBox, {{0, 0, 3}}, "3.0 s, 75.0%"},
                    {"bubble", "bubble", MarkShape::kBox, {{3, 0, 1}}, "1.0 s, 25.0%"}};
  return picture;
}

Picture curve() {
  Picture picture{.id = "c", .title = "Efficiency", .summary = ""};
  picture.x = {"chips", "", {}, true};
  picture.y = {"efficiency", "%"};
  picture.y.low = 0;
  picture.series = {
      {"predicted", "compute", MarkShape::kLine, {{100, 100, 0}, {1000, 80, 0}, {10000, 40, 0}}}};
  picture.lines = {{false, 100, "ideal"}};
  return picture;
}

TEST(TerminalPlot, bars_are_as_long_as_their_parts_and_fill_the_width) {
  const auto lines = lines_of(terminal_plot(two_bars(), {.columns = 60}));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "Where it goes");
  EXPECT_EQ(lines[1].substr(0, 23), "compute  3.0 s, 75.0%  ");
  const auto length = [](const std::string& line) { return std::count(line.begin(), line.end(), '#'); };
  EXPECT_EQ(length(lines[1]), 60 - 7 - 12 - 4);
  EXPECT_NEAR(static_cast<double>(length(lines[2])), static_cast<double>(length(lines[1])) / 3, 1);
}

TEST(TerminalPlot, blocks_draw_eighths_of_a_column) {
  Picture picture = two_bars();
  picture.series[1].marks[0].extent = 3.0 * 7 / 8 / 33;  // seven eighths of one of 33 columns
  const auto lines = lines_of(terminal_plot(picture, {.columns = 56, .unicode = true}));
  EXPECT_EQ(lines[2], "bubble   1.0 s, 25.0%  \u2589");
}

TEST(TerminalPlot, a_plane_has_its_marks_where_their_values_are) {
  const auto lines = lines_of(terminal_plot(curve(), {.columns = 71}));
  ASSERT_EQ(lines.size(), 17u);
  EXPECT_EQ(lines[1].substr(0, 12), "     100 |o.");
  EXPECT_EQ(lines[1][10], 'o') << "the first mark is left and at the top";
  EXPECT_EQ(lines[3][10 + 30], 'o') << "80% in the middle of the logarithmic axis";
  EXPECT_EQ(lines[8][10 + 59], 'o') << "40% on the right";
  EXPECT_EQ(lines[14], "          100     200         500      1 k     2 k         5 k    10 k");
  EXPECT_EQ(lines[15], "          efficiency, % against chips");
  EXPECT_EQ(lines[16], "          o predicted  - ideal");
}

TEST(TerminalPlot, colours_only_where_they_are_asked_for) {
  const std::string plain = terminal_plot(curve(), {}), coloured = terminal_plot(curve(), {.colour = true});
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  std::string without;
  for (std::size_t at = 0; at < coloured.size(); ++at) {
    if (coloured[at] == '\033') {
      at = coloured.find('m', at);
    } else {
      without += coloured[at];
    }
  }
  EXPECT_EQ(without, plain) << "colour changes no letter";
  EXPECT_NE(coloured.find("\033[38;5;110m"), std::string::npos) << "compute is blue";
}

TEST(TerminalPlot, names_of_scenarios_cannot_move_the_cursor) {
  for (const std::string& hostile : {std::string("\033[2Jx"), std::string("a\rb\nc"),
                                     std::string("\xc2\x9b"
                                                 "2J"),
                                     std::string("\xff\xfe")}) {
    Picture picture = two_bars();
    picture.series[0].name = hostile;
    const std::string text = terminal_plot(picture, {.unicode = true});
    EXPECT_EQ(text.find_first_of("\033\r\xff"), std::string::npos);
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(lines_of(text).size(), 3u);
  }
}

TEST(TerminalPlot, no_terminal_is_too_narrow_or_too_wide_and_no_picture_too_empty) {
  for (const int columns : {0, 1, 39, 200, 100'000}) {
    for (const Picture& picture : {two_bars(), curve()}) {
      for (const std::string& line : lines_of(terminal_plot(picture, {.columns = columns})))
        EXPECT_LE(line.size(), 110u);
    }
  }
  EXPECT_EQ(terminal_plot(Picture{}, {}), "");
  Picture nothing = two_bars();
  for (PictureSeries& series : nothing.series) series.marks[0].extent = 0;
  EXPECT_EQ(terminal_plot(nothing, {}), "");
}

}  // namespace
}  // namespace podsim::terminal_plot_test
