// The verb that holds predictions against measurements.
#pragma once

#include "cli/validation/validate_suite.h"

namespace CLI {
class App;
}

namespace podsim {

// Adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
// `run_command` is what runs the commands of suites.
void add_validate(CLI::App& app, int& exit_code, RunCommand run_command);

}  // namespace podsim
