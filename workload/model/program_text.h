// How dimensions and equations of a tensor program are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace podsim {

// A size by name, or a number where the name is empty.
struct DimSize {
  std::string name;
  std::int64_t number = 0;
};

// One dimension of a tensor as written (tensor_program.h).
struct DimTerm {
  std::string name;              // what rules call it; empty = no rule applies
  std::vector<DimSize> blocks;   // one after the other; empty for a product
  std::vector<DimTerm> factors;  // of a product, major to minor
  std::string text;
};

struct ParsedDims {
  std::vector<DimTerm> terms;
  std::string problem;  // empty = none
};
ParsedDims parse_dims(const std::string& text);

// Names of one operand's dimensions; several for a dimension that is a product.
using EquationOperand = std::vector<std::vector<std::string>>;
struct Equation {
  std::vector<EquationOperand> inputs, outputs;
  std::string problem;  // empty = none
};

// "batch embed, embed ffn -> batch ffn", or with a letter per dimension "bd,df->bf". `ranks` of the inputs
// tell the two apart where no blank does.
Equation parse_equation(const std::string& text, const std::vector<std::size_t>& ranks);

}  // namespace podsim
