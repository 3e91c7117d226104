// Writes tracks as events of chrome://tracing, one a line: a process for each group, a thread for each track.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/traces/step_trace.h"
#include "report/text/text.h"

namespace podsim {
namespace {

std::string json_quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Microseconds with all digits that nanoseconds have.
std::string decimal_us(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return text;
}

class ChromeWriter {
 public:
  std::string write(const StepTracks& step) {
    transfers_ = step.transfers;
    out_ = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"scenario\":" + json_quoted(step.name) +
           "},\"traceEvents\":[";
    for (const TrackGroup& group : step.groups) {
      ++process_;
      thread_ = 0;
      name("process_name", group.name);
      for (const StepTrack& track : group.tracks) {
        ++thread_;
        name("thread_name", track.name);
        for (const TrackSlice& slice : track.slices) add(slice);
      }
    }
    for (const CounterGroup& group : step.counters) {
      ++process_;
      thread_ = 0;
      name("process_name", group.name);
      for (const StepCounter& counter : group.counters) add(counter, group.unit);
    }
    return std::move(out_) + "\n]}\n";
  }

 private:
  std::string head(const char* phase, std::int64_t ns) const {
    return std::string("{\"ph\":\"") + phase + "\"" + place() + ",\"ts\":" + decimal_us(ns);
  }
  std::string place() const {
    return ",\"pid\":" + std::to_string(process_) + ",\"tid\":" + std::to_string(thread_);
  }
  void put(const std::string& event) {
    out_ += first_ ? "\n" : ",\n";
    out_ += event;
    first_ = false;
  }

  void name(const char* what, const std::string& name) {
    put(std::string("{\"ph\":\"M\"") + place() + ",\"name\":\"" + what +
        "\",\"args\":{\"name\":" + json_quoted(name) + "}}");
  }

  void add(const TrackSlice& slice) {
    const std::int64_t begin = kTraceStartNs + nearest_ns(slice.begin);
    std::string args = "\"begin_ps\":\"" + std::to_string(slice.begin.ps) + "\",\"duration_ps\":\"" +
                       std::to_string((slice.end - slice.begin).ps) + "\"";
    if (slice.bytes >= 0)
      args += ",\"algorithm\":" + json_quoted(slice.algorithm) + ",\"bytes\":" + std::to_string(slice.bytes);
    if (slice.microbatch >= 0)
      args +=
          ",\"microbatch\":" + std::to_string(slice.microbatch) + ",\"chunk\":" + std::to_string(slice.chunk);
    if (!slice.layers.empty()) args += ",\"layers\":" + json_quoted(slice.layers);
    if (slice.flops >= 0) args += ",\"flops\":" + std::to_string(std::llround(slice.flops));
    if (!slice.shape.empty()) args += ",\"shape\":" + json_quoted(slice.shape);
    if (!slice.awaited.empty()) args += ",\"waits_for\":" + json_quoted(slice.awaited);
    put(head("X", begin) + ",\"dur\":" + decimal_us(nearest_ns(slice.end) - nearest_ns(slice.begin)) +
        ",\"name\":" + json_quoted(slice.name) + ",\"args\":{" + args + "}}");
    const auto add_end = [&](const char* phase, int flow, const char* more) {
      const std::string name = flow < transfers_ ? "\"transfer\"" : "\"last arrival\"";
      put(head(phase, begin) + ",\"name\":" + name + ",\"cat\":" + name +
          ",\"id\":" + std::to_string(flow + 1) + more);
    };
    for (const int flow : slice.sends) add_end("s", flow, "}");
    if (slice.receives >= 0) add_end("f", slice.receives, ",\"bp\":\"e\"}");
  }

  void add(const StepCounter& counter, const std::string& unit) {
    const std::string name =
        ",\"name\":" + json_quoted(counter.name) + ",\"args\":{" + json_quoted(unit) + ":";
    for (const auto& [time, value] : counter.values)
      put(head("C", kTraceStartNs + nearest_ns(time)) + name + shortest(value) + "}}");
  }

  std::string out_;
  int process_ = 0, thread_ = 0, transfers_ = 0;
  bool first_ = true;
};

}  // namespace

std::string chrome_trace(const StepTracks& step) { return ChromeWriter().write(step); }

}  // namespace podsim
