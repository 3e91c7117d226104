// The user's program as graphs of operations, or everything that is wrong with it.
#include "workload/model/program_graph.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/check.h"
#include "workload/job/job.h"
#include "workload/model/program_operation.h"
#include "workload/model/program_scope.h"

namespace podsim {
namespace {

std::string element(const std::string& field, std::size_t index) {
  return field + "[" + std::to_string(index) + "]";
}

// Sizes and names where a part meets the next.
struct Boundary {
  std::vector<std::int64_t> sizes;
  std::string text;  // "x [batch embed]"
};

Boundary boundary_of(const std::string& name, const ScopeTensor& tensor) {
  Boundary boundary{tensor.sizes, name + " ["};
  for (const DimTerm& term : tensor.terms)
    boundary.text += (&term == &tensor.terms.front() ? "" : " ") + term.text;
  boundary.text += "]";
  return boundary;
}

struct BuiltPart {
  ModelPart part;
  std::optional<Boundary> input, output;
};

class ProgramPartBuilder {
 public:
  ProgramPartBuilder(const Job& job, const ProgramPart& part, std::string path,
                     std::vector<ProgramProblem>& problems)
      : part_(part), path_(std::move(path)), scope_(job, problems) {}

  BuiltPart build() {
    declare();
    for (std::size_t i = 0; i < part_.operations.size(); ++i) {
      const std::string path = path_ + element(".operation", i);
      const std::size_t before = scope_.graph.operations.size();
      ProgramOperationBuilder(scope_, part_.operations[i], part_.layer, path).run();
      if (scope_.graph.operations.size() > before) continue;
      for (const std::string& output : part_.operations[i].outputs) scope_.give_up(output, path + ".");
    }
    mark_output();
    mark_vectors();
    return std::move(built_);
  }

  // What nothing uses is a slip of the pen. REQUIRES: the part has no other problem.
  void check_unused() {
    for (const auto& [name, tensor] : scope_.tensors) {
      if (tensor.used || is_loss(tensor.id)) continue;
      scope_.report(tensor.path, "nothing uses " + name, "remove it, or give it to an operation");
    }
  }

 private:
  void declare() {
    if (part_.inputs.size() > 1)
      scope_.report(path_ + ".input[1]", "a part has one input: the activation from the part before");
    for (std::size_t i = 0; i < part_.inputs.size(); ++i) {
      const ProgramTensor& input = part_.inputs[i];
      const ScopeTensor* tensor =
          scope_.declare({.name = input.name}, input.dims, path_ + element(".input", i));
      if (!tensor) continue;
      scope_.graph.input = tensor->id;
      built_.input = boundary_of(input.name, *tensor);
    }
    for (std::size_t i = 0; i < part_.data.size(); ++i) {
      const ProgramTensor& data = part_.data[i];
      scope_.declare({.name = data.name, .role = TensorRole::kIndex}, data.dims, path_ + element(".data", i));
    }
    for (std::size_t i = 0; i < part_.parameters.size(); ++i) {
      const ProgramParameter& parameter = part_.parameters[i];
      Tensor tensor{.name = parameter.name, .role = TensorRole::kParameter, .shared = parameter.shared};
      scope_.declare(std::move(tensor), parameter.dims, path_ + element(".parameter", i));
    }
  }

  bool is_loss(TensorId id) const {
    return std::any_of(scope_.graph.operations.begin(), scope_.graph.operations.end(),
                       [&](const Operation& op) {
                         return op.kind == OperationKind::kLoss && op.outputs.front().tensor == id;
                       });
  }

  void mark_output() {
    if (part_.operations.empty()) {
      scope_.report(path_, "part " + part_.name + " has no operation");
      return;
    }
    const ProgramOperation& last = part_.operations.back();
    if (part_.output.empty() && (last.kind == ProgramKind::kLoss || last.outputs.empty())) return;
    const std::string name = part_.output.empty() ? last.outputs.front() : part_.output;
    if (part_.output.empty() && !scope_.tensors.count(name)) return;  // its operation has a problem
    ScopeTensor* tensor = scope_.find(name, path_ + ".output");
    if (!tensor) return;
    if (scope_.graph.tensors[static_cast<std::size_t>(tensor->id)].role != TensorRole::kActivation ||
        tensor->id == scope_.graph.input) {
      scope_.report(path_ + ".output", "the output " + name + " is made by no operation of the part");
      return;
    }
    scope_.graph.output = tensor->id;
    built_.output = boundary_of(name, *tensor);
  }

  // Weights that nothing multiplies with travel with a matrix.
  void mark_vectors() {
    std::set<TensorId> matrices;
    for (const Operation& op : scope_.graph.operations) {
      const bool multiplies = op.kind == OperationKind::kEinsum || op.kind == OperationKind::kConvolution ||
                              op.kind == OperationKind::kEmbedding;
      for (const Operand& input : op.inputs) {
        if (multiplies) matrices.insert(input.tensor);
      }
    }
    for (std::size_t id = 0; id < scope_.graph.tensors.size(); ++id) {
      Tensor& tensor = scope_.graph.tensors[id];
      tensor.vector = is_parameter(tensor) && !matrices.count(static_cast<TensorId>(id));
    }
    built_.part = {.name = part_.name, .layer = part_.layer, .graph = scope_.graph};
  }

  const ProgramPart& part_;
  std::string path_;
  ProgramScope scope_;
  BuiltPart built_;
};

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const Job& job) : job_(job), program_(*job.program) {}

  ProgramGraphs build() {
    if (!check_limits()) return std::move(result_);
    check_names();
    std::vector<ProgramPartBuilder> builders;
    for (std::size_t i = 0; i < program_.parts.size(); ++i) {
      builders.emplace_back(job_, program_.parts[i], element("part", i), result_.problems);
      parts_.push_back(builders.back().build());
    }
    sequence();
    if (result_.problems.empty()) {
      for (ProgramPartBuilder& builder : builders) builder.check_unused();
      check_row();
    }
    for (BuiltPart& built : parts_) result_.model.parts.push_back(std::move(built.part));
    for (ProgramProblem& problem : annotate(job_.mesh, program_.annotations, "shard", result_.model))
      result_.problems.push_back(std::move(problem));
    return std::move(result_);
  }

 private:
  void report(const std::string& path, const std::string& message, const std::string& hint = "") {
    result_.problems.push_back({path, message, hint});
  }

  bool check_limits() {
    std::size_t operations = 0;
    for (const ProgramPart& part : program_.parts) operations += part.operations.size();
    if (program_.parts.empty()) report("part", "the program has no part");
    if (program_.parts.size() > ProgramLimits::kParts)
      report("part", "a program has at most " + std::to_string(ProgramLimits::kParts) + " parts, not " +
                         std::to_string(program_.parts.size()));
    if (operations > ProgramLimits::kOperations)
      report("part", "a program has at most " + std::to_string(ProgramLimits::kOperations) +
                         " operations, not " + std::to_string(operations));
    return result_.problems.empty();
  }

  void check_names() {
    std::set<std::string> dimensions = {"batch", "sequence"}, parts;
    for (std::size_t i = 0; i < program_.dimensions.size(); ++i) {
      const std::string& name = program_.dimensions[i].name;
      if (dimensions.insert(name).second) continue;
      const bool built_in = name == "batch" || name == "sequence";
      report(element("dimension", i) + ".name",
             "dimension \"" + name + "\" is there " + (built_in ? "already" : "twice"),
             built_in ? "its size comes from the job" : "");
    }
    for (std::size_t i = 0; i < program_.parts.size(); ++i) {
      part_names_.push_back(program_.parts[i].name);
      if (!parts.insert(program_.parts[i].name).second)
        report(element("part", i) + ".name", "part \"" + program_.parts[i].name + "\" is there twice");
    }
  }

  void append(std::size_t part, std::int64_t& pieces) {
    const int repeat = program_.parts[part].repeat;
    pieces += repeat;
    for (int i = 0; i < repeat && pieces <= ProgramLimits::kPieces; ++i)
      result_.model.sequence.push_back(static_cast<int>(part));
  }

  // The row of pieces, repetitions written out.
  void sequence() {
    std::int64_t pieces = 0;
    if (program_.order.empty()) {
      for (std::size_t part = 0; part < program_.parts.size(); ++part) append(part, pieces);
    }
    for (std::size_t i = 0; i < program_.order.size(); ++i) {
      const ProgramRun& run = program_.order[i];
      std::vector<std::size_t> parts;
      for (std::size_t k = 0; k < run.parts.size(); ++k) {
        const auto at = std::find(part_names_.begin(), part_names_.end(), run.parts[k]);
        if (at != part_names_.end()) {
          parts.push_back(static_cast<std::size_t>(at - part_names_.begin()));
          continue;
        }
        result_.problems.push_back({element("order", i) + element(".part", k),
                                    "there is no part \"" + run.parts[k] + "\"", "", run.parts[k],
                                    part_names_});
      }
      for (int time = 0; time < run.repeat && pieces <= ProgramLimits::kPieces; ++time) {
        for (const std::size_t part : parts) append(part, pieces);
      }
    }
    if (pieces > ProgramLimits::kPieces)
      report(program_.order.empty() ? "part" : "order",
             "more than " + std::to_string(ProgramLimits::kPieces) + " pieces in a row");
  }

  // Each piece takes what the one before hands on; the last ends in a loss.
  void check_row() {
    const std::vector<int>& row = result_.model.sequence;
    std::set<int> in_row(row.begin(), row.end());
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (!in_row.count(static_cast<int>(part)))
        report(element("part", part), "part " + part_names_[part] + " is in no order");
    }
    std::set<std::pair<int, int>> seen;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int before = i == 0 ? -1 : row[i - 1];
      if (seen.insert({before, row[i]}).second) check_link(before, row[i]);
    }
    const auto last = static_cast<std::size_t>(row.back());
    const auto& operations = parts_[last].part.graph.operations;
    const bool loss = std::any_of(operations.begin(), operations.end(),
                                  [](const Operation& op) { return op.kind == OperationKind::kLoss; });
    if (!loss || parts_[last].output)
      report(element("part", last), "the last part " + part_names_[last] + " must end in a loss",
             "training goes back from there: operation { kind: loss input: \"logits\" output: \"losses\" }");
  }

  void check_link(int from, int to) {
    const auto part = static_cast<std::size_t>(to);
    const std::string here = element("part", part);
    const std::optional<Boundary>& input = parts_[part].input;
    if (from < 0) {
      if (input)
        report(here + ".input[0]",
               "part " + part_names_[part] + " comes first, and nothing gives it " + input->text,
               "what the input pipeline gives is data { ... }");
      return;
    }
    const auto before = static_cast<std::size_t>(from);
    const std::optional<Boundary>& output = parts_[before].output;
    if (!output)
      return report(element("part", before), "part " + part_names_[before] + " has no output, and part " +
                                                 part_names_[part] + " follows");
    if (!input)
      return report(here, "part " + part_names_[part] + " has no input for " + output->text + " of part " +
                              part_names_[before]);
    if (input->sizes != output->sizes)
      report(here + ".input[0].dims", "part " + part_names_[part] + " takes " + input->text + ", but part " +
                                          part_names_[before] + " gives " + output->text);
  }

  const Job& job_;
  const TensorProgram& program_;
  std::vector<std::string> part_names_;
  std::vector<BuiltPart> parts_;
  ProgramGraphs result_;
};

}  // namespace

std::set<std::string> rule_dimensions(const Job& job, const ModelProgram& model) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (name.empty()) return;
    names.insert(name);
    if (name.rfind("param_", 0) == 0) names.insert("state_" + name);
  };
  for (const ModelPart& part : model.parts) {
    for (const Tensor& tensor : part.graph.tensors) {
      for (const TensorDim& dim : tensor.dims) add(dim.logical);
    }
  }
  // Blocks of a dimension have rules too.
  for (const ProgramDimension& dimension : job.program->dimensions) {
    add(dimension.name);
    add("param_" + dimension.name);
  }
  return names;
}

ProgramGraphs program_graphs(const Job& job) {
  PODSIM_CHECK(job.program.has_value(), "a job with a program");
  return ProgramBuilder(job).build();
}

}  // namespace podsim
