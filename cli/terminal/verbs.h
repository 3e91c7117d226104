// The verbs, each a subcommand in a file of its own.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace podsim {

// Each adds one subcommand. When the user chooses it, it runs during parsing and stores its exit code.
void add_init(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_scale(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_search(CLI::App& app, int& exit_code);
void add_breakeven(CLI::App& app, int& exit_code);
void add_sensitivity(CLI::App& app, int& exit_code);
void add_certificate(CLI::App& app, int& exit_code);
void add_own(CLI::App& app, int& exit_code);
void add_inference(CLI::App& app, int& exit_code);
void add_fleet(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);
void add_collective(CLI::App& app, int& exit_code);
void add_flows(CLI::App& app, int& exit_code);
void add_shard(CLI::App& app, int& exit_code);
void add_catalog(CLI::App& app, int& exit_code);
void add_draw(CLI::App& app, int& exit_code);
// `run_command` runs a command of podsim, given by the words after the program's name: suites have some.
void add_validate(CLI::App& app, int& exit_code, int (*run_command)(const std::vector<std::string>& words));
void add_replay(CLI::App& app, int& exit_code);
void add_whatif(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_availability(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_reliability(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_help(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);

}  // namespace podsim
