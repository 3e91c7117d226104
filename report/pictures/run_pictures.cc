// Pictures of the figures of a report: buckets, memory, links, stragglers.
#include "report/pictures/run_pictures.h"

#include <algorithm>
#include <array>

#include "engine/check.h"
#include "report/figures/step_figures.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string bucket_role(const StepBucket& bucket) {
  if (bucket.time == &Report::compute) return "compute";
  if (bucket.time == &Report::pipeline_bubble) return "bubble";
  if (bucket.time == &Report::optimizer) return "optimizer";
  if (bucket.time == &Report::input_stall) return "input";
  if (bucket.time == &Report::offload_wait) return "offload";
  if (bucket.time == &Report::skew_wait) return "skew";
  if (bucket.time == &Report::evaluation) return "evaluation";
  return "straggler";
}

// A part of a bar.
struct BarPart {
  std::string name, role, key;
  Time time;
};

std::vector<BarPart> parts_of_step(const Report& report) {
  std::vector<BarPart> parts;
  for (const StepBucket& bucket : step_buckets()) {
    const Time time = report.*bucket.time;
    if (bucket.time != &Report::exposed_communication) {
      parts.push_back({bucket.name, bucket_role(bucket), bucket.key, time});
      continue;
    }
    const ShownExposures shown = shown_exposures(report);
    for (const std::size_t i : shown.named) {
      const ExposedCommunication& exposed = report.exposed[i];
      parts.push_back({exposed.axes + " " + exposed.kind, role_of_axes(exposed.axes),
                       std::string(bucket.key) + ".by[" + std::to_string(i) + "].time_s", exposed.time});
    }
    if (shown.others.ps > 0) parts.push_back({"other communication", "other", "", shown.others});
  }
  return parts;
}

std::string time_and_share(Time time, Time step) {
  return fixed(time.in_seconds(), 4) + " s, " + percent(time_share(time, step));
}

// Parts of memory, from below.
struct MemoryPart {
  const char *name, *role, *key;
  double MemoryParts::*gib;
};
constexpr std::array<MemoryPart, 7> kMemoryParts = {{
    {"weights", "weights", "weights", &MemoryParts::weights},
    {"gradients", "gradients", "gradients", &MemoryParts::gradients},
    {"optimizer state", "state", "optimizer", &MemoryParts::optimizer},
    {"collective buffers", "buffers", "buffers", &MemoryParts::buffers},
    {"fragmentation", "fragmentation", "fragmentation", &MemoryParts::fragmentation},
    {"logits", "logits", "logits", &MemoryParts::logits},
    {"activations", "activations", "activations", &MemoryParts::activations},
}};

std::string memory_sentence(const MemoryReport& memory) {
  return "A chip of stage " + std::to_string(memory.worst_stage) + ", the fullest, needs " +
         fixed(memory.total, 2) + " GiB of " + fixed(memory.capacity, 2) + " GiB" +
         (memory.fits ? "." : ": it does not fit.");
}

PictureSeries& series_named(Picture& picture, const std::string& name, const std::string& role) {
  for (PictureSeries& series : picture.series)
    if (series.name == name) return series;
  return picture.series.emplace_back(PictureSeries{name, role});
}

}  // namespace

std::string role_of_axes(const std::string& axes) {
  constexpr std::array<std::pair<std::string_view, const char*>, 9> kKnown = {{
      {"tensor", "tensor"},
      {"model", "tensor"},
      {"context", "context"},
      {"sequence", "context"},
      {"expert", "expert"},
      {"pipeline", "pipeline"},
      {"stage", "pipeline"},
      {"data", "data"},
      {"fsdp", "data"},
  }};
  std::size_t first = std::string::npos;
  const char* role = "other";
  for (const auto& [name, of] : kKnown) {
    const std::size_t at = axes.find(name);
    if (at < first) {
      first = at;
      role = of;
    }
  }
  return role;
}

Picture breakdown_picture(std::span<const NamedReport> reports) {
  Picture picture{.id = "breakdown", .title = "Where the step goes", .summary = ""};
  picture.x = {"time of the mean chip", "s"};
  for (std::size_t row = 0; row < reports.size(); ++row) {
    const Report& report = *reports[row].report;
    picture.y.names.push_back(reports[row].name);
    Time at;
    for (const BarPart& part : parts_of_step(report)) {
      const std::string what = time_and_share(part.time, report.step_time);
      PictureSeries& series = series_named(picture, part.name, part.role);
      // What adversities take away makes the bar shorter: it would lie on other parts.
      if (part.time.ps > 0) {
        series.marks.push_back({at.in_seconds(), static_cast<double>(row), part.time.in_seconds(),
                                percent(time_share(part.time, report.step_time)), part.name + ": " + what,
                                part.key.empty() ? "" : reports[row].key + part.key});
        at += part.time;
      }
      if (reports.size() == 1 && part.time.ps != 0) {
        series.note = what;
        picture.summary += (picture.summary.empty() ? "" : "; ") + part.name + " " + what;
      }
    }
    if (reports.size() > 1)
      picture.summary += (row == 0 ? "" : "; ") + reports[row].name + " takes " +
                         fixed(report.step_time.in_seconds(), 4) + " s a step";
  }
  std::erase_if(picture.series, [](const PictureSeries& series) { return series.marks.empty(); });
  picture.summary += ".";
  return picture;
}

Picture memory_picture(const Report& report) {
  const MemoryReport& memory = report.memory;
  Picture picture{
      .id = "memory", .title = "Memory of a chip of each stage", .summary = memory_sentence(memory)};
  picture.x = {"GiB per chip", ""};
  picture.y.label = "stage";
  for (std::size_t stage = 0; stage < memory.stages.size(); ++stage)
    picture.y.names.push_back(std::to_string(stage));
  for (const MemoryPart& part : kMemoryParts) picture.series.push_back({part.name, part.role});
  for (std::size_t stage = 0; stage < memory.stages.size(); ++stage) {
    double at = 0;
    for (std::size_t part = 0; part < kMemoryParts.size(); ++part) {
      const double gib = memory.stages[stage].*kMemoryParts[part].gib;
      if (gib > 0)
        picture.series[part].marks.push_back(
            {at, static_cast<double>(stage), gib, fixed(gib, 1),
             "stage " + std::to_string(stage) + ", " + kMemoryParts[part].name + ": " + fixed(gib, 2) +
                 " GiB",
             "memory_by_stage_gib[" + std::to_string(stage) + "]." + kMemoryParts[part].key});
      at += gib;
    }
  }
  std::erase_if(picture.series, [](const PictureSeries& series) { return series.marks.empty(); });
  picture.lines.push_back({true, memory.capacity, "capacity " + fixed(memory.capacity, 2) + " GiB"});
  return picture;
}

Picture memory_over_step_picture(const Report& report, const StepDetail& detail) {
  const MemoryReport& memory = report.memory;
  const auto most = std::ranges::max_element(detail.held, {}, &HeldShare::share);
  Picture picture{
      .id = "memory-over-step",
      .title = "Memory of stage " + std::to_string(detail.fullest) + " along the step",
      .summary = memory_sentence(memory) +
                 " Activations follow the passes of its schedule, drawn in scale to the most that "
                 "they need, which is reached first at " +
                 fixed(most->at.in_seconds(), 4) + " s."};
  picture.x = {"time", "s"};
  picture.x.high = detail.step.in_seconds();
  picture.y = {"GiB per chip", ""};
  double at = 0;
  for (const MemoryPart& part : kMemoryParts) {
    const double gib = memory.*part.gib;
    if (!(gib > 0)) continue;
    PictureSeries series{part.name, part.role, MarkShape::kArea};
    if (part.gib == &MemoryParts::activations) {
      for (const HeldShare& held : detail.held)
        series.marks.push_back({held.at.in_seconds(), at, gib * held.share});
      series.marks.push_back({detail.step.in_seconds(), at, gib * detail.held.back().share});
    } else {
      series.marks = {{0, at, gib}, {detail.step.in_seconds(), at, gib}};
    }
    series.note = fixed(gib, 2) + " GiB";
    picture.series.push_back(std::move(series));
    at += gib;
  }
  picture.lines.push_back({false, memory.capacity, "capacity " + fixed(memory.capacity, 2) + " GiB"});
  picture.lines.push_back({true, most->at.in_seconds(), "peak"});
  return picture;
}

Picture links_picture(const Report& report) {
  Picture picture{.id = "links", .title = "Use of links over the step", .summary = ""};
  picture.x = {"share of the step for which links are taken up", "%"};
  picture.x.low = 0;
  picture.x.high = 100;
  PictureSeries mean{"mean of all links", "mean"}, busiest{"busiest", "data"};
  for (const LinkUse& use : report.link_use) {
    const auto row = static_cast<double>(picture.y.names.size());
    picture.y.names.push_back(use.kind);
    picture.y.names.push_back(use.kind + ", busiest");
    const std::string key = "link_utilisation." + use.kind + ".";
    mean.marks.push_back({0, row, 100 * use.mean_utilisation, percent(use.mean_utilisation),
                          use.kind + ", mean of all: " + percent(use.mean_utilisation), key + "mean"});
    busiest.marks.push_back({0, row + 1, 100 * use.max_utilisation, percent(use.max_utilisation),
                             use.kind + ", busiest: " + percent(use.max_utilisation), key + "max"});
    picture.summary += (picture.summary.empty() ? "" : "; ") + use.kind + " " +
                       percent(use.mean_utilisation) + " on average, the busiest " +
                       percent(use.max_utilisation);
  }
  picture.summary += ".";
  picture.series = {std::move(mean), std::move(busiest)};
  return picture;
}

const std::vector<std::string>& run_picture_names() {
  static const std::vector<std::string> kNames = {"breakdown",        "steps",    "schedule", "memory",
                                                  "memory-over-step", "links",    "heat",     "roofline",
                                                  "collectives",      "certainty"};
  return kNames;
}

std::optional<Picture> run_picture(const std::string& name, const Report& report, const StepDetail* detail) {
  const NamedReport whole{"step", &report, ""};
  if (name == "breakdown") return breakdown_picture({&whole, 1});
  if (name == "memory") return report.knows_memory() ? std::optional(memory_picture(report)) : std::nullopt;
  if (name == "links") return report.link_use.empty() ? std::nullopt : std::optional(links_picture(report));
  if (name == "heat") return report.what_if ? std::optional(heat_picture(*report.what_if)) : std::nullopt;
  if (!detail) return std::nullopt;
  if (name == "schedule") return schedule_picture(*detail);
  if (name == "steps")
    return detail->steps.size() < 2 ? std::nullopt : std::optional(steps_picture(report, *detail));
  if (name == "certainty")
    return detail->near.empty() || !report.band ? std::nullopt
                                                : std::optional(certainty_picture(report, *detail));
  if (name == "memory-over-step")
    return detail->held.empty() || !report.knows_memory()
               ? std::nullopt
               : std::optional(memory_over_step_picture(report, *detail));
  if (name == "roofline") {
    const bool any = std::ranges::any_of(detail->operations, [](const OperationUse& use) {
      return use.flops > 0 && use.hbm_bytes > 0 && use.seconds > 0;
    });
    return any && detail->roof.flops_per_s > 0 ? std::optional(roofline_picture(*detail)) : std::nullopt;
  }
  PODSIM_CHECK(name == "collectives", "the command line admits only known pictures");
  return detail->collectives.empty() ? std::nullopt : std::optional(collectives_picture(report, *detail));
}

}  // namespace podsim
