// Writes one picture of a step in two formats.
#include "cli/trace_output.h"

#include <CLI/CLI.hpp>

#include "cli/output.h"
#include "proto/traces/step_trace.h"
#include "proto/traces/trace_file.h"

namespace podsim {
namespace {

void write_trace_file(const std::string& path, const std::string& text) {
  write_whole(path, path.ends_with(".gz") ? gzipped(text) : text);
}

}  // namespace

void add_trace_options(CLI::App& verb, const std::string& what, std::string& perfetto, std::string& chrome) {
  verb.add_option("--perfetto", perfetto, "Also write " + what + "; compressed where the name ends in .gz")
      ->type_name("STEP.pftrace");
  verb.add_option("--chrome", chrome, "The same as JSON for chrome://tracing and other viewers of traces")
      ->type_name("STEP.json.gz");
}

void write_trace_files(const StepTracks& step, const std::string& perfetto, const std::string& chrome) {
  if (!perfetto.empty()) write_trace_file(perfetto, perfetto_trace(step));
  if (!chrome.empty()) write_trace_file(chrome, chrome_trace(step));
}

}  // namespace podsim
