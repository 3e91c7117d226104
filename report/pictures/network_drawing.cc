// Places chips and switches, and draws all links of one kind as one path.
#include "report/pictures/network_drawing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "report/pictures/svg.h"
#include "report/text.h"

namespace podsim {
namespace {

constexpr double kChipSize = 12, kPitch = 26, kStub = 8, kPlaneGap = 40, kMargin = 24, kHead = 62;
constexpr double kWidest = 1200, kTierGap = 210, kRowPitch = 30, kBoxWidth = 130;
constexpr int kMostOfTier = 24;  // switches or domains of a tier that are drawn; the others are counted

std::string at_place(double value) { return shortest(std::round(value * 10) / 10); }

std::string segment(double x1, double y1, double x2, double y2) {
  return "M" + at_place(x1) + " " + at_place(y1) + "L" + at_place(x2) + " " + at_place(y2);
}

std::string label_at(double x, double y, const std::string& text, const std::string& kind = "tick") {
  return "<text class=\"" + kind + "\" x=\"" + at_place(x) + "\" y=\"" + at_place(y) + "\">" + escaped(text) +
         "</text>";
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

// Paths of links by kind, and crosses where a link is missing.
struct LinkPaths {
  std::map<LinkKind, std::string> of;
  std::string crosses;

  void add(LinkKind kind, double x1, double y1, double x2, double y2) { of[kind] += segment(x1, y1, x2, y2); }
  void cross(double x, double y) {
    crosses += segment(x - 4, y - 4, x + 4, y + 4) + segment(x - 4, y + 4, x + 4, y - 4);
  }
};

class NetworkDrawing {
 public:
  NetworkDrawing(const Fabric& fabric, const Fabric& whole, std::span<const LinkUse> load)
      : fabric_(fabric), whole_(whole), load_(load) {}

  std::string text() {
    const bool torus = fabric_.slices.size() == 1;
    if (torus) {
      draw_planes(fabric_.slices.front());
    } else {
      draw_tiers();
    }
    const std::string legend = legend_text();
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" viewBox=\"0 0 " +
           at_place(std::max(width_, 480.0)) + " " + at_place(height_ + 40) + "\" aria-label=\"" +
           escaped(summary(torus)) + "\"><style>" + style() + "</style>" +
           label_at(kMargin, 20, summary(torus), "title") + link_elements() + nodes_ + labels_ + legend +
           "</svg>\n";
  }

 private:
  std::string summary(bool torus) const {
    std::string text = fabric_.name + ": " + std::to_string(fabric_.chips) + " chips";
    if (torus) {
      const TorusSlice& slice = fabric_.slices.front();
      text += ", a torus of " + std::to_string(slice.shape[0]) + " x " + std::to_string(slice.shape[1]) +
              " x " + std::to_string(slice.shape[2]);
      if (slice.twist != std::array<std::array<int, 3>, 3>{}) text += ", twisted";
    }
    return text + (paths_.crosses.empty() ? "" : ", with links that failed");
  }

  // A direction of a cable that the whole network has: drawn, or crossed out.
  void link(ChipId from, ChipId to, double x1, double y1, double x2, double y2) {
    const LinkId had = whole_.link_between(from, to);
    if (had < 0) return;
    if (fabric_.link_between(from, to) < 0) return paths_.cross((x1 + x2) / 2, (y1 + y2) / 2);
    paths_.add(whole_.links[static_cast<std::size_t>(had)].kind, x1, y1, x2, y2);
  }

  // One plane for each z, side by side. Links along z are short lines at the lower right of a chip; what
  // wraps around leaves the plane as stubs.
  void draw_planes(const TorusSlice& slice) {
    const auto [columns, rows, planes] = slice.shape;
    const double wide = columns * kPitch + kPlaneGap, tall = rows * kPitch + kPlaneGap;
    const int across = std::clamp(static_cast<int>((kWidest - kMargin) / wide), 1, planes);
    for (int z = 0; z < planes; ++z) {
      const double left = kMargin + (z % across) * wide, top = kHead + (z / across) * tall;
      if (planes > 1) labels_ += label_at(left, top - 13, "z = " + std::to_string(z));
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) draw_chip(slice, {x, y, z}, left + x * kPitch, top + y * kPitch);
    }
    width_ = 2 * kMargin + across * wide;
    height_ = kHead + ((planes + across - 1) / across) * tall;
  }

  void draw_chip(const TorusSlice& slice, std::array<int, 3> at, double left, double top) {
    const double x = left + kChipSize / 2, y = top + kChipSize / 2, half = kChipSize / 2;
    const ChipId chip = slice.chip(at);
    nodes_ += "<rect class=\"chip\" x=\"" + at_place(left) + "\" y=\"" + at_place(top) +
              "\" width=\"12\" height=\"12\"/>";
    const double step[3][2] = {{1, 0}, {0, 1}, {1, 1}};
    for (int d = 0; d < 3; ++d) {
      const ChipId next = slice.neighbour(chip, d, 1), before = slice.neighbour(chip, d, -1);
      const auto [dx, dy] = step[d];
      const bool wraps = at[static_cast<std::size_t>(d)] + 1 == slice.shape[static_cast<std::size_t>(d)];
      const double stub = half + (d == 2 ? kStub / 2 : kStub), reach = wraps || d == 2 ? stub : kPitch - half;
      if (next >= 0 && next != chip)
        link(chip, next, x + half * dx, y + half * dy, x + reach * dx, y + reach * dy);
      const bool first = at[static_cast<std::size_t>(d)] == 0;
      if (first && before >= 0 && before != chip && slice.wrap[static_cast<std::size_t>(d)])
        link(chip, before, x - half * dx, y - half * dy, x - stub * dx, y - stub * dy);
    }
  }

  // A column for each kind of switch, and one of NVLink domains between theirs and the others. Links between
  // the same two boxes are one line.
  void draw_tiers() {
    const int domain = std::max(1, whole_.gpus_per_domain);
    std::map<int, std::vector<NodeId>> columns;
    for (ChipId chip = 0; chip < whole_.chips; chip += domain) columns[1].push_back(chip);
    for (NodeId node = whole_.chips; node < static_cast<NodeId>(whole_.nodes.size()); ++node) {
      const NodeKind kind = whole_.nodes[static_cast<std::size_t>(node)].kind;
      columns[kind == NodeKind::kNvSwitch ? 0 : 1 + static_cast<int>(kind)].push_back(node);
    }
    std::size_t most = 0, place = 0;
    for (const auto& [column, nodes] : columns)
      most = std::max(most, std::min<std::size_t>(kMostOfTier, nodes.size()));
    for (const auto& [column, nodes] : columns) place_tier(nodes, place++, most, column == 1 ? domain : 0);
    std::set<std::pair<NodeId, NodeId>> drawn;
    const auto box_of = [&](NodeId node) { return node < whole_.chips ? node / domain * domain : node; };
    for (const Link& each : whole_.links) {
      auto from = placed_.find(box_of(each.from)), to = placed_.find(box_of(each.to));
      if (from == placed_.end() || to == placed_.end() || from->second.first >= to->second.first) continue;
      const bool missing = fabric_.link_between(each.from, each.to) < 0;
      if (!missing && !drawn.insert({from->first, to->first}).second) continue;
      link(each.from, each.to, from->second.first + kBoxWidth, from->second.second + 9, to->second.first,
           to->second.second + 9);
    }
    width_ = 2 * kMargin + static_cast<double>(columns.size()) * kTierGap;
    height_ = kHead + static_cast<double>(most + 1) * kRowPitch;
  }

  void place_tier(const std::vector<NodeId>& nodes, std::size_t tier, std::size_t most, int domain) {
    const std::size_t shown = std::min<std::size_t>(kMostOfTier, nodes.size());
    const double left = kMargin + static_cast<double>(tier) * kTierGap;
    const double pitch = kRowPitch * static_cast<double>(most) / static_cast<double>(shown);
    for (std::size_t i = 0; i < shown; ++i) {
      const double top = kHead + (static_cast<double>(i) + 0.5) * pitch - kRowPitch / 2;
      placed_[nodes[i]] = {left, top};
      nodes_ += "<rect class=\"" + std::string(domain > 0 ? "chip" : "switch") + "\" x=\"" + at_place(left) +
                "\" y=\"" + at_place(top) + "\" width=\"" + at_place(kBoxWidth) +
                "\" height=\"18\" rx=\"4\"/>";
      const Node& node = whole_.nodes[static_cast<std::size_t>(nodes[i])];
      std::string name = node_name(whole_, nodes[i]);
      if (domain > 1)
        name = "chips " + std::to_string(nodes[i]) + " to " + std::to_string(nodes[i] + domain - 1);
      if (node.parallel > 1) name += " (" + std::to_string(node.parallel) + " alike)";
      labels_ += label_at(left + 5, top + 13, name, "inside-node");
    }
    if (shown < nodes.size())
      labels_ += label_at(left, kHead + static_cast<double>(most) * kRowPitch + 12,
                          "and " + std::to_string(nodes.size() - shown) + " more");
  }

  const LinkUse* use_of(LinkKind kind) const {
    for (const LinkUse& use : load_)
      if (use.kind == to_string(kind)) return &use;
    return nullptr;
  }

  std::string link_elements() const {
    std::string out;
    for (const auto& [kind, path] : paths_.of)
      out += "<path class=\"link " + class_of(kind) + "\" data-kind=\"" + escaped(to_string(kind)) +
             "\" d=\"" + path + "\"/>";
    return out + (paths_.crosses.empty() ? "" : "<path class=\"limit cross\" d=\"" + paths_.crosses + "\"/>");
  }

  std::string legend_text() const {
    std::string out;
    double x = kMargin;
    for (const auto& [kind, path] : paths_.of) {
      const LinkUse* use = use_of(kind);
      std::string text(to_string(kind));
      if (use != nullptr)
        text += ": " + percent(use->max_utilisation) + " of the busiest used, " +
                percent(use->mean_utilisation) + " in the mean";
      out += "<path class=\"link " + class_of(kind) + "\" d=\"" +
             segment(x, height_ + 16, x + 18, height_ + 16) + "\"/>" + label_at(x + 24, height_ + 20, text);
      x += 50 + 6.4 * static_cast<double>(text.size());
    }
    return out;
  }

  std::string style() const {
    constexpr const char* kPlain[] = {"#8a7f5c", "#7b4fb0", "#4c9a2a", "#2f6db5", "#a8551e"};
    std::string out =
        ".picture{font:11px system-ui,sans-serif;background:#ffffff}.picture text{fill:#1d2530}"
        ".picture .title{font-size:14px;font-weight:600}.picture .tick{fill:#5b6675}"
        ".picture .inside-node{font-size:10px}.chip{fill:#cfe2f3;stroke:#5b6675}"
        ".switch{fill:#e6e8ec;stroke:#5b6675}.link{fill:none;stroke-width:" +
        std::string(fabric_.slices.size() == 1 ? "2.4px}" : "1.2px}") +
        ".cross{fill:none;stroke:#c0282d;stroke-width:2px}";
    std::size_t next = 0;
    for (const auto& [kind, path] : paths_.of) {
      const LinkUse* use = use_of(kind);
      out += "." + class_of(kind) + "{stroke:" +
             (use != nullptr ? colour_of_share(use->max_utilisation) : kPlain[next++ % std::size(kPlain)]) +
             (kind == LinkKind::kIciOptical ? ";stroke-dasharray:3 2}" : "}");
    }
    return out;
  }

  const Fabric& fabric_;
  const Fabric& whole_;
  const std::span<const LinkUse> load_;
  double width_ = 0, height_ = 0;
  LinkPaths paths_;
  std::map<NodeId, std::pair<double, double>> placed_;
  std::string nodes_, labels_;
};

}  // namespace

std::optional<std::string> network_drawing(const Fabric& fabric, const Fabric& whole,
                                           std::span<const LinkUse> load) {
  if (fabric.slices.size() == 1 && fabric.chips > kMostDrawnChips) return std::nullopt;
  return NetworkDrawing(fabric, whole, load).text();
}

}  // namespace podsim
