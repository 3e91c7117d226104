// The user's program as graphs of operations, or everything that is wrong with it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "workload/model/annotate.h"

namespace podsim {

struct Job;

struct ProgramGraphs {
  ModelProgram model;  // whole where there are no problems
  std::vector<ProgramProblem> problems;
};

// At most as many; a program beyond them is a problem.
struct ProgramLimits {
  static constexpr std::size_t kParts = 256, kOperations = 4096;  // in all parts
  static constexpr std::size_t kDims = 12, kLetters = 26;         // of one tensor, of one operation
  static constexpr int kPieces = 10'000;                          // in a row
  static constexpr double kElements = 1e13;                       // of one tensor
};

// REQUIRES: job.program; sizes and repetitions of at least 1.
ProgramGraphs program_graphs(const Job& job);

// Names of dimensions that rules for this model can use. REQUIRES: job.program.
std::set<std::string> rule_dimensions(const Job& job, const ModelProgram& model);

}  // namespace podsim
