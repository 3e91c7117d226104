// The verbs that put scenarios side by side.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_compare(CLI::App& app, int& exit_code);
void add_scale(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_breakeven(CLI::App& app, int& exit_code);
void add_sensitivity(CLI::App& app, int& exit_code);
void add_whatif(CLI::App& app, int& exit_code);

}  // namespace podsim
