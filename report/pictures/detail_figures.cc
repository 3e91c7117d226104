// Collectives, operations and links of a step as lists of figures.
#include "report/pictures/detail_figures.h"

#include <utility>

namespace podsim {
namespace {

Figure of_collective(const CollectiveUse& use) {
  return Figure::group(
      "", {
              Figure("axes", use.axes).is("mesh axes of the collective, joined by `+`"),
              Figure("kind", use.kind).is("kind of the collective, such as `all-gather`"),
              Figure("algorithm", use.algorithm).is("how it is done"),
              Figure("bytes", use.bytes.value).is("bytes", "of one"),
              Figure("times", use.times).is("in a step of the mean chip"),
              Figure("under_way_s", use.under_way_s)
                  .is("s", "of all of them in a step of the mean chip, from the start to the end of each"),
              Figure("bus_bandwidth_gb_per_s", bus_bandwidth(use) * 1e-9)
                  .is("GB/s", "of one while it is under way, as nccl-tests counts it; 0 between two chips"),
              Figure("link", use.link).is("kind of the link that has most to carry, of all on its way"),
              Figure("link_share", use.link_share)
                  .is("share", "of what that link can carry, used by it while it is under way"),
          });
}

Figure of_operation(const OperationUse& use) {
  return Figure::group("",
                       {
                           Figure("part", use.part).is("piece of the model"),
                           Figure("operation", use.name).is("its name"),
                           Figure("backward", use.backward).is("whether it is of the backward pass"),
                           Figure("shape", use.shape).is("on one chip"),
                           Figure("times", use.times).is("in a step of the mean chip"),
                           Figure("time_s", use.seconds).is("s", "that one takes"),
                           Figure("gflop", use.flops * 1e-9).is("GFLOP", "of one"),
                           Figure("memory_mb", use.hbm_bytes * 1e-6).is("MB", "that one reads and writes"),
                           Figure("tflop_per_s", use.seconds > 0 ? use.flops / use.seconds * 1e-12 : 0)
                               .is("TFLOP/s", "that it reaches"),
                       });
}

Figure of_links(const LinkClassUse& use) {
  return Figure::group("",
                       {
                           Figure("kind", use.kind).is("kind of link"),
                           Figure("links", use.links).is("that carry the same"),
                           Figure("gb_per_s", use.bandwidth.value * 1e-9).is("GB/s", "that one can carry"),
                           Figure("share", use.share).is("share", "of that, used over the step"),
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
  return {Figure::list("collectives", each(detail.collectives, of_collective)),
          Figure::list("operations", each(detail.operations, of_operation)),
          Figure::list("links_by_class", each(detail.links, of_links)),
          Figure::list("near_runs", each(detail.near, [](const NearRun& near) {
                         return Figure::group(
                             "", {Figure("run", near.run).is("a measured run that is like this one"),
                                  Figure("ratio", near.ratio)
                                      .is("ratio", "of its measured step time over the predicted one")});
                       }))};
}

}  // namespace podsim
