// Factors of a convolution: output positions move with halos, features and the window are summed.
#include "engine/check.h"
#include "engine/index.h"
#include "workload/graph/op_rule.h"

namespace podsim {
OpRule convolution_rule(const ConvolutionShape& shape) {
  PODSIM_CHECK(shape.lhs_spatial.size() == shape.windows.size(), "one window per spatial dimension");
  PODSIM_CHECK(shape.feature_groups == 1 || shape.batch_groups == 1, "groups of features or of batches");
  OpRule rule;
  FactorMap lhs(shape.lhs.size()), rhs(shape.rhs.size()), out(shape.out.size());

  // Groups lead the features of the filter and of the output.
  const int groups = shape.feature_groups * shape.batch_groups;
  if (groups > 1) {
    const int group = rule.add({groups});
    lhs[at(shape.batch_groups > 1 ? shape.lhs_batch : shape.lhs_feature)].push_back(group);
    rhs[at(shape.rhs_out)].push_back(group);
    out[at(shape.out_feature)].push_back(group);
  }
  const int batch = rule.add({shape.out[at(shape.out_batch)]});
  lhs[at(shape.lhs_batch)].push_back(batch);
  out[at(shape.out_batch)].push_back(batch);
  const int out_feature = rule.add({shape.out[at(shape.out_feature)] / groups});
  rhs[at(shape.rhs_out)].push_back(out_feature);
  out[at(shape.out_feature)].push_back(out_feature);
  const int in_feature = rule.add({shape.rhs[at(shape.rhs_in)], FactorKind::kReduction});
  lhs[at(shape.lhs_feature)].push_back(in_feature);
  rhs[at(shape.rhs_in)].push_back(in_feature);

  for (std::size_t i = 0; i < shape.windows.size(); ++i) {
    const int position = rule.add({shape.out[at(shape.out_spatial[i])], FactorKind::kPermutation});
    const int inside = rule.add({shape.rhs[at(shape.rhs_spatial[i])], FactorKind::kReduction});
    lhs[at(shape.lhs_spatial[i])] = {position, inside};
    rhs[at(shape.rhs_spatial[i])] = {inside};
    out[at(shape.out_spatial[i])] = {position};
    Window window = shape.windows[i];
    window.factor = position;
    window.operand = 0;
    window.dim = shape.lhs_spatial[i];
    window.input = shape.lhs[at(shape.lhs_spatial[i])];
    rule.windows.push_back(window);
  }
  rule.operands = {std::move(lhs), std::move(rhs)};
  rule.results = {std::move(out)};
  return rule;
}

}  // namespace podsim
