// Checks, bounds and simulates a single layout.
#include "planner/search/layout_fate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/bounds/stem_bounds.h"
#include "prediction/predict.h"
#include "prediction/step_length.h"
#include "report/text/text.h"

namespace podsim {

LayoutFate fate_of(const Space& space, const JobLayout& layout, Time best) {
  LayoutFate fate{};
  fate.why = space.why_illegal(layout);
  fate.kind = LayoutFate::Kind::kIllegal;
  if (!fate.why.empty()) return fate;
  const Spec spec = with_layout(space.spec(), layout);
  const Fabric fabric = build_fabric(spec.cluster.fabric);
  const MeshContext context(fabric, spec);
  fate.needed = StemBounds(spec, context).memory(layout, false);
  fate.room = (1 - space.values().memory_headroom_share) * spec.cluster.chip.hbm_capacity;
  fate.kind = LayoutFate::Kind::kNoRoom;
  if (fate.needed > fate.room) return fate;
  fate.bound = rounded_down(relaxed_bound_s(spec, context));
  fate.kind = LayoutFate::Kind::kBounded;
  if (fate.bound > best) return fate;
  PredictOptions without_advice;
  without_advice.memory_advice = false;
  try {
    fate.figures = main_figures(predict_step(spec, without_advice).report);
    fate.kind = LayoutFate::Kind::kSimulated;
  } catch (const StepTooLong& refusal) {
    fate.why = refusal.what();
    fate.kind = LayoutFate::Kind::kTooLong;
  }
  return fate;
}

std::string difference(const MainFigures& slower, const MainFigures& faster) {
  struct Term {
    double seconds;
    const char* name;
  };
  const auto less = [](Time a, Time b) { return a.in_seconds() - b.in_seconds(); };
  std::vector<Term> terms = {
      {less(slower.compute, faster.compute), "computation"},
      {less(slower.exposed_communication, faster.exposed_communication), "exposed communication"},
      {less(slower.pipeline_bubble, faster.pipeline_bubble), "bubble"},
      {less(slower.optimizer, faster.optimizer), "optimizer"},
      {less(slower.skew_wait, faster.skew_wait), "skew"},
  };
  std::ranges::stable_sort(
      terms, [](const Term& a, const Term& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
  std::string text;
  const double visible = 0.001 * slower.step_time.in_seconds();
  for (std::size_t i = 0; i < 2; ++i) {
    if (std::abs(terms[i].seconds) < visible) continue;
    text += (text.empty() ? "" : ", ") + std::string(terms[i].seconds > 0 ? "more " : "less ") +
            terms[i].name + " " + fixed(std::abs(terms[i].seconds), 3) + " s";
  }
  return text;
}

}  // namespace podsim
