// The tensors that one part of a program has so far, by name, and the graph that grows from them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "workload/model/program_graph.h"
#include "workload/model/program_text.h"

namespace podsim {

struct Job;

struct ScopeTensor {
  TensorId id = -1;
  std::vector<DimTerm> terms;
  std::vector<std::int64_t> sizes;  // [dimension]
  std::string path;                 // of its declaration
  bool used = false;                // by an operation, or handed on
};

class ProgramScope {
 public:
  ProgramScope(const Job& job, std::vector<ProgramProblem>& problems);

  // Declares a tensor from the text of its dimensions; reports what is wrong and gives null then.
  ScopeTensor* declare(Tensor tensor, const std::string& dims, const std::string& path);
  // The same from terms; `where` names them in messages.
  ScopeTensor* declare(Tensor tensor, std::vector<DimTerm> terms, const std::string& path,
                       const std::string& dims_path);
  ScopeTensor* find(const std::string& name, const std::string& path);  // reports an unknown name

  void report(const std::string& path, const std::string& message, const std::string& hint = "");

  // Indices along a term; 0 after a problem.
  std::int64_t size_of(const DimTerm& term, const std::string& path);

  // What the operation at `path` should have made is not there: there is a problem, and its users are silent.
  void give_up(const std::string& name, const std::string& path);

  std::map<std::string, ScopeTensor> tensors;  // by name
  Graph graph;

 private:
  std::int64_t size_of(const DimSize& size, const std::string& path);
  ScopeTensor* declare_known(Tensor tensor, std::vector<DimTerm> terms, const std::string& path,
                             const std::string& dims_path);
  TensorDim dim_of(const DimTerm& term, bool parameter, std::int64_t total) const;
  bool check_shape(const std::string& name, const ScopeTensor& tensor, const std::string& path);

  const Job& job_;
  std::vector<ProgramProblem>& problems_;
  std::map<std::string, std::int64_t> sizes_;  // of dimensions
  std::set<std::string> given_up_;
};

// By what operations tell dimensions apart: the name, or the size of one without.
std::string key_of(const DimTerm& term);
// A dimension of this name and size.
DimTerm sized_term(const std::string& name, std::int64_t size);

}  // namespace podsim
