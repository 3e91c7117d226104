// Commands in parts: --shard I/N of a verb, and what runs all parts on many machines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace podsim {

struct CommandPart {
  int number = 1, of = 1;  // 1 ... of
};

struct PartOptions {
  std::string shard;   // "3/8"
  std::string engine;  // "slurm", "kubernetes", "mpi"; empty = this process
  int parts = 8;
  std::string image = "podsim:latest", claim = "podsim";  // of Kubernetes
};

// --shard, --engine and what engines want to know.
void add_part_options(CLI::App& verb, PartOptions& options);

// The whole where none is named. Nothing, with the reason logged, where the words name no part.
std::optional<CommandPart> part_of(const PartOptions& options);

// What a command in parts has from its other options.
struct PartedQuestion {
  std::vector<std::string> files;                // that it reads
  std::vector<std::string> catalog_directories;  // likewise
  std::string store;                             // where the results of all parts come together
};

// Hands the command of this thread to the engine, where one is named, and returns its exit code.
std::optional<int> run_by_engine(const PartOptions& options, const PartedQuestion& question);

}  // namespace podsim
