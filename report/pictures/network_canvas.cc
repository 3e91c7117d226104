// Gathers strokes by kind and colour, so that a drawing has few paths, and writes the legend below.
#include "report/pictures/network_canvas.h"

#include <algorithm>
#include <cmath>

#include "report/pictures/svg.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr double kFoot = 40, kLeastWidth = 480;
constexpr int kLevels = 20;  // colours between none and all of a link

std::string at_place(double value) { return shortest(std::round(value * 10) / 10); }

// By what it goes from its begin, which is shorter to say: drawings have ten thousands of them.
std::string segment(double x1, double y1, double x2, double y2) {
  const auto step = [](double from, double to) {
    return shortest((std::round(to * 10) - std::round(from * 10)) / 10);
  };
  const std::string x = step(x1, x2), y = step(y1, y2), begin = "M" + at_place(x1) + " " + at_place(y1);
  if (x == "0") return begin + "v" + y;
  if (y == "0") return begin + "h" + x;
  return begin + "l" + x + (y.front() == '-' ? "" : " ") + y;
}

std::string text_at(double x, double y, const std::string& text, const std::string& of) {
  return "<text class=\"" + of + "\" x=\"" + at_place(x) + "\" y=\"" + at_place(y) + "\">" + escaped(text) +
         "</text>";
}

std::string path_of(const std::string& of, const std::string& path) {
  return path.empty() ? "" : "<path class=\"" + of + "\" d=\"" + path + "\"/>";
}

std::string class_of(LinkKind kind) {
  std::string name(to_string(kind));
  std::ranges::replace_if(
      name, [](char c) { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'); }, '-');
  return "k-" + name;
}

// From light to dark, the same for every network: what is hardly used never looks busy.
std::string colour_of_share(double share) {
  const double busy = std::clamp(share, 0.0, 1.0);
  const auto between = [&](double from, double to) {
    return std::to_string(std::lround(from + busy * (to - from)));
  };
  return "rgb(" + between(170, 180) + "," + between(200, 20) + "," + between(230, 30) + ")";
}

std::string style(bool thick) {
  return ".picture{font:11px system-ui,sans-serif;background:#ffffff}.picture text{fill:#1d2530}"
         ".picture .title{font-size:14px;font-weight:600}.picture .tick{fill:#5b6675}"
         ".picture .inside-node{font-size:10px}.picture .inside-cube{font-size:9px;text-anchor:middle}"
         ".chip,.server,.cube{fill:#cfe2f3;stroke:#5b6675}.switch{fill:#e6e8ec;stroke:#5b6675}"
         ".link{fill:none;stroke-width:" +
         std::string(thick ? "2.4px" : "1.2px") +
         "}.k-ici-optical{stroke-dasharray:3 2}.cross{fill:none;stroke:#c0282d;stroke-width:2px}"
         ".seam{fill:none;stroke:#7b4fb0;stroke-width:1.5px;stroke-dasharray:1 3}";
}

}  // namespace

void LinkBundle::add(const LinkBundle& more) {
  if (more.links == 0) return;
  // Links of several kinds between two cubes: the later kind is that of the longer way.
  kind = links == 0 ? more.kind : std::max(kind, more.kind);
  links += more.links;
  missing += more.missing;
  slow += more.slow;
  share = std::max(share, more.share);
}

LinkBundle NetworkCanvas::cable(NodeId a, NodeId b) const {
  LinkBundle both;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const LinkId had = whole_.link_between(from, to);
    if (had < 0) continue;
    const Link& link = whole_.links[static_cast<std::size_t>(had)];
    LinkBundle one{link.kind, 1, 0, 0, -1};
    const LinkId left = fabric_.link_between(from, to);
    if (left < 0) {
      one.missing = 1;
    } else {
      const auto at = static_cast<std::size_t>(left);
      one.slow = fabric_.links[at].bandwidth < link.bandwidth ? 1 : 0;
      if (at < load_.share.size()) one.share = load_.share[at];
    }
    both.add(one);
  }
  return both;
}

bool NetworkCanvas::is_slow(ChipId chip) const { return std::ranges::binary_search(load_.slow, chip); }

void NetworkCanvas::add_box(const DrawnBox& box, const std::string& of) {
  boxes_.push_back(box);
  if (of == "chip") {
    chips_ += "M" + at_place(box.x) + " " + at_place(box.y) + "h" + at_place(box_width_) + "v" +
              at_place(box_height_) + "h" + at_place(-box_width_) + "z";
    return;
  }
  rounded_ += "<rect class=\"" + of + "\" x=\"" + at_place(box.x) + "\" y=\"" + at_place(box.y) +
              "\" width=\"" + at_place(box_width_) + "\" height=\"" + at_place(box_height_) +
              (of == "cube" ? "\"/>" : "\" rx=\"4\"/>");
}

void NetworkCanvas::add_label(double x, double y, const std::string& text, const std::string& of) {
  labels_ += text_at(x, y, text, of);
}

void NetworkCanvas::add_stroke(const LinkBundle& bundle, double x1, double y1, double x2, double y2) {
  if (bundle.links == 0) return;
  const double x = (x1 + x2) / 2, y = (y1 + y2) / 2;
  if (bundle.missing > 0)
    crosses_ += segment(x - 4, y - 4, x + 4, y + 4) + segment(x - 4, y + 4, x + 4, y - 4);
  if (bundle.missing == bundle.links) return;
  if (bundle.slow > 0) add_slash(x, y);
  const int level =
      bundle.share < 0 ? -1 : static_cast<int>(std::lround(kLevels * std::min(1.0, bundle.share)));
  strokes_[{bundle.kind, level}] += segment(x1, y1, x2, y2);
}

void NetworkCanvas::add_slash(double x, double y) { slashes_ += segment(x - 4, y + 4, x + 4, y - 4); }

void NetworkCanvas::add_seam(double x1, double y1, double x2, double y2) {
  seams_ += segment(x1, y1, x2, y2);
}

std::string NetworkCanvas::use_text(const LinkBundle& bundle) {
  std::string text = bundle.share < 0 ? "" : percent(bundle.share);
  if (bundle.missing > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(bundle.missing) + " of " +
            std::to_string(bundle.links) + " failed";
  if (bundle.slow > 0)
    text += (text.empty() ? "" : ", ") + std::to_string(bundle.slow) + " of " + std::to_string(bundle.links) +
            " slow";
  return text;
}

const LinkUse* NetworkCanvas::use_of(LinkKind kind) const {
  for (const LinkUse& use : load_.kinds)
    if (use.kind == to_string(kind)) return &use;
  return nullptr;
}

std::string NetworkCanvas::colour(LinkKind kind, int level) const {
  constexpr const char* kPlain[] = {"#8a7f5c", "#7b4fb0", "#4c9a2a", "#2f6db5", "#a8551e"};
  if (level >= 0) return colour_of_share(1.0 * level / kLevels);
  return kPlain[static_cast<std::size_t>(kind) % std::size(kPlain)];
}

std::string NetworkCanvas::link_elements() const {
  std::string out;
  for (const auto& [of, path] : strokes_) {
    const auto& [kind, level] = of;
    out += "<path class=\"link " + class_of(kind) + "\" data-kind=\"" + escaped(to_string(kind)) +
           "\" stroke=\"" + colour(kind, level) + "\" d=\"" + path + "\"/>";
  }
  return out;
}

std::string NetworkCanvas::legend(double top) const {
  std::string out;
  double x = kDrawingMargin;
  const LinkKind* last = nullptr;
  for (const auto& [of, path] : strokes_) {
    if (last != nullptr && *last == of.first) continue;
    last = &of.first;
    const LinkUse* use = use_of(of.first);
    std::string text(to_string(of.first));
    if (use != nullptr)
      text += ": " + percent(use->max_utilisation) + " of the busiest used, " +
              percent(use->mean_utilisation) + " in the mean";
    const int level =
        use == nullptr ? -1 : static_cast<int>(std::lround(kLevels * std::min(1.0, use->max_utilisation)));
    out += "<path class=\"link " + class_of(of.first) + "\" stroke=\"" + colour(of.first, level) + "\" d=\"" +
           segment(x, top + 16, x + 18, top + 16) + "\"/>" + text_at(x + 24, top + 20, text, "tick");
    x += 50 + 6.4 * static_cast<double>(text.size());
  }
  return out;
}

Drawing NetworkCanvas::drawing(const std::string& summary, double width, double height, bool thick) const {
  std::string told = summary;
  if (!crosses_.empty()) told += ", with links that failed";
  if (!slashes_.empty()) told += ", with parts that are slow";
  Drawing drawn{"", std::max(width, kLeastWidth), height + kFoot, box_width_, box_height_, boxes_};
  drawn.svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" viewBox=\"0 0 " +
              at_place(drawn.width) + " " + at_place(drawn.height) + "\" aria-label=\"" + escaped(told) +
              "\"><style>" + style(thick) + "</style>" + text_at(kDrawingMargin, 20, told, "title") +
              link_elements() + path_of("chip", chips_) + rounded_ +
              path_of("limit cross", crosses_ + slashes_) + path_of("seam", seams_) + labels_ +
              legend(height) + "</svg>\n";
  return drawn;
}

}  // namespace podsim
