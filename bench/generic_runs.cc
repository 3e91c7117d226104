// Predicts measured runs as if nothing were known of their software, and says what one measured step of a
// family is worth to its others. docs/evidence/calibration.md tells how to use it.
#include "calibration/generic_runs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

namespace podsim {
namespace {

struct Options {
  std::string residuals, priors, slopes;
  std::vector<std::string> tables;
  bool write = false, anchored = false, stated = false;
  int most_chips = 1024, anchors = 1;
  int threads = 0;  // one per core
};

[[noreturn]] void fail(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) std::fprintf(stderr, "%s", format_problem(problem).c_str());
  std::exit(2);
}

InputText read(const std::string& file) {
  std::vector<Problem> problems;
  auto input = read_input(file, problems);
  if (!input) fail(problems);
  return *std::move(input);
}

AnchorPriors priors_of(const Options& options) {
  if (options.priors.empty()) return builtin_anchor_priors();
  const InputText table = read(options.priors);
  ReadAnchorPriors priors = read_anchor_priors(table.name, table.text);
  if (!priors.problems.empty()) fail(priors.problems);
  return std::move(priors.priors);
}

void run(const Options& options) {
  const Catalog catalog;
  const InputText residuals = read(options.residuals);
  std::vector<InputText> tables;
  for (const std::string& file : options.tables) tables.push_back(read(file));
  const GenericRuns runs = read_generic_runs(residuals, tables, catalog);
  if (!runs.problems.empty()) fail(runs.problems);
  if (options.write) {
    const std::string text = residuals_of(residuals, runs, catalog, options.threads);
    std::ofstream(options.residuals, std::ios::binary) << text;
  }
  const GenericRuns stated =
      options.stated ? read_generic_runs(residuals, tables, catalog, true) : GenericRuns{};
  if (options.stated) std::printf("%s\n", stated_text(runs, stated, catalog, options.threads).c_str());
  const AnchorPriors priors = priors_of(options);
  const GenericRuns& told = options.stated ? stated : runs;
  if (!options.slopes.empty())
    std::ofstream(options.slopes, std::ios::binary)
        << slopes_text(told, catalog, priors, options.most_chips, options.threads);
  if (options.anchored)
    std::printf("%s", anchored_text(anchored_families(told, catalog, priors, options.most_chips,
                                                      options.anchors, options.threads))
                          .c_str());
}

}  // namespace
}  // namespace podsim

int main(int count, char** arguments) {
  podsim::Options options;
  CLI::App app(
      "Predicts measured runs with generic stacks, alone and with one measured step of their family.");
  app.add_option("residuals", options.residuals, "Table of residuals that names the stack of each run")
      ->required();
  app.add_option("tables", options.tables, "Tables of measured runs")->required();
  app.add_flag("--write", options.write, "Put the errors of now into the table of residuals");
  app.add_flag("--stated", options.stated,
               "Print errors with and without what tables state of the software; anchors with it");
  app.add_flag("--anchored", options.anchored,
               "Print what a measured step of each family says of its others");
  app.add_option("--anchors", options.anchors,
                 "Steps of each family to anchor on, one at a time; 1 = that of the median step time")
      ->check(CLI::Range(1, 1000));
  app.add_option("--priors", options.priors, "Table of priors in place of scenarios/calibration/anchor.csv");
  app.add_option("--slopes", options.slopes,
                 "Write how much each run feels each number of the priors into this file");
  app.add_option("--most-chips", options.most_chips, "Leave larger runs out of --anchored")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--threads", options.threads, "Runs at once; 0 = one per core")->check(CLI::Range(0, 1024));
  CLI11_PARSE(app, count, arguments);
  podsim::run(options);
}
