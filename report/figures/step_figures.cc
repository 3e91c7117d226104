// Lists the figures of the step time: its spread, its band, its buckets.
#include "report/figures/step_figures.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "report/figures/anchor_figures.h"

namespace podsim {
namespace {

std::vector<Figure> step_time_figures(const Report& r) {
  return {
      Figure("step_time_s", r.step_time)
          .field(10)
          .column(10)
          .is("from the start of a step to the end of its last chip, mean over the steps of all seeds, to "
              "the nearest picosecond"),
      Figure("step_time_p50_s", r.step_time_p50)
          .field(11)
          .column(11)
          .is("median over the steps of all seeds, nearest rank"),
      Figure("step_time_p99_s", r.step_time_p99)
          .field(12)
          .column(12)
          .is("99th percentile over the steps of all seeds, nearest rank"),
  };
}

// Not known where no measured run is like it.
std::vector<Figure> band_figures(const std::optional<StepTimeBand>& known) {
  const StepTimeBand band = known.value_or(StepTimeBand{});
  const auto end = [&](Time time) { return known ? FigureValue(time) : FigureValue(); };
  return {
      Figure("step_time_low_s", end(band.low))
          .field("step_time_low_ps", 47)
          .column(22)
          .is("s",
              "low end of the error band: of measured runs like this one, one in ten is faster than this "
              "([validation](../evidence/validation.md)); `null` where none is like it"),
      Figure("step_time_high_s", end(band.high))
          .field("step_time_high_ps", 48)
          .column(23)
          .is("s",
              "high end: one in ten is slower. p50 and p99 are over simulated steps, low and high over what "
              "podsim does not know"),
      Figure("step_time_band", band.kind)
          .field(49)
          .column(24)
          .not_when_zero()
          .is("which measured runs the band is from: `same chip and stack`, `same chip`, `unseen chip`, "
              "`unseen kind of model`, `new stack`, `new stack and chip`, or `anchored` where steps of your "
              "own were measured"),
      Figure("step_time_band_rows", band.rows).field(50).column(25).not_when_zero().is("how many of them"),
  };
}

// Not known where the seeds are too few.
std::vector<Figure> interval_figures(const std::string& of, int field, int column,
                                     const std::string& definition,
                                     const std::optional<ConfidenceInterval>& interval) {
  return {
      Figure(of + "_low_s", interval ? FigureValue(interval->low) : FigureValue())
          .field(of + "_low_ps", field)
          .column(column)
          .is("s", definition),
      Figure(of + "_high_s", interval ? FigureValue(interval->high) : FigureValue())
          .field(of + "_high_ps", field + 1)
          .column(column + 1)
          .is("s", "the same, high end"),
  };
}

Figure ensemble_figures(const EnsembleReport& e) {
  std::vector<Figure> parts = {
      Figure("seeds", e.seeds).field(1).column(26).is("how many draws"),
      Figure("step_time_min_s", e.shortest).field(2).column(27).is("shortest step of all seeds"),
      Figure("step_time_max_s", e.longest).field(3).column(28).is("longest step of all seeds"),
      Figure("step_time_standard_deviation_s", e.standard_deviation)
          .field(4)
          .column(29)
          .is("standard deviation of single steps around `step_time_s`, with n - 1"),
      Figure("step_time_coefficient_of_variation", e.coefficient_of_variation)
          .field(5)
          .column(30)
          .is("ratio", "the same over `step_time_s`"),
  };
  append(parts,
         interval_figures(
             "mean", 6, 31,
             "low end of the 95 % confidence interval of `step_time_s`: Student's t, a draw as one batch",
             e.mean));
  append(parts,
         interval_figures("p50", 8, 33,
                          "of that of `step_time_p50_s`, by order statistics; `null` below 6 seeds", e.p50));
  append(parts, interval_figures("p99", 10, 35,
                                 "of that of `step_time_p99_s`, by order statistics; `null` below 368 seeds",
                                 e.p99));
  return Figure::group("ensemble", std::move(parts))
      .field(53)
      .message("EnsembleEntry")
      .is("of several seeds: how their step times spread ([ensembles](../theory/ensembles.md)); the key is "
          "missing for one seed");
}

// Exposed communication has parts of its own.
Figure exposed_figures(const StepBucket& bucket, const Report& r) {
  std::vector<Figure> by;
  for (const ExposedCommunication& exposed : r.exposed) {
    by.push_back(Figure::group(
        "", {
                Figure("axes", exposed.axes).field(1).is("mesh axes of the collective, joined by `+`"),
                Figure("kind", exposed.kind).field(2).is("kind of the collective, such as `all-gather`"),
                Figure("time_s", exposed.time)
                    .field(3)
                    .column(kLastColumn, std::string(bucket.key) + "." + exposed.axes + "." + exposed.kind)
                    .is("exposed time of these collectives; all of them add up to `total`"),
            }));
  }
  return Figure::group(
             bucket.key,
             {
                 Figure("total", r.*bucket.time)
                     .field("exposed_communication_ps", bucket.field)
                     .column(bucket.column),
                 Figure::list("by", std::move(by)).field("exposed", 15).message("ExposedCommunicationEntry"),
             })
      .is("s", bucket.definition);
}

Figure bucket_figure(const StepBucket& bucket, const Report& r) {
  if (bucket.time == &Report::exposed_communication) return exposed_figures(bucket, r);
  Figure figure =
      Figure(bucket.key, r.*bucket.time).field(bucket.field).column(bucket.column).is(bucket.definition);
  return bucket.time == &Report::evaluation ? std::move(figure).not_when_zero() : figure;
}

// JSON has the straggler delay where the first reports had it.
std::vector<Figure> bucket_figures(const Report& r) {
  std::vector<Figure> list;
  for (const StepBucket& bucket : step_buckets()) list.push_back(bucket_figure(bucket, r));
  std::rotate(list.begin() + 3, list.end() - 1, list.end());
  return list;
}

}  // namespace

const std::array<StepBucket, 9>& step_buckets() {
  static constexpr std::array<StepBucket, 9> kFigures = {{
      {"compute", "compute_s", &Report::compute, 13, 13,
       "bucket: forward and backward operations of the mean chip, kernel launch gaps included"},
      {"exposed communication", "exposed_communication_s", &Report::exposed_communication, 14, 14,
       "bucket: `total`, the time the mean chip waits for collectives under way, and what its computation "
       "loses to transfers beside it; `by`, its parts"},
      {"pipeline bubble", "pipeline_bubble_s", &Report::pipeline_bubble, 16, 15,
       "bucket: the mean chip waits for another pipeline stage, for a transfer between stages, or for late "
       "members of a collective"},
      {"optimizer", "optimizer_s", &Report::optimizer, 18, 17, "bucket: the optimizer update"},
      {"input stall", "input_stall_s", &Report::input_stall, 19, 18, "bucket: waiting for input data"},
      {"offload wait", "offload_wait_s", &Report::offload_wait, 45, 19,
       "bucket: waiting for copies to or from the host"},
      {"wait for slowest host", "skew_wait_s", &Report::skew_wait, 46, 20,
       "bucket: waiting for the slowest host, on average; grows with their number"},
      {"evaluation", "evaluation_s", &Report::evaluation, 51, 21,
       "bucket: forward passes of evaluations between training steps, their share of a step"},
      {"straggler delay", "straggler_delay_s", &Report::straggler_delay, 17, 16,
       "bucket: `step_time_s` minus the same step without adversities; zero without any"},
  }};
  return kFigures;
}

Figure shapes_figures(const ShapesReport& shapes) {
  std::vector<Figure> by_shape;
  for (const ShapeReport& shape : shapes.by_shape)
    by_shape.push_back(
        Figure::group("", {
                              Figure("tokens", shape.tokens).field(1).is("of each sequence of such a step"),
                              Figure("share", shape.share).field(2).is("ratio", "of the steps"),
                              Figure("step_s", shape.step_time).field(3).is("of such a step"),
                          }));
  return Figure::group("shapes",
                       {
                           Figure("padding_share", shapes.padding_share)
                               .field(1)
                               .column(kLastColumn)
                               .is("ratio", "of the tokens that are computed"),
                           Figure("step_s", shapes.step_time)
                               .field(2)
                               .column(kLastColumn)
                               .is("mean over the steps of a run, which have one shape each"),
                           Figure("compile_s", shapes.compile_time)
                               .field(3)
                               .column(kLastColumn)
                               .is("of a step, its share of the compilation of all shapes"),
                           Figure("tokens_per_s", shapes.tokens_per_s)
                               .field(4)
                               .column(kLastColumn)
                               .is("tokens/s", "of documents, without padding, compilation counted"),
                           Figure::list("by_shape", std::move(by_shape)).field(5).message("ShapeEntry"),
                       })
      .field(80)
      .message("ShapesEntry")
      .is("of documents that are padded: of all shapes together, where the other figures are of the longest; "
          "the key is missing where documents are packed");
}

ShownExposures shown_exposures(const Report& report) {
  constexpr double kLeastShare = 1e-3;
  ShownExposures shown;
  for (std::size_t i = 0; i < report.exposed.size(); ++i) {
    const Time time = report.exposed[i].time;
    if (time_share(time, report.step_time) < kLeastShare)
      shown.others += time;
    else
      shown.named.push_back(i);
  }
  return shown;
}

std::vector<Figure> step_figures(const Report& report) {
  std::vector<Figure> list = step_time_figures(report);
  append(list, band_figures(report.band));
  if (report.anchor) list.push_back(anchor_figures(*report.anchor));
  if (report.ensemble) list.push_back(ensemble_figures(*report.ensemble));
  append(list, bucket_figures(report));
  if (report.shapes) list.push_back(shapes_figures(*report.shapes));
  return list;
}

}  // namespace podsim
