// The verbs that look for layouts of a job, and keep what they find.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_search(CLI::App& app, int& exit_code);
void add_certificate(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);

}  // namespace podsim
