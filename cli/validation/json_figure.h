// Single numbers of JSON answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "validation/expression.h"

namespace podsim {

// A parsed answer. Several texts make a list of answers.
class JsonAnswer {
 public:
  explicit JsonAnswer(const std::vector<std::string>& texts);
  ~JsonAnswer();
  JsonAnswer(JsonAnswer&&) noexcept;

  // The number at a path: keys with dots between, [2] for the third element of a list, [key=value,key=value]
  // for the one element with these values, quotes around keys with other characters than letters, digits
  // and _. A list of a path counts by .length. Truth is 1, falsehood 0.
  Evaluated figure(const std::string& path) const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace podsim
