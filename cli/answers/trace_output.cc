// Writes one picture of a step, or a part of it, in two formats.
#include "cli/answers/trace_output.h"

#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cli/terminal/output.h"
#include "engine/time_limits.h"
#include "proto/text/quantities.h"
#include "proto/traces/step_trace.h"
#include "proto/traces/trace_file.h"
#include "report/text/text.h"

namespace podsim {
namespace {

void write_trace_file(const std::string& path, const std::string& text) {
  write_whole(path, path.ends_with(".gz") ? gzipped(text) : text);
}

// "2s", "350ms", "0.4": seconds where no unit is given.
std::optional<Time> time_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  const std::string unit(end, text.data() + text.size());
  for (const auto& [name, seconds] : {std::pair{"", 1.0}, {"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}})
    if (unit == name)
      return value * seconds < kCountable_s ? std::optional(Time::seconds(value * seconds)) : std::nullopt;
  return std::nullopt;
}

std::optional<TrackWindow> window_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto from = time_of(text.substr(0, dots)), to = time_of(text.substr(dots + 2));
  if (!from || !to || *from >= *to) return std::nullopt;
  return TrackWindow{*from, *to};
}

}  // namespace

void add_trace_options(CLI::App& verb, const std::string& what, TraceFiles& files) {
  verb.add_option("--perfetto", files.perfetto,
                  "Also write " + what + "; compressed where the name ends in .gz")
      ->type_name("STEP.pftrace");
  verb.add_option("--chrome", files.chrome,
                  "The same as JSON for chrome://tracing and other viewers of traces")
      ->type_name("STEP.json.gz");
  verb.add_option("--trace-window", files.window,
                  "Of --perfetto and --chrome only what lies between two times of the step: 2s..3s, 0..250ms")
      ->type_name("FROM..TO");
  verb.add_option("--trace-stages", files.stages, "Of --perfetto and --chrome only these stages: 0,7 or 0..3")
      ->type_name("STAGES");
}

std::optional<TrackExcerpt> trace_excerpt(const TraceFiles& files) {
  TrackExcerpt part;
  if (!files.any() && !(files.window.empty() && files.stages.empty())) {
    spdlog::error("{} tells what of the step a trace holds: add --perfetto or --chrome",
                  files.window.empty() ? "--trace-stages" : "--trace-window");
    return std::nullopt;
  }
  if (!files.window.empty()) {
    part.window = window_of(files.window);
    if (!part.window) {
      spdlog::error(
          "--trace-window \"{}\": expected two times, the earlier first, such as 2s..3s or 0..250ms",
          files.window);
      return std::nullopt;
    }
  }
  if (files.stages.empty()) return part;
  const auto listed = parse_index_list(files.stages);
  if (!listed || std::ranges::any_of(*listed, [](std::int64_t stage) { return stage > INT32_MAX; })) {
    spdlog::error("--trace-stages \"{}\": expected stages such as 0,7 or 0..3", files.stages);
    return std::nullopt;
  }
  part.stages.assign(listed->begin(), listed->end());
  std::ranges::sort(part.stages);
  return part;
}

bool write_trace_files(const StepTracks& step, const TraceFiles& files, const TrackExcerpt& part) {
  const std::vector<int> stages = stages_of(step);
  for (const int stage : part.stages) {
    if (std::ranges::binary_search(stages, stage)) continue;
    spdlog::error("--trace-stages {}: there is no stage {}, the last is {}", files.stages, stage,
                  stages.empty() ? 0 : stages.back());
    return false;
  }
  if (const Time end = end_of(step); part.window && part.window->from >= end) {
    spdlog::error("--trace-window {}: the step ends at {} s", files.window, significant(end.in_seconds(), 6));
    return false;
  }
  const StepTracks shown = excerpt(step, part);
  if (!files.perfetto.empty()) write_trace_file(files.perfetto, perfetto_trace(shown));
  if (!files.chrome.empty()) write_trace_file(files.chrome, chrome_trace(shown));
  return true;
}

}  // namespace podsim
