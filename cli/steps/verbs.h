// The verbs that ask about the step of a job.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_run(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);

}  // namespace podsim
