// Runs the podsim binary as a user does.
#pragma once

#include <string>

namespace podsim {

struct CommandResult {
  int exit_code = 0;  // 128 + signal for a program that a signal ended, as shells say it
  std::string out;
  std::string err;
};

// `arguments` is shell text after the program's name, run in the root of the repository.
CommandResult podsim_command(const std::string& arguments);

// The same with so much address space at most.
CommandResult podsim_command_within(int mebibytes, const std::string& arguments);

// The same with at most one second and 256 MiB of address space; beyond them the exit code is not podsim's.
CommandResult limited_podsim_command(const std::string& arguments);

// The path of a small valid scenario: a llama3_8b on 16 H100.
std::string small_scenario();

// Writes a file into a folder of this test process and returns its path.
std::string temporary_file(const std::string& name, const std::string& content);

std::string read_file(const std::string& path);

}  // namespace podsim
