// The user's own model: from its blocks to a tensor program, and its problems to their places.
#pragma once

#include <string>
#include <vector>

#include "proto/text/document.h"
#include "workload/job/tensor_program.h"
#include "workload/model/annotate.h"

namespace podsim {

namespace schema {
class Program;
class TensorSharding;
}  // namespace schema

// REQUIRES: check_ranges has seen the block.
TensorProgram to_program(const schema::Program& program, const std::string& name);
TensorAnnotation to_annotation(const schema::TensorSharding& sharding);

// `path` is that of the block that the problems' own paths begin in.
void report_program_problems(const std::vector<ProgramProblem>& problems, const std::string& path,
                             Document& document);

}  // namespace podsim
