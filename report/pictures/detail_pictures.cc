// Implements the pictures of run_pictures.h that need a step's detail: passes, operations, collectives.
#include <algorithm>
#include <cmath>
#include <map>

#include "report/pictures/run_pictures.h"
#include "report/text/text.h"

namespace podsim {
namespace {

constexpr std::size_t kMostPasses = 480;  // of a stage, drawn in full
constexpr std::size_t kNamedOperations = 7;

const char* pass_role(const PassSpan& span) {
  if (span.tasks.empty()) return "optimizer";
  switch (span.tasks.front().pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kWeightGradient:
      return "weight-gradient";
    default:
      return "backward";
  }
}

std::string pass_text(const PassSpan& span) {
  if (span.tasks.empty()) return "optimizer";
  std::string text;
  for (const PipelineTask& task : span.tasks) {
    const char* const pass = task.pass == Pass::kForward          ? "forward"
                             : task.pass == Pass::kWeightGradient ? "weight gradient"
                                                                  : "backward";
    text += (text.empty() ? "" : " and ") + std::string(pass) + " of microbatch " +
            std::to_string(task.microbatch) + (task.chunk > 0 ? ", chunk " + std::to_string(task.chunk) : "");
  }
  return text;
}

// Of the stages with most passes: the begin and the end of a step, and between them one period.
struct Excerpt {
  std::vector<AxisWindow> windows;
  double periods = 0;  // left out
};

Excerpt excerpt_of(const StepDetail& detail) {
  std::size_t most = 0;
  const std::size_t stages = detail.stages.size();
  for (const StagePasses& stage : detail.stages) most = std::max(most, stage.spans.size());
  const std::size_t ends = std::max<std::size_t>(4 * stages, 48);
  if (most <= kMostPasses || most < 4 * ends) return {};
  Time head, tail = detail.step;
  for (const StagePasses& stage : detail.stages) {
    if (stage.spans.size() < 4 * ends) continue;
    head = std::max(head, stage.spans[ends].begin);
    tail = std::min(tail, stage.spans[stage.spans.size() - ends].begin);
  }
  const std::vector<PassSpan>& passes = detail.stages.front().spans;
  const std::size_t middle = passes.size() / 2, period = std::max<std::size_t>(2 * stages, 8);
  const double begin = passes[middle].begin.in_seconds(), end = passes[middle + period].begin.in_seconds();
  const double left_out = tail.in_seconds() - head.in_seconds() - (end - begin);
  if (head >= passes[middle].begin || tail <= passes[middle + period].begin || left_out <= 0) return {};
  return {{{0, head.in_seconds()}, {begin, end}, {tail.in_seconds(), detail.step.in_seconds()}},
          left_out / (end - begin)};
}

std::string rate_text(double flops_per_s) { return significant(flops_per_s / 1e12, 4) + " TFLOP/s"; }

// What it works on, and what its tiles cost.
std::string made_of(const OperationUse& use) {
  std::string text = use.shape.empty() ? "" : "; " + use.shape;
  if (use.tile_loss > 1) text += "; partial tiles and waves: " + fixed(use.tile_loss, 3) + " times as long";
  return text;
}

bool shown(const Excerpt& excerpt, double begin, double end) {
  return excerpt.windows.empty() || std::ranges::any_of(excerpt.windows, [&](const AxisWindow& window) {
           return end > window.low && begin < window.high;
         });
}

}  // namespace

std::string operation_name(const OperationUse& use) {
  return use.name + (use.backward ? ", backward" : "") + " of " + use.part;
}

Picture schedule_picture(const StepDetail& detail) {
  Picture picture{.id = "schedule", .title = "The step along time, stage by stage", .summary = ""};
  picture.x = {"time", "s"};
  picture.x.high = detail.step.in_seconds();
  picture.y.label = "stage";
  const Excerpt excerpt = excerpt_of(detail);
  picture.x.windows = excerpt.windows;
  std::map<std::string, PictureSeries> by_role = {{"bubble", {"waits", "bubble"}},
                                                  {"forward", {"forward", "forward"}},
                                                  {"backward", {"backward", "backward"}},
                                                  {"weight-gradient", {"weight gradient", "weight-gradient"}},
                                                  {"optimizer", {"once per step", "optimizer"}}};
  double computed = 0;
  for (std::size_t row = 0; row < detail.stages.size(); ++row) {
    const StagePasses& stage = detail.stages[row];
    picture.y.names.push_back(std::to_string(stage.stage));
    for (const AxisWindow& window :
         excerpt.windows.empty() ? std::vector<AxisWindow>{{0, detail.step.in_seconds()}} : excerpt.windows)
      by_role["bubble"].marks.push_back({window.low, static_cast<double>(row), window.high - window.low});
    for (const PassSpan& span : stage.spans) {
      for (std::size_t part = 0; part < span.busy.size(); ++part) {
        const double begin = span.busy[part].first.in_seconds(), end = span.busy[part].second.in_seconds();
        computed += end - begin;
        if (!shown(excerpt, begin, end)) continue;
        const bool one = part == 0 && span.tasks.size() == 1;
        by_role[pass_role(span)].marks.push_back(
            {begin, static_cast<double>(row), end - begin,
             one ? std::to_string(span.tasks.front().microbatch) : "",
             "stage " + std::to_string(stage.stage) + ": " + pass_text(span)});
      }
    }
  }
  for (const char* role : {"bubble", "forward", "backward", "weight-gradient", "optimizer"})
    if (!by_role[role].marks.empty()) picture.series.push_back(std::move(by_role[role]));
  for (std::size_t cut = 0; cut + 1 < excerpt.windows.size(); ++cut)
    picture.breaks.push_back(
        {cut, cut == 0 ? "one period of " + significant(excerpt.periods + 1, 3) + " that are alike" : ""});
  const StagePasses& first = detail.stages.front();
  picture.summary = "One chip of each of " + std::to_string(detail.stages.size()) +
                    " stages in the first step; that of stage 0 stands for " + std::to_string(first.alike) +
                    ". On average they compute " +
                    percent(computed / static_cast<double>(detail.stages.size()) / detail.step.in_seconds()) +
                    " of it.";
  return picture;
}

Picture roofline_picture(const StepDetail& detail) {
  Picture picture{.id = "roofline", .title = "Operations under the roof of the chip", .summary = ""};
  picture.x = {"work for a byte of memory", "FLOP/byte", {}, true};
  picture.y = {"rate", "FLOP/s", {}, true};
  double all = 0, drawn = 0, least = 1e300, most = 0;
  std::vector<const OperationUse*> uses;
  for (const OperationUse& use : detail.operations) {
    all += use.seconds * use.times;
    if (!(use.flops > 0) || !(use.hbm_bytes > 0) || !(use.seconds > 0)) continue;
    uses.push_back(&use);
    drawn += use.seconds * use.times;
    least = std::min(least, use.flops / use.hbm_bytes);
    most = std::max(most, use.flops / use.hbm_bytes);
  }
  std::ranges::stable_sort(uses, [](const OperationUse* a, const OperationUse* b) {
    return a->seconds * a->times > b->seconds * b->times;
  });
  const Roof& roof = detail.roof;
  const double ridge = roof.flops_per_s / roof.hbm_bytes_per_s;
  least = std::min(least, ridge / 4);
  most = std::max(most, ridge * 4);
  picture.series.push_back(
      {"peak of the chip",
       "limit",
       MarkShape::kLine,
       {{least, least * roof.hbm_bytes_per_s, 0}, {ridge, roof.flops_per_s, 0}, {most, roof.flops_per_s, 0}},
       rate_text(roof.flops_per_s)});
  picture.series.push_back(
      {"what a large matmul sustains",
       "other",
       MarkShape::kLine,
       {{roof.sustained_flops_per_s / roof.hbm_bytes_per_s, roof.sustained_flops_per_s, 0},
        {most, roof.sustained_flops_per_s, 0}},
       rate_text(roof.sustained_flops_per_s)});
  PictureSeries forward{"forward", "forward", MarkShape::kDot},
      backward{"backward", "backward", MarkShape::kDot};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const OperationUse& use = *uses[i];
    const double time = use.seconds * use.times, intensity = use.flops / use.hbm_bytes;
    const bool by_memory = use.hbm_bytes / roof.hbm_bytes_per_s > use.flops / roof.flops_per_s;
    (use.backward ? backward : forward)
        .marks.push_back(
            {intensity, use.flops / use.seconds, time / drawn, i < kNamedOperations ? use.name : "",
             use.part + ", " + use.name + ": " + percent(time / all) + " of operations, " +
                 significant(intensity, 3) + " FLOP/byte, " + significant(use.flops / use.seconds / 1e12, 4) +
                 " TFLOP/s, below the roof of " + (by_memory ? "memory" : "arithmetic") + made_of(use),
             "", operation_name(use)});
  }
  picture.series.push_back(std::move(forward));
  picture.series.push_back(std::move(backward));
  picture.summary = "The area of a dot is its share of the time. Drawn are operations with " +
                    percent(all > 0 ? drawn / all : 0) +
                    " of the time of all; the others do no arithmetic that is counted.";
  return picture;
}

Picture collectives_picture(const Report& report, const StepDetail& detail) {
  Picture picture{.id = "collectives", .title = "Collectives of the mean chip", .summary = ""};
  picture.x = {"time in a step", "s"};
  std::map<std::pair<std::string, std::string>, double> under_way;
  for (const CollectiveUse& use : detail.collectives) under_way[{use.axes, use.kind}] += use.under_way_s;
  std::vector<std::pair<std::pair<std::string, std::string>, double>> order(under_way.begin(),
                                                                            under_way.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  PictureSeries all{"under way", "mean"}, exposed{"of which the chip waits", "data"};
  for (const auto& [of, seconds] : order) {
    const auto row = static_cast<double>(picture.y.names.size());
    const std::string name = of.first + " " + of.second;
    picture.y.names.push_back(name);
    picture.y.names.push_back("exposed");
    all.marks.push_back({0, row, seconds, "", name + ": under way for " + fixed(seconds, 4) + " s"});
    picture.summary +=
        (picture.summary.empty() ? "" : "; ") + name + " under way for " + fixed(seconds, 4) + " s";
    for (std::size_t i = 0; i < report.exposed.size(); ++i) {
      const ExposedCommunication& part = report.exposed[i];
      if (part.axes != of.first || part.kind != of.second) continue;
      exposed.marks.push_back({0, row + 1, part.time.in_seconds(), "",
                               name + ": exposed for " + fixed(part.time.in_seconds(), 4) + " s",
                               "exposed_communication_s.by[" + std::to_string(i) + "].time_s"});
      picture.summary += ", exposed for " + fixed(part.time.in_seconds(), 4) + " s";
    }
  }
  picture.summary += ".";
  picture.series = {std::move(all), std::move(exposed)};
  return picture;
}

}  // namespace podsim
