// The user's annotations of single tensors, put on the tensors of a model.
#include "workload/annotate.h"

#include <algorithm>

#include "workload/annotation.h"
#include "workload/propagate_graph.h"

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

std::string place(const std::vector<TensorAnnotation>& annotations, const std::string& field,
                  const std::string& part, const std::string& tensor) {
  const auto found = std::find_if(annotations.begin(), annotations.end(), [&](const TensorAnnotation& each) {
    return each.tensor == tensor && (each.part.empty() || each.part == part);
  });
  if (found == annotations.end()) return "";
  return field + "[" + std::to_string(found - annotations.begin()) + "]";
}

}  // namespace

std::vector<ProgramProblem> conflicting_annotations(const Job& job, const ModelProgram& model) {
  std::vector<ProgramProblem> problems;
  for (const ModelPart& part : model.parts) {
    const auto annotated = [](const Tensor& tensor) { return tensor.annotation.has_value(); };
    if (std::none_of(part.graph.tensors.begin(), part.graph.tensors.end(), annotated)) continue;
    for (const Conflict& conflict : conflicting_annotations(job, part.graph)) {
      std::string path;
      for (const int id : {conflict.tensor, conflict.other}) {
        const std::string& tensor = part.graph.tensors[static_cast<std::size_t>(id)].name;
        if (path.empty()) path = place(job.annotations, "annotation", part.name, tensor);
        if (path.empty() && job.program)
          path = place(job.program->annotations, "program.shard", part.name, tensor);
      }
      problems.push_back({path, conflict.text, ""});
    }
  }
  return problems;
}

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
  return problems;
}

}  // namespace podsim
