// The user's annotations of single tensors, put on the tensors of a model.
#include "workload/model/annotate.h"

#include <algorithm>

#include "workload/job/tensor_program.h"
#include "workload/mesh/annotation.h"
#include "workload/sharding/propagate_graph.h"

namespace podsim {
namespace {

// Annotates the tensors of one part that have the name; collects the names of all.
bool annotate_part(const Mesh& mesh, const TensorAnnotation& annotation, const std::string& path,
                   ModelPart& part, std::vector<std::string>& names, std::vector<ProgramProblem>& problems) {
  bool found = false;
  for (Tensor& tensor : part.graph.tensors) {
    names.push_back(tensor.name);
    if (tensor.name != annotation.tensor) continue;
    found = true;
    const ParsedAnnotation parsed = parse_annotation(mesh, tensor.dims.size(), annotation.sharding);
    if (parsed.problem) {
      problems.push_back(
          {path + ".sharding", tensor.name + ": " + parsed.problem->message, parsed.problem->hint});
      continue;
    }
    tensor.annotation = parsed.annotation;
    tensor.constrained = true;
  }
  return found;
}

// Activations that an operation wants cut alike, annotated otherwise: told at the later annotation.
void add_conflicts(const Mesh& mesh, const std::vector<TensorAnnotation>& annotations,
                   const std::string& field, const ModelPart& part, std::vector<ProgramProblem>& problems) {
  for (const Conflict& conflict : conflicting_annotations(mesh, part.graph)) {
    const auto is_of = [&](const TensorAnnotation& annotation) {
      const auto named = [&](int tensor) {
        return part.graph.tensors[static_cast<std::size_t>(tensor)].name == annotation.tensor;
      };
      return (annotation.part.empty() || annotation.part == part.name) &&
             (named(conflict.tensor) || named(conflict.other));
    };
    const auto later = std::find_if(annotations.rbegin(), annotations.rend(), is_of);
    if (later == annotations.rend()) continue;  // both are of the program and have been told
    const std::string path = field + "[" + std::to_string(annotations.rend() - later - 1) + "].sharding";
    const bool told = std::any_of(problems.begin(), problems.end(), [&](const ProgramProblem& problem) {
      return problem.path == path && problem.message == conflict.text;
    });
    if (!told)
      problems.push_back({path, conflict.text, "a dimension that ends in ? is open and follows the others"});
  }
}

}  // namespace

std::vector<ProgramProblem> annotate(const Mesh& mesh, const std::vector<TensorAnnotation>& annotations,
                                     const std::string& field, ModelProgram& model) {
  std::vector<ProgramProblem> problems;
  std::vector<std::string> parts;
  for (const ModelPart& part : model.parts) parts.push_back(part.name);
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const TensorAnnotation& annotation = annotations[i];
    const std::string path = field + "[" + std::to_string(i) + "]";
    bool part_found = false, tensor_found = false;
    std::vector<std::string> names;
    for (ModelPart& part : model.parts) {
      if (!annotation.part.empty() && part.name != annotation.part) continue;
      part_found = true;
      tensor_found |= annotate_part(mesh, annotation, path, part, names, problems);
    }
    if (!part_found) {
      problems.push_back(
          {path + ".part", "there is no part \"" + annotation.part + "\"", "", annotation.part, parts});
    } else if (!tensor_found) {
      problems.push_back({path + ".tensor", "there is no tensor \"" + annotation.tensor + "\"", "",
                          annotation.tensor, names});
    }
  }
  if (!annotations.empty() && problems.empty()) {
    for (const ModelPart& part : model.parts) add_conflicts(mesh, annotations, field, part, problems);
  }
  return problems;
}

}  // namespace podsim
