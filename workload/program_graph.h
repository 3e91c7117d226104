// The user's program as graphs of operations, or everything that is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "workload/job.h"
#include "workload/model_program.h"

namespace podsim {

struct ProgramProblem {
  std::string path;  // in the program: "part[0].operation[2].input[1]"; empty = all of it
  std::string message;
  std::string hint;                     // what to write, or empty
  std::string name = {};                // not known; one of `candidates` was meant
  std::vector<std::string> candidates = {};
};

struct ProgramGraphs {
  ModelProgram model;  // whole where there are no problems
  std::vector<ProgramProblem> problems;
};

// At most as many; a program beyond them is a problem.
struct ProgramLimits {
  static constexpr std::size_t kParts = 256, kOperations = 4096;  // in all parts
  static constexpr std::size_t kDims = 12, kLetters = 26;         // of one tensor, of one operation
  static constexpr int kPieces = 10'000;                          // in a row
  static constexpr double kElements = 1e15;                       // of one tensor
};

// REQUIRES: job.program, sizes of batch and sequence of at least 1, a mesh without repeated names.
ProgramGraphs program_graphs(const Job& job);

}  // namespace podsim
