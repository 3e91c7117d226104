// Collectives, operations and links of a step as lists of figures.
#include "report/pictures/detail_figures.h"

#include <utility>

namespace podsim {
namespace {

Figure of_collective(const CollectiveUse& use) {
  return Figure::group(
      "", {
              Figure("axes", use.axes)
                  .field(1)
                  .column(kLastColumn)
                  .is("mesh axes of the collective, joined by `+`"),
              Figure("kind", use.kind)
                  .field(2)
                  .column(kLastColumn)
                  .is("kind of the collective, such as `all-gather`"),
              Figure("algorithm", use.algorithm).field(3).column(kLastColumn).is("how it is done"),
              Figure("bytes", use.bytes.value).field(4).column(kLastColumn).is("bytes", "of one"),
              Figure("times", use.times).field(5).column(kLastColumn).is("in a step of the mean chip"),
              Figure("under_way_s", use.under_way_s)
                  .field(6)
                  .column(kLastColumn)
                  .is("s", "of all of them in a step of the mean chip, from the start to the end of each"),
              Figure("bus_bandwidth_gb_per_s", bus_bandwidth(use) * 1e-9)
                  .field(7)
                  .column(kLastColumn)
                  .is("GB/s", "of one while it is under way, as nccl-tests counts it; 0 between two chips"),
              Figure("link", use.link)
                  .field(8)
                  .column(kLastColumn)
                  .is("kind of the link that has most to carry, of all on its way"),
              Figure("link_share", use.link_share)
                  .field(9)
                  .column(kLastColumn)
                  .is("share", "of what that link can carry, used by it while it is under way"),
          });
}

Figure of_operation(const OperationUse& use) {
  return Figure::group(
      "", {
              Figure("part", use.part).field(1).column(kLastColumn).is("piece of the model"),
              Figure("operation", use.name).field(2).column(kLastColumn).is("its name"),
              Figure("backward", use.backward)
                  .field(3)
                  .column(kLastColumn)
                  .is("whether it is of the backward pass"),
              Figure("shape", use.shape).field(4).column(kLastColumn).is("on one chip"),
              Figure("times", use.times).field(5).column(kLastColumn).is("in a step of the mean chip"),
              Figure("time_s", use.seconds).field("seconds", 6).column(kLastColumn).is("s", "that one takes"),
              Figure("gflop", use.flops * 1e-9).field(7).column(kLastColumn).is("GFLOP", "of one"),
              Figure("memory_mb", use.hbm_bytes * 1e-6)
                  .field(8)
                  .column(kLastColumn)
                  .is("MB", "that one reads and writes"),
              Figure("tflop_per_s", use.seconds > 0 ? use.flops / use.seconds * 1e-12 : 0)
                  .field(9)
                  .column(kLastColumn)
                  .is("TFLOP/s", "that it reaches"),
          });
}

Figure of_links(const LinkClassUse& use) {
  return Figure::group(
      "",
      {
          Figure("kind", use.kind).field(1).column(kLastColumn).is("kind of link"),
          Figure("links", use.links).field(2).column(kLastColumn).is("that carry the same"),
          Figure("gb_per_s", use.bandwidth.value * 1e-9)
              .field(3)
              .column(kLastColumn)
              .is("GB/s", "that one can carry"),
          Figure("share", use.share).field(4).column(kLastColumn).is("share", "of that, used over the step"),
      });
}

template <class Uses, class Of>
std::vector<Figure> each(const Uses& uses, Of of) {
  std::vector<Figure> elements;
  for (const auto& use : uses) elements.push_back(of(use));
  return elements;
}

}  // namespace

std::vector<Figure> detail_figures(const StepDetail& detail) {
  return {
      Figure::list("collectives", each(detail.collectives, of_collective))
          .field(120)
          .message("CollectiveUseEntry")
          .is("with `--detail` or a page: collectives of the mean chip in a step, longest under way first"),
      Figure::list("operations", each(detail.operations, of_operation))
          .field(121)
          .message("OperationUseEntry")
          .is("the same: operations of the mean chip"),
      Figure::list("links_by_class", each(detail.links, of_links))
          .field(122)
          .message("LinkClassUseEntry")
          .is("the same: links that carry the same, busiest first"),
      Figure::list("near_runs",
                   each(detail.near,
                        [](const NearRun& near) {
                          return Figure::group(
                              "", {Figure("run", near.run)
                                       .field(1)
                                       .column(kLastColumn)
                                       .is("a measured run that is like this one"),
                                   Figure("ratio", near.ratio)
                                       .field(2)
                                       .column(kLastColumn)
                                       .is("ratio", "of its measured step time over the predicted one")});
                        }))
          .field(123)
          .message("NearRunEntry")
          .is("the same: the measured runs that the band is from")};
}

}  // namespace podsim
