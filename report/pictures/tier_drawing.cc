// Implements tier_drawing of network_canvas.h: servers and switches in columns.
#include <algorithm>
#include <map>

#include "report/pictures/network_canvas.h"

namespace podsim {
namespace {

constexpr double kTierGap = 210, kRowPitch = 30, kBoxWidth = 130, kBoxHeight = 18;
constexpr int kMostOfTier = 24;  // switches or domains of a tier that are drawn; the others are counted

class Tiers {
 public:
  explicit Tiers(NetworkCanvas& canvas)
      : canvas_(canvas), whole_(canvas.whole()), domain_(std::max(1, canvas.whole().gpus_per_domain)) {}

  Drawing drawn() {
    std::map<int, std::vector<NodeId>> columns;
    for (ChipId chip = 0; chip < whole_.chips; chip += domain_) columns[1].push_back(chip);
    for (NodeId node = whole_.chips; node < static_cast<NodeId>(whole_.nodes.size()); ++node) {
      const NodeKind kind = whole_.nodes[static_cast<std::size_t>(node)].kind;
      columns[kind == NodeKind::kNvSwitch ? 0 : 1 + static_cast<int>(kind)].push_back(node);
    }
    std::size_t most = 0, tier = 0;
    for (const auto& [column, nodes] : columns)
      most = std::max(most, std::min<std::size_t>(kMostOfTier, nodes.size()));
    for (const auto& [column, nodes] : columns) place_tier(nodes, tier++, most);
    gather();
    canvas_.set_box_size(kBoxWidth, kBoxHeight);
    for (const auto& [ends, bundle] : strokes_) {
      const Box &from = placed_.at(ends.first), &to = placed_.at(ends.second);
      canvas_.add_stroke(bundle, from.x + kBoxWidth, from.y + kBoxHeight / 2, to.x, to.y + kBoxHeight / 2);
    }
    for (const auto& [node, box] : placed_) draw_box(node, box);
    return canvas_.drawing(whole_.name + ": " + std::to_string(whole_.chips) + " chips",
                           2 * kDrawingMargin + static_cast<double>(columns.size()) * kTierGap,
                           kDrawingHead + static_cast<double>(most + 1) * kRowPitch, false);
  }

 private:
  struct Box {
    double x, y;
    std::map<LinkKind, LinkBundle> links = {};
  };

  // Domains stand at their first chip.
  NodeId box_of(NodeId node) const { return node < whole_.chips ? node / domain_ * domain_ : node; }

  void place_tier(const std::vector<NodeId>& nodes, std::size_t tier, std::size_t most) {
    const std::size_t shown = std::min<std::size_t>(kMostOfTier, nodes.size());
    const double left = kDrawingMargin + static_cast<double>(tier) * kTierGap;
    const double pitch = kRowPitch * static_cast<double>(most) / static_cast<double>(shown);
    for (std::size_t i = 0; i < shown; ++i)
      placed_[nodes[i]] = {left, kDrawingHead + (static_cast<double>(i) + 0.5) * pitch - kRowPitch / 2};
    if (shown < nodes.size())
      canvas_.add_label(left, kDrawingHead + static_cast<double>(most) * kRowPitch + 12,
                        "and " + std::to_string(nodes.size() - shown) + " more");
  }

  // Links between the same two boxes are one stroke; a box knows all of its own, drawn or not.
  void gather() {
    for (const Link& each : whole_.links) {
      if (each.from > each.to) continue;  // a cable has both directions
      const NodeId ends[2] = {box_of(each.from), box_of(each.to)};
      const auto one = placed_.find(ends[0]), other = placed_.find(ends[1]);
      if (one == placed_.end() && other == placed_.end()) continue;
      const LinkBundle cable = canvas_.cable(each.from, each.to);
      for (const auto& end : {one, other})
        if (end != placed_.end()) end->second.links[each.kind].add(cable);
      if (one == placed_.end() || other == placed_.end() || one->second.x == other->second.x) continue;
      const bool forward = one->second.x < other->second.x;
      strokes_[forward ? std::pair(ends[0], ends[1]) : std::pair(ends[1], ends[0])].add(cable);
    }
  }

  void draw_box(NodeId node, const Box& box) {
    const bool servers = node < whole_.chips;
    std::string name = node_name(whole_, node);
    if (servers && domain_ > 1)
      name = "chips " + std::to_string(node) + " to " + std::to_string(node + domain_ - 1);
    const int alike = whole_.nodes[static_cast<std::size_t>(node)].parallel;
    if (alike > 1) name += " (" + std::to_string(alike) + " alike)";
    std::string text = name, uses;
    for (const auto& [kind, bundle] : box.links) {
      const std::string use = NetworkCanvas::use_text(bundle);
      if (!use.empty()) uses += (uses.empty() ? "" : "; ") + std::string(to_string(kind)) + " " + use;
    }
    int slow = 0;
    for (ChipId chip = node; servers && chip < node + domain_; ++chip) slow += canvas_.is_slow(chip) ? 1 : 0;
    if (slow > 0) text += ", " + std::to_string(slow) + " slow";
    if (!uses.empty()) text += ": " + uses;
    canvas_.add_box({box.x, box.y, text}, servers ? "server" : "switch");
    if (slow > 0) canvas_.add_slash(box.x + kBoxWidth - 10, box.y + kBoxHeight / 2);
    canvas_.add_label(box.x + 5, box.y + 13, name, "inside-node");
  }

  NetworkCanvas& canvas_;
  const Fabric& whole_;
  const int domain_;
  std::map<NodeId, Box> placed_;
  std::map<std::pair<NodeId, NodeId>, LinkBundle> strokes_;
};

}  // namespace

Drawing tier_drawing(NetworkCanvas& canvas) { return Tiers(canvas).drawn(); }

}  // namespace podsim
