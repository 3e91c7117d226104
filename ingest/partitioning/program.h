// An annotated module as one list of operations over arrays: calls in line, tuples taken apart, loops between
// their ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/hlo/module.h"
#include "ingest/hlo/trip_counts.h"
#include "workload/graph/op_rule.h"
#include "workload/mesh/annotation.h"

namespace podsim::partitioning {

struct Array {
  std::string name;
  hlo::Shape shape;
  Annotation annotation;  // what the module says
  bool manual = false;    // part of a manual region: its shape is that of one device
};

struct Node {
  enum class Kind : std::uint8_t {
    kSource,     // arguments, constants: there without work
    kPlanned,    // cut by its rule
    kWhole,      // not planned: every device does all of it
    kManual,     // of a manual region, as written
    kBorder,     // into a manual region or out of it
    kLoopBegin,  // operands = what a loop begins with, results = what its body is given
    kLoopEnd     // operands = what its body makes, results = what it leaves
  };
  Kind kind = Kind::kPlanned;
  std::string name;  // of the instruction
  const hlo::Instruction* from = nullptr;
  int region = 0;                               // whose operation it is
  int body = -1;                                // region of a loop
  std::vector<std::vector<int>> operands = {};  // [operand] its arrays; several where it is a tuple
  std::vector<int> results = {};
  OpRule rule = {};
};

// The entry, or the body of a loop.
struct Region {
  std::string name;
  std::int64_t trips = 1, runs = 1;  // of the loop each time, and in all
};

struct Program {
  std::vector<Array> arrays;
  std::vector<Node> nodes;  // whose operands are results of earlier ones
  std::vector<Region> regions;
  std::vector<int> outputs;
  std::vector<std::string> unread;  // shardings that do not fit the mesh, as written, each once
};

// Nothing, and the reason in `problem`, where an operand stands behind its user, or calls in line are more
// than a million operations. REQUIRES: module and loops outlive the program.
std::optional<Program> flatten(const hlo::Module& module, const hlo::LoopCounts& loops, const Mesh& mesh,
                               std::string& problem);

}  // namespace podsim::partitioning
