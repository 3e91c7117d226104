// What a StableHLO module holds: functions with their products, annotations of shardings, explicit
// collectives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace podsim::stablehlo {

// One function, or a branch of a conditional. A product counts once however often a loop around it runs.
struct Function {
  std::string name;
  bool is_public = false;
  std::int64_t dots = 0, dot_flops = 0;       // of its own text but for branches, of the types as written
  std::map<std::string, std::int64_t> calls;  // [function] how often that text calls it
  std::vector<std::vector<Function>> conditionals = {};  // the branches of each, which have no names
};

// Each once, those that branches call too.
std::set<std::string> called_by(const Function& function);

// Axes in order, the last one being that of neighbours.
using Mesh = std::vector<std::pair<std::string, std::int64_t>>;

struct Module {
  std::string name;  // may be empty
  std::optional<std::int64_t> partitions, replicas;
  std::vector<std::pair<std::string, Mesh>> meshes;
  std::vector<Function> functions;
  std::map<std::string, std::int64_t> operations;       // [name] in the text, and attributes of the dialect
  std::map<std::string, std::int64_t> collectives;      // [operation]
  std::map<std::string, std::int64_t> custom_calls;     // [target]
  std::map<std::string, std::int64_t> gspmd_shardings;  // [as written]
  std::int64_t shardy_shardings = 0, sharded_arguments = 0, constraints = 0, manual_regions = 0;
};

// Products and FLOPs of a function and of all that it calls; of a conditional those of the branch that has
// most FLOPs.
struct Work {
  std::int64_t dots = 0, dot_flops = 0;
};

// REQUIRES: `function` is one of the module; no function calls itself, directly or through others.
Work work_of(const Module& module, const std::string& function);

}  // namespace podsim::stablehlo
