// Gathers and scatters: what their indices cut, and what they leave whole.
#pragma once

#include <optional>
#include <vector>

#include "ingest/hlo/module.h"
#include "workload/graph/op_rule.h"

namespace podsim::partitioning {

// Dimensions of the operand that are taken whole pass through, and so do those of the indices. A dimension of
// which an index picks single places may be cut: each device gathers what it has, and the parts add up. One
// of which longer pieces are picked is whole.
std::optional<OpRule> gather_of(const hlo::Instruction& gather, const std::vector<hlo::Shape>& operands,
                                const hlo::Shape& result);

// The other way round: updates may be cut where they are `combined` in any order, such as by a sum, and then
// leave parts that are combined. Of a dimension in which single places are written each device writes its
// own.
std::optional<OpRule> scatter_of(const hlo::Instruction& scatter, const std::vector<hlo::Shape>& operands,
                                 const std::vector<hlo::Shape>& results, bool combined);

// Whether the scatter's function takes what is there and what comes in any order: a sum, a product, the
// smallest, the largest.
bool is_combined(const hlo::Module& module, const hlo::Instruction& scatter);

}  // namespace podsim::partitioning
