// A fabric as Graphviz text: tori by coordinate, everything else layer by layer.
#include <cstdio>

#include "topology/metrics.h"

namespace podsim {
namespace {

const char* node_style(NodeKind kind) {
  switch (kind) {
    case NodeKind::kChip:
      return "shape=box, fillcolor=\"#cfe2f3\"";
    case NodeKind::kNvSwitch:
      return "shape=ellipse, fillcolor=\"#d9ead3\"";
    case NodeKind::kHost:
      return "shape=component, fillcolor=\"#fff2cc\"";
    case NodeKind::kDcn:
      return "shape=ellipse, fillcolor=\"#f9cb9c\"";
    default:
      return "shape=ellipse, fillcolor=\"#f4cccc\"";
  }
}

const char* link_style(LinkKind kind) {
  switch (kind) {
    case LinkKind::kIciOptical:
      return "style=dashed, color=\"#cc6600\"";
    case LinkKind::kNvlink:
      return "color=\"#38761d\"";
    case LinkKind::kTrunk:
      return "penwidth=3";
    case LinkKind::kDcn:
      return "penwidth=2";
    default:
      return "color=\"#333333\"";
  }
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// A single slice is drawn as a box seen from the side, z going up and to the right.
std::string position(const Fabric& fabric, NodeId node) {
  if (fabric.slices.size() != 1) return {};
  const auto at = fabric.slices[0].coordinate(node);
  const double x = 1.5 * at[0] + 0.4 * fabric.slices[0].shape[0] * at[2];
  const double y = 1.5 * at[1] + 0.3 * fabric.slices[0].shape[1] * at[2];
  char text[64];
  std::snprintf(text, sizeof text, ", pos=\"%.2f,%.2f!\"", x, y);
  return text;
}

void draw_nodes(const Fabric& fabric, std::string& text) {
  for (NodeId node = 0; node < static_cast<NodeId>(fabric.nodes.size()); ++node)
    text += "  n" + std::to_string(node) + " [label=" + quote(node_name(fabric, node)) + ", " +
            node_style(fabric.nodes[node].kind) + position(fabric, node) + "];\n";
}

// Both directions of a cable are one line, from the higher tier down: a layered drawing has its core on top.
void draw_cables(const Fabric& fabric, std::string& text) {
  for (const Link& link : fabric.links) {
    if (link.from > link.to) continue;
    char rate[48];
    std::snprintf(rate, sizeof rate, " %.6g GB/s", link.bandwidth.value / 1e9);
    text += "  n" + std::to_string(link.to) + " -- n" + std::to_string(link.from) + " [" +
            link_style(link.kind) + ", tooltip=\"" + std::string(to_string(link.kind)) + rate + "\"];\n";
  }
}

}  // namespace

std::string draw(const Fabric& fabric) {
  std::string text = "graph " + quote(fabric.name) + " {\n";
  text += fabric.slices.size() == 1 ? "  layout=neato;\n" : "  layout=dot;\n  ranksep=2;\n";
  text += "  node [style=filled, fontname=\"sans-serif\"];\n";
  draw_nodes(fabric, text);
  draw_cables(fabric, text);
  return text + "}\n";
}

}  // namespace podsim
