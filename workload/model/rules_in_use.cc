// Names that tensors have, and the rules that speak for them.
#include "workload/model/rules_in_use.h"

#include "workload/job/job.h"
#include "workload/model/program_graph.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

// Names of dimensions whose rules something looks up.
std::set<std::string> dimensions_of(const Job& job, const ModelProgram& model) {
  // Attention of the catalogue's models reads these by name, also where no tensor has a dimension of its own.
  std::set<std::string> names = {"kv_heads", "attention_kv_heads", "param_kv_heads", "key_sequence"};
  if (job.program) names = rule_dimensions(job, model);
  names.insert("batch");
  for (const ModelPart& part : model.parts) {
    for (const Tensor& tensor : part.graph.tensors) {
      for (const TensorDim& dim : tensor.dims) names.insert(dim.logical);
      if (tensor.vector) names.insert("state_param_embed");
    }
  }
  return names;
}

}  // namespace

std::set<std::string> dimensions_with_rules_in_use(const Job& job, const ModelProgram& model) {
  std::set<std::string> in_use;
  for (const std::string& name : dimensions_of(job, model)) {
    in_use.insert(ruling_dimension(job, name));
    if (name.starts_with("param_")) in_use.insert({"state_" + name, "gradient_" + name});
  }
  return in_use;
}

}  // namespace podsim
