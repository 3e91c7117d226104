// The table of what moved, and a sentence of what it changed.
#include "report/anchor_text.h"

#include "report/text.h"
#include "report/write.h"

namespace podsim {

std::string anchor_table(const AnchorReport& anchor) {
  std::vector<std::vector<std::string>> rows = {
      {"what measured steps moved", "number", "from", "to", "unsure"}};
  for (const AnchoredNumber& number : anchor.numbers)
    rows.push_back({number.parameter, number.path, significant(number.before, 3),
                    significant(number.after, 3), percent(number.unsure)});
  const auto& band = anchor.band_before;
  return align(rows) + "Without " +
         (anchor.runs == 1 ? "the measured step" : "the " + std::to_string(anchor.runs) + " measured steps") +
         " it was " + significant(anchor.step_time_before.in_seconds(), 4) + " s" +
         (band ? " (" + significant(band->low.in_seconds(), 4) + " to " +
                     significant(band->high.in_seconds(), 4) + " s)"
               : "") +
         ".\n";
}

}  // namespace podsim
