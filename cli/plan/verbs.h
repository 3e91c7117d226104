// The verb that looks for a cluster.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_plan(CLI::App& app, int& exit_code);

}  // namespace podsim
