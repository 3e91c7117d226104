// The verbs about what to begin with.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_init(CLI::App& app, int& exit_code);
void add_catalog(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);

}  // namespace podsim
