// Writes the style sheet of pictures: a class for each role, on light paper and on dark.
#include "report/pictures/svg_style.h"

#include <string_view>

namespace podsim {
namespace {

// 0 to 255, as the eye weighs red, green and blue.
double brightness(std::string_view colour) {
  const auto part = [&](std::size_t at) { return std::stoi(std::string(colour.substr(at, 2)), nullptr, 16); };
  return 0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5);
}

std::string colours(bool dark, std::span<const Role> roles) {
  constexpr double kNeedsDarkLetters = 150;
  std::string out;
  for (const Role& role : roles) {
    const std::string name(role.name), paint(dark ? role.dark : role.light);
    out += ".r-" + name + "{fill:" + (role.hatched ? "url(#hatch-" + name + ")" : paint) +
           ";stroke:" + paint + "}.picture .r-" + name +
           " .inside{fill:" + (brightness(paint) > kNeedsDarkLetters ? "#12181f" : "#ffffff") + "}";
    if (role.hatched) out += ".h-" + name + "{fill:" + paint + "}";
  }
  return out;
}

}  // namespace

std::string style_of(std::span<const Role> roles) {
  const std::string common =
      ".picture{--ink:#1d2530;--faint:#5b6675;--grid:#e1e4e9;--paper:#ffffff;"
      "font:11px system-ui,sans-serif;background:var(--paper)}"
      ".picture text{fill:var(--ink);stroke:none}.picture .title{font-size:14px;font-weight:600}"
      ".picture .tick,.picture .label{fill:var(--faint)}.picture .middle{text-anchor:middle}"
      ".picture .end{text-anchor:end}.picture .inside{font-size:10px;pointer-events:none}"
      ".picture .beside{paint-order:stroke;stroke:var(--paper);stroke-width:3px}"
      ".picture rect,.picture path{stroke-width:0}.picture .grid{stroke:var(--grid)}"
      ".picture .axis,.picture .cut{stroke:var(--faint)}"
      ".picture .grid,.picture .axis,.picture .cut{stroke-width:1px;fill:none}"
      ".picture .line{fill:none;stroke-width:2px}.picture circle{fill-opacity:.72;stroke-width:1px}"
      ".picture .limit{stroke:#c0282d;stroke-width:1.5px;stroke-dasharray:5 3;fill:none}";
  return common + colours(false, roles) +
         "@media(prefers-color-scheme:dark){"
         ".picture{--ink:#e8ecf2;--faint:#a4afbd;--grid:#333b46;--paper:#171c23}"
         ".picture .limit{stroke:#ef6a6a}" +
         colours(true, roles) + "}";
}

std::string patterns_of(std::span<const Role> roles) {
  std::string out = "<defs>";
  for (const Role& role : roles) {
    if (!role.hatched) continue;
    const std::string name(role.name);
    out += "<pattern id=\"hatch-" + name + "\"" +
           " width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect" + " class=\"h-" + name + "\"" +
           " width=\"6\" height=\"6\" fill-opacity=\"0.45\"/><path" + " class=\"h-" + name + "\"" +
           " d=\"M0 6L6 0H4.2L0 4.2zM6 6V4.2L4.2 6z\"/></pattern>";
  }
  return out + "</defs>";
}

}  // namespace podsim
