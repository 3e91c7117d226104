// What a layer keeps of its forward pass, on the chip or on the host, and what backward computes again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/model/autodiff.h"
#include "workload/model/model_program.h"

namespace podsim {

struct Job;

// Forward tensors of one graph, each list in the order of ids. An activation that nobody needs again is in
// none of them, whatever the policy says.
struct Retention {
  std::vector<TensorId> stored;     // stay on the chip until backward
  std::vector<TensorId> offloaded;  // wait on the host
  std::vector<TensorId> remade;     // backward reads them, and they are computed again
  std::vector<Operation> again;     // what computes them, in forward order; dead operations are left out
  bool scores = true;               // unfused attention stores its scores
};

// Under the job's policy, or with everything kept.
Retention retain(const Job& job, const Graph& graph, const Backward& backward, bool by_policy);

// Names of tensors for the lists of a policy: what MaxText calls its remat policies.
struct RetentionNames {
  std::vector<std::string> keep;
  std::vector<std::string> offload;
};
std::optional<RetentionNames> retention_policy(const std::string& policy);  // nothing for an unknown name
std::vector<std::string> retention_policy_names();

// What the lists of a policy can name: activations of the model's layers, "scores" for the scores of unfused
// attention, and words of MaxText and Megatron for some of them.
std::vector<std::string> retainable_names(const ModelProgram& model);

// Tensors that some layer needs again and does not compute again, wherever they wait: of those that go by the
// job's policy, by name. REQUIRES: the job is valid.
std::vector<std::string> kept_names(const Job& job, ModelProgram model);
// Whether a name of a list is one of these tensors, or a word for one.
bool names_any(const std::string& name, const std::vector<std::string>& tensors);

// Whether a layer recomputes by the job's policy, the `layer`-th of the model and the `in_chunk`-th of its
// chunk, both from 1, where every `every`-th does and of a chunk the first `layers`; 0 = all.
bool layer_recomputes(int layers, int every, int layer, int in_chunk);

// Where only some layers recompute (Job::recompute_layers, recompute_every), makes the others a kind of their
// own, with everything kept. REQUIRES: explain_uncut is empty.
void split_recomputing_layers(const Job& job, ModelProgram& model);

}  // namespace podsim
