// The page of a scenario at several sizes: a point of its curve for each.
#pragma once

#include <span>
#include <string>

#include "proto/pages/page.h"
#include "report/answer/report.h"

namespace podsim {

// What a size leaves of the batch for each stage of its pipeline and for each chip.
struct BatchCut {
  int microbatches = 1, stages = 1;
  double sequences_per_chip = 1;

  bool starves_pipeline() const { return microbatches < stages; }
  bool starves_chips() const { return sequences_per_chip < 1; }
};

// A point of a curve: its report, and throughput per chip over that of the first of its setting.
struct ScalePoint {
  const Report* report;
  double efficiency;
  BatchCut cut;
  std::string setting;  // points of one are joined
};
Page scale_page(std::span<const ScalePoint> points, const std::string& json, const std::string& verdict);

}  // namespace podsim
