// podsim validate --suite: the rows of a suite, run and judged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/suite.h"

namespace podsim {

// "reliability" is scenarios/reliability/suite.csv, looked for from the current folder and from the program's
// upwards; a name that ends in .csv is that file. Nothing, and a message, where there is none.
std::optional<std::string> find_suite(const std::string& name);

// Runs a command of podsim, which is given by the words after the program's name, and returns its exit code.
using RunCommand = int (*)(const std::vector<std::string>& words);

// Whether this thread is at the command of a row, which may be no suite.
bool in_suite();

// Runs the command of each row as a user would, with --format json, each different one once. Names of files
// in it are relative to `folder`; $NAME is a variable of the environment, and a row is skipped where that is
// not set or the file it leads to is missing.
std::vector<SuiteResult> run_suite(const std::vector<SuiteRow>& rows, const std::string& folder,
                                   RunCommand run_command);

// `format` is "table", "json", "csv" or "markdown"; `sha256` is of the suite.
std::string suite_text(const std::vector<SuiteResult>& results, const std::string& format,
                       const std::string& sha256);

}  // namespace podsim
