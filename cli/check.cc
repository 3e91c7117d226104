// podsim check: are these scenarios valid?
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/app.h"
#include "cli/batch.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace podsim {
namespace {

struct CheckVerb {
  std::vector<std::string> files;
  LoadOptions load;
  bool quiet = false;
};

int check(const CheckVerb& verb) {
  int exit_code = kDone;
  for (const std::string& file : verb.files) {
    const auto specs = load_scenarios({file}, verb.load);
    if (!specs) {
      exit_code = kInputError;
    } else if (!verb.quiet) {
      const Spec& spec = specs->front();
      const std::string what = spec.jobs.empty()       ? spec.job.model.name
                               : spec.jobs.size() == 1 ? "1 job"
                                                       : std::to_string(spec.jobs.size()) + " jobs";
      std::cout << file << ": valid: " << what << " on " << spec.cluster.fabric.chips << " "
                << spec.cluster.chip.name << "\n";
    }
  }
  return exit_code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App& verb = *app.add_subcommand("check", "Validate scenario files without running them");
  const auto options = std::make_shared<CheckVerb>();
  verb.add_option("FILE", options->files, "Scenario files; - is standard input")->required();
  add_load_options(verb, options->load);
  verb.add_flag("--quiet", options->quiet, "Say nothing of valid files");
  verb.footer(
      "Examples:\n"
      "  podsim check scenarios/*.textproto\n"
      "  podsim check job.textproto --set cluster.chips=1024\n"
      "Exit codes: 0 all are valid, 2 at least one is not.");
  verb.callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace podsim
