// The verbs that ask what clusters cost and serve.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_own(CLI::App& app, int& exit_code);
void add_inference(CLI::App& app, int& exit_code);
void add_fleet(CLI::App& app, int& exit_code);

}  // namespace podsim
