// The verbs about podsim itself: what it offers, and its server.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_serve(CLI::App& app, int& exit_code);
void add_help(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);

}  // namespace podsim
