// The command line: which verb, what went wrong, which exit code.
#pragma once

#include <string>
#include <vector>

namespace podsim {

// 0: done; 1: podsim failed (a full disk, a fault of its own); 2: the input must be changed; 3: the question
// is a good one, and nothing answers it.
inline constexpr int kDone = 0;
inline constexpr int kInternalError = 1;
inline constexpr int kInputError = 2;
inline constexpr int kInfeasible = 3;

// Runs one command line. Messages go to standard error, results to standard output or --out.
int run_app(int argc, char** argv);

// The same from within podsim, which has set up its log: `words` stand after the program's name.
int run_command(const std::vector<std::string>& words);

}  // namespace podsim
