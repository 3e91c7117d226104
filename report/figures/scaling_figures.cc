// One figure for each key that scale has in JSON.
#include "report/figures/scaling_figures.h"

#include <utility>

namespace podsim {
namespace {

Figure of_run(const WholeRun& run) {
  std::vector<Figure> parts = {
      Figure("tokens", run.tokens).field(1).column(kLastColumn).is("", "to be trained"),
      Figure("days", run.days).field(2).column(kLastColumn).is("days", "until they are, without failures"),
      Figure("energy_mwh", run.mwh).field(3).column(kLastColumn).is("MWh", "at the meter"),
      Figure("cost_usd", run.usd)
          .field(4)
          .column(kLastColumn)
          .is("USD", "with the rest of a contract's minimum term")};
  if (run.carbon_t)
    parts.push_back(Figure("carbon_t", *run.carbon_t)
                        .field(5)
                        .column(kLastColumn)
                        .is("t CO2e", "of power and of making the chips"));
  return Figure::group("whole_run", std::move(parts)).field(135).message("WholeRunEntry");
}

}  // namespace

std::vector<Figure> scaling_figures(const ScaledSize& size) {
  std::vector<Figure> all = {
      Figure("scaling", size.scaling)
          .field(130)
          .column(kLastColumn)
          .is("of `scale`: `weak`, the same batch per chip, or `strong`, the same global batch"),
      Figure("scaling_efficiency", size.efficiency)
          .field(131)
          .column(kLastColumn)
          .is("ratio", "of `scale`: throughput per chip over that of the first size"),
      Figure("microbatches", size.microbatches)
          .field(132)
          .column(kLastColumn)
          .is("of `scale`: of a data rank in a step"),
      Figure("pipeline_stages", size.stages).field(133).column(kLastColumn).is("of `scale`"),
      Figure("sequences_per_chip", size.sequences_per_chip)
          .field(134)
          .column(kLastColumn)
          .is("of `scale`: of a step")};
  if (size.run) all.push_back(of_run(*size.run));
  return all;
}

}  // namespace podsim
