// Operations with windows: convolutions, windowed reductions and their backward pass, slices and pads.
#pragma once

#include <optional>
#include <vector>

#include "ingest/hlo/module.h"
#include "workload/graph/op_rule.h"

namespace podsim::partitioning {

// Nothing where dimensions are labelled in a way that rules do not know. A spatial dimension that is cut has
// what its neighbours hold of its windows brought to it.
std::optional<OpRule> convolution_of(const hlo::Instruction& convolution,
                                     const std::vector<hlo::Shape>& operands, const hlo::Shape& result);
std::optional<OpRule> windowed_reduction(const hlo::Instruction& reduce,
                                         const std::vector<hlo::Shape>& operands, const hlo::Shape& result);

// Slices and pads: a dimension that is cut has what its neighbours hold of it brought to it.
std::optional<OpRule> slice_of(const hlo::Instruction& slice, const hlo::Shape& whole,
                               const hlo::Shape& result);
std::optional<OpRule> pad_of(const hlo::Instruction& pad, const std::vector<hlo::Shape>& operands,
                             const hlo::Shape& result);

// The backward pass of a pooling. Windows that lie side by side are cut between them; of others a device has
// the sources of all windows that reach its part, and what these windows may cover.
std::optional<OpRule> select_and_scatter_of(const hlo::Instruction& select,
                                            const std::vector<hlo::Shape>& operands,
                                            const hlo::Shape& result);

// The convolution that a device runs on its shards: spatial dimensions that are cut have the elements that
// their outputs read, with those of neighbours, and no padding. `input` becomes that.
void fit_local_convolution(hlo::Instruction& convolution, hlo::Shape& input, const hlo::Shape& whole_input,
                           const hlo::Shape& kernel, const hlo::Shape& whole_kernel, const hlo::Shape& result,
                           const hlo::Shape& whole_result);

}  // namespace podsim::partitioning
