// Options that several verbs share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "prediction/predict.h"
#include "proto/text/override.h"

namespace CLI {
class App;
}

namespace podsim {

// How scenario files are read.
struct LoadOptions {
  std::vector<std::string> catalog_directories;  // added to the built-in catalogue, in order
  std::string price_sheet;                       // one of them whose list is used, or empty
  std::vector<std::string> sets;                 // "path=value"
  std::string hypothetical;                      // "h100:hbm=1.5x,price=1.2x", or empty
  std::optional<std::uint64_t> seed;             // of the scenario, overridden
  std::optional<std::int64_t> seeds;             // of the scenario, overridden

  std::string price_list() const;  // of the sheet: its name

  // --prices, --set, --hypothetical, --seed and --seeds together, or nothing where one is not as its help
  // says; the reason is then logged.
  std::optional<std::vector<Override>> overrides() const;
};

// A step for viewers of traces.
struct TraceFiles {
  std::string perfetto;        // file, or empty
  std::string chrome;          // the same as JSON
  std::string window, stages;  // what of the step they hold, or empty: all

  bool any() const { return !perfetto.empty() || !chrome.empty(); }
};

// How specs are predicted.
struct RunOptions {
  std::string fold = "on";
  std::string steady = "on";
  std::string loop = "fast";
  std::string dump;
  std::string trace;  // file for the steps as a trace, or empty
  TraceFiles traces;
  std::string svg;      // name of a picture to draw instead of the report, or empty
  std::string html;     // file for the result as a page, or empty
  bool detail = false;  // PredictOptions::detail
  int threads = 0;      // 0 = as many as the machine has
  bool quiet = false;

  PredictOptions predict() const {
    PredictOptions options{fold == "on", steady == "on", dump};
    options.trace = !trace.empty();
    options.tracks = traces.any();
    options.detail = detail;
    options.loop = loop_named(loop);
    return options;
  }
};

struct OutputOptions {
  std::string format = "table";
  std::string out;  // file or folder; empty = standard output
};

void add_catalog_option(CLI::App& verb, std::vector<std::string>& directories);
void add_load_options(CLI::App& verb, LoadOptions& options);
void add_run_options(CLI::App& verb, RunOptions& options);
void add_output_options(CLI::App& verb, OutputOptions& options, const std::vector<std::string>& formats);

}  // namespace podsim
