// The verbs that ask about runs of weeks and parts out of service.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_availability(CLI::App& app, int& exit_code);
void add_reliability(CLI::App& app, int& exit_code);

}  // namespace podsim
