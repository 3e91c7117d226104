// Which dimensions of the tensors of an HLO operation are cut alike.
#pragma once

#include <optional>
#include <vector>

#include "ingest/hlo/module.h"
#include "workload/graph/op_rule.h"

namespace podsim::partitioning {

// Nothing for an operation that podsim does not cut: its tensors are whole where it runs. REQUIRES: no shape
// is a tuple; the instruction is one of a module that was checked.
std::optional<OpRule> rule_of(const hlo::Module& module, const hlo::Instruction& instruction,
                              const std::vector<hlo::Shape>& operands,
                              const std::vector<hlo::Shape>& results);

// Every tensor like the one result.
OpRule same_layout(const hlo::Shape& shape, std::size_t operands, std::size_t results);

// Two for each point of a product that is cut by this rule.
double product_flops_of(const OpRule& rule);

// Only passes its operand on, perhaps with a word on where it lies.
bool is_annotation(const hlo::Instruction& instruction);

}  // namespace podsim::partitioning
