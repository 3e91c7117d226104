// One prediction for each shape.
#include "prediction/shapes.h"

#include "scheduler/question/spec.h"

namespace podsim {
namespace {

Spec padded(const Spec& spec, int tokens) {
  Spec one = spec;
  one.job.shapes.reset();
  one.job.sequence = tokens;
  return one;
}

}  // namespace

ShapesReport shapes_of(const Spec& spec, const Report& longest,
                       const std::function<Time(const Spec&)>& step_time) {
  const PaddedShapes& shapes = *spec.job.shapes;
  ShapesReport report;
  report.padding_share = shapes.padding_share();
  double mean_s = 0;
  for (const PaddedShape& shape : shapes.shapes) {
    const Time step =
        shape.tokens == spec.job.sequence ? longest.step_time : step_time(padded(spec, shape.tokens));
    report.by_shape.push_back({shape.tokens, shape.share, step});
    mean_s += shape.share * step.in_seconds();
  }
  report.step_time = Time::seconds(mean_s);
  report.compile_time = Time::seconds(shapes.compile_s_per_step());
  report.tokens_per_s =
      spec.job.global_batch * shapes.document_tokens / (mean_s + shapes.compile_s_per_step());
  return report;
}

}  // namespace podsim
