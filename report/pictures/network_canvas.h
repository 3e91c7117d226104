// What drawings of networks are made of: boxes, strokes that stand for links, crosses on what is missing or
// slow.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/pictures/drawing.h"
#include "report/pictures/network_load.h"
#include "topology/fabric.h"

namespace podsim {

inline constexpr double kDrawingMargin = 24, kDrawingHead = 62;  // above: the title

// Links that one stroke stands for.
struct LinkBundle {
  LinkKind kind = LinkKind::kIci;
  int links = 0, missing = 0, slow = 0;  // of one direction each
  double share = -1;                     // of the busiest that is left; below 0: not known

  void add(const LinkBundle& more);
};

class NetworkCanvas {
 public:
  NetworkCanvas(const Fabric& fabric, const Fabric& whole, const NetworkLoad& load)
      : fabric_(fabric), whole_(whole), load_(load) {}

  const Fabric& fabric() const { return fabric_; }
  const Fabric& whole() const { return whole_; }
  bool has_load() const { return !load_.kinds.empty(); }

  // Both directions between two nodes of the whole network; no links where there are none.
  LinkBundle cable(NodeId a, NodeId b) const;

  bool is_slow(ChipId chip) const;

  // Of all boxes that follow. REQUIRES: there is none yet.
  void set_box_size(double width, double height) { box_width_ = width, box_height_ = height; }
  // `of` = "chip", "cube", "server" or "switch".
  void add_box(const DrawnBox& box, const std::string& of);
  void add_label(double x, double y, const std::string& text, const std::string& of = "tick");
  void add_stroke(const LinkBundle& bundle, double x1, double y1, double x2, double y2);
  // On a chip that is slow.
  void add_slash(double x, double y);
  // Where wrap-around links come back elsewhere.
  void add_seam(double x1, double y1, double x2, double y2);

  // "43.2%" of the busiest, "failed" and "slow".
  static std::string use_text(const LinkBundle& bundle);

  Drawing drawing(const std::string& summary, double width, double height, bool thick) const;

 private:
  const LinkUse* use_of(LinkKind kind) const;
  std::string link_elements() const;
  std::string legend(double top) const;
  std::string colour(LinkKind kind, int level) const;

  const Fabric& fabric_;
  const Fabric& whole_;
  const NetworkLoad& load_;
  std::map<std::pair<LinkKind, int>, std::string> strokes_;  // [kind, twentieth of its capacity]
  std::string crosses_, slashes_, seams_, chips_, rounded_, labels_;
  double box_width_ = 0, box_height_ = 0;
  std::vector<DrawnBox> boxes_;
};

// The torus of `slice` chip by chip, or of more than 4,096 chips cube by cube.
Drawing torus_drawing(NetworkCanvas& canvas, const TorusSlice& slice);

// A column for each kind of switch, and one of NVLink domains between theirs and the others.
Drawing tier_drawing(NetworkCanvas& canvas);

}  // namespace podsim
