// The command line: which verb, and what went wrong.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// Runs one command line and returns its exit code. Messages go to standard error, results to standard output
// or --out.
int run_app(int argc, char** argv);

// The same from within podsim, which has set up its log: `words` stand after the program's name.
int run_command(const std::vector<std::string>& words);

}  // namespace podsim
