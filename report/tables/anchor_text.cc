// The table of what moved, and a sentence of what it changed.
#include "report/tables/anchor_text.h"

#include "report/text/align.h"
#include "report/text/text.h"

namespace podsim {

namespace {

// "the 2 measured steps and 40 kernels"
std::string measured(const AnchorReport& anchor) {
  const auto counted = [](int count, const std::string& what) {
    return (count == 1 ? "" : std::to_string(count) + " ") + "measured " + what + (count == 1 ? "" : "s");
  };
  if (anchor.kernels == 0) return "the " + counted(anchor.runs, "step");
  if (anchor.runs == 0) return "the " + counted(anchor.kernels, "kernel");
  return "the " + counted(anchor.runs, "step") + " and the " + counted(anchor.kernels, "kernel");
}

}  // namespace

std::string anchor_table(const AnchorReport& anchor) {
  std::vector<std::vector<std::string>> rows = {
      {anchor.kernels == 0 ? "what measured steps moved" : "what was measured moved", "number", "from", "to",
       "unsure"}};
  for (const AnchoredNumber& number : anchor.numbers)
    rows.push_back({number.parameter, number.path, significant(number.before, 3),
                    significant(number.after, 3), percent(number.unsure)});
  const auto& band = anchor.band_before;
  return align(rows) + "Without " + measured(anchor) + " it was " +
         significant(anchor.step_time_before.in_seconds(), 4) + " s" +
         (band ? " (" + significant(band->low.in_seconds(), 4) + " to " +
                     significant(band->high.in_seconds(), 4) + " s)"
               : "") +
         ".\n";
}

}  // namespace podsim
