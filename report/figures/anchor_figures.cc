// The figures of anchors.
#include "report/figures/anchor_figures.h"

#include <utility>

namespace podsim {

Figure anchor_figures(const AnchorReport& anchor) {
  const auto end = [&](Time StepTimeBand::*which) {
    return anchor.band_before ? FigureValue((*anchor.band_before).*which) : FigureValue();
  };
  std::vector<Figure> numbers;
  for (const AnchoredNumber& number : anchor.numbers) {
    numbers.push_back(Figure::group(
        "", {
                Figure("parameter", number.parameter).field(1).is("numbers of one parameter move together"),
                Figure("number", number.path).field(2).is("field of the stack"),
                Figure("before", number.before).field(3).is("as the stack has it"),
                Figure("after", number.after).field(4).is("as the measured steps leave it"),
                Figure("unsure", number.unsure)
                    .field(5)
                    .is("share", "of the spread that it was given: what the measured steps leave of it"),
            }));
  }
  return Figure::group(
             "anchor",
             {
                 Figure("runs", anchor.runs).field(1).column(kLastColumn).is("measured steps of the stack"),
                 Figure("kernels", anchor.kernels)
                     .field(6)
                     .column(kLastColumn)
                     .is("rows of measured kernels that tell of it"),
                 Figure("step_time_before_s", anchor.step_time_before)
                     .field(2)
                     .column(kLastColumn)
                     .is("`step_time_s` without them"),
                 Figure("step_time_low_before_s", end(&StepTimeBand::low))
                     .field("step_time_low_before_ps", 3)
                     .column(kLastColumn)
                     .is("s", "`step_time_low_s` without them; `null` where no measured run is like it"),
                 Figure("step_time_high_before_s", end(&StepTimeBand::high))
                     .field("step_time_high_before_ps", 4)
                     .column(kLastColumn)
                     .is("s", "the same, high end"),
                 Figure::list("numbers", std::move(numbers))
                     .field("number", 5)
                     .message("AnchoredNumberEntry"),
             })
      .field(71)
      .message("AnchorEntry")
      .is("what measured steps of your own moved ([anchors](../guide/anchors.md)); the key is missing "
          "without");
}

}  // namespace podsim
