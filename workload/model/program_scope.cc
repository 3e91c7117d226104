// The tensors that one part of a program has so far, by name, and the graph that grows from them.
#include "workload/model/program_scope.h"

#include <algorithm>
#include <utility>

#include "workload/job/job.h"
#include "workload/sharding/sharding.h"

namespace podsim {
namespace {

std::vector<std::string> names_of(const auto& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

}  // namespace

std::string key_of(const DimTerm& term) {
  if (!term.factors.empty()) return term.text;
  return term.name.empty() ? "#" + std::to_string(term.blocks.front().number) : term.name;
}

DimTerm sized_term(const std::string& name, std::int64_t size) {
  DimTerm term{.name = name, .blocks = {{"", size}}, .factors = {}, .text = std::to_string(size)};
  if (!name.empty()) term.text = name + "=" + term.text;
  return term;
}

ProgramScope::ProgramScope(const Job& job, std::vector<ProgramProblem>& problems)
    : job_(job), problems_(problems) {
  sizes_["batch"] = std::max<std::int64_t>(std::int64_t{job.microbatch} * batch_shards(job), 1);
  sizes_["sequence"] = std::max(job.sequence, 1);
  for (const ProgramDimension& dimension : job.program->dimensions) sizes_[dimension.name] = dimension.size;
}

void ProgramScope::report(const std::string& path, const std::string& message, const std::string& hint) {
  problems_.push_back({path, message, hint});
}

std::int64_t ProgramScope::size_of(const DimSize& size, const std::string& path) {
  if (size.name.empty()) return size.number;
  const auto known = sizes_.find(size.name);
  if (known != sizes_.end()) return known->second;
  problems_.push_back({path, "there is no dimension \"" + size.name + "\"",
                       "declare it: dimension { name: \"" + size.name +
                           "\" size: 1024 }, or write a size here: " + size.name + "=1024",
                       size.name, names_of(sizes_)});
  return 0;
}

std::int64_t ProgramScope::size_of(const DimTerm& term, const std::string& path) {
  std::int64_t total = term.factors.empty() ? 0 : 1;
  for (const DimSize& block : term.blocks) {
    const std::int64_t size = size_of(block, path);
    if (size == 0) return 0;
    total += size;
  }
  for (const DimTerm& factor : term.factors) {
    const std::int64_t size = size_of(factor, path);
    if (size == 0) return 0;
    if (static_cast<double>(total) * static_cast<double>(size) > ProgramLimits::kElements) {
      report(path, "\"" + term.text + "\" is longer than 1e13");
      return 0;
    }
    total *= size;
  }
  return total;
}

// A block with a rule of its own is cut where that and the dimension's rule both say so.
TensorDim ProgramScope::dim_of(const DimTerm& term, bool parameter, std::int64_t total) const {
  const std::string prefix = parameter ? "param_" : "";
  TensorDim dim{.logical = term.name.empty() ? "" : prefix + term.name, .blocks = {}};
  if (!term.factors.empty()) dim.blocks = {{.size = total}};
  for (const DimSize& block : term.blocks) {
    DimBlock part{.size = block.name.empty() ? block.number : sizes_.at(block.name)};
    const bool several = term.blocks.size() > 1;
    if (several && !block.name.empty() && block.name != term.name)
      part.cut = axes_on(job_, prefix + block.name);
    dim.blocks.push_back(part);
  }
  return dim;
}

bool ProgramScope::check_shape(const std::string& name, const ScopeTensor& tensor, const std::string& path) {
  if (tensor.terms.size() > ProgramLimits::kDims) {
    report(path, name + " has " + std::to_string(tensor.terms.size()) + " dimensions; at most " +
                     std::to_string(ProgramLimits::kDims) + " are possible");
    return false;
  }
  double product = 1;
  for (std::size_t i = 0; i < tensor.terms.size(); ++i) {
    product *= static_cast<double>(tensor.sizes[i]);
    const std::string& dimension = tensor.terms[i].name;
    for (std::size_t k = 0; k < i; ++k) {
      if (dimension.empty() || tensor.terms[k].name != dimension) continue;
      report(path, name + " has the dimension \"" + dimension + "\" twice",
             "give one of them another name: " + dimension + "_2=" + dimension);
      return false;
    }
  }
  if (product <= ProgramLimits::kElements) return true;
  report(path, name + " has more than 1e13 elements");
  return false;
}

ScopeTensor* ProgramScope::declare(Tensor tensor, const std::string& dims, const std::string& path) {
  ParsedDims parsed = parse_dims(dims);
  if (!parsed.problem.empty()) {
    report(path + ".dims", parsed.problem);
    give_up(tensor.name, path);
    return nullptr;
  }
  return declare(std::move(tensor), std::move(parsed.terms), path, path + ".dims");
}

void ProgramScope::give_up(const std::string& name, const std::string& path) {
  const auto known = tensors.find(name);
  if (known != tensors.end() && known->second.path.rfind(path, 0) == 0) tensors.erase(known);
  given_up_.insert(name);
}

ScopeTensor* ProgramScope::declare(Tensor tensor, std::vector<DimTerm> terms, const std::string& path,
                                   const std::string& dims_path) {
  const std::string name = tensor.name;
  ScopeTensor* declared = declare_known(std::move(tensor), std::move(terms), path, dims_path);
  if (!declared) given_up_.insert(name);
  return declared;
}

ScopeTensor* ProgramScope::declare_known(Tensor tensor, std::vector<DimTerm> terms, const std::string& path,
                                         const std::string& dims_path) {
  ScopeTensor declared;
  declared.terms = std::move(terms);
  declared.path = path;
  for (const DimTerm& term : declared.terms) {
    declared.sizes.push_back(size_of(term, dims_path));
    if (declared.sizes.back() == 0) return nullptr;
  }
  if (!check_shape(tensor.name, declared, dims_path)) return nullptr;
  if (tensors.count(tensor.name)) {
    report(path, "tensor \"" + tensor.name + "\" is there already");
    return nullptr;
  }
  const bool parameter = tensor.role == TensorRole::kParameter;
  // What no rule speaks of stays as its operation leaves it.
  bool ruled = tensor.role != TensorRole::kActivation;
  for (std::size_t i = 0; i < declared.terms.size(); ++i) {
    tensor.dims.push_back(dim_of(declared.terms[i], parameter, declared.sizes[i]));
    const std::string& logical = tensor.dims.back().logical;
    ruled |= std::any_of(job_.rules.begin(), job_.rules.end(), [&](const ShardingRule& rule) {
      return !logical.empty() && rule.dimension == logical;
    });
  }
  tensor.constrained = ruled;
  const std::string name = tensor.name;
  declared.id = graph.add(std::move(tensor));
  return &(tensors[name] = std::move(declared));
}

ScopeTensor* ProgramScope::find(const std::string& name, const std::string& path) {
  const auto known = tensors.find(name);
  if (known != tensors.end()) {
    known->second.used = true;
    return &known->second;
  }
  if (given_up_.count(name)) return nullptr;
  problems_.push_back({path, "there is no tensor \"" + name + "\" yet",
                       "operations run in the order in which they are written", name, names_of(tensors)});
  return nullptr;
}

}  // namespace podsim
