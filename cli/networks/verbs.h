// The verbs that ask about networks, without a job.
#pragma once

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_collective(CLI::App& app, int& exit_code);
void add_flows(CLI::App& app, int& exit_code);
void add_shard(CLI::App& app, int& exit_code);
void add_draw(CLI::App& app, int& exit_code);

}  // namespace podsim
