// Which of a user's programs know of tokens.
#include "workload/job/tensor_program.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace podsim {
namespace {

constexpr std::string_view kTokensOfASample = "sequence";

bool is_of_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "sequence=1280" only has its name.
bool names_sequence(const std::string& dims) {
  for (std::size_t at = dims.find(kTokensOfASample); at != std::string::npos;
       at = dims.find(kTokensOfASample, at + 1)) {
    const std::size_t end = at + kTokensOfASample.size();
    const bool whole = (at == 0 || !is_of_a_name(dims[at - 1])) &&
                       (end == dims.size() || (!is_of_a_name(dims[end]) && dims[end] != '='));
    if (whole) return true;
  }
  return false;
}

}  // namespace

bool has_tokens(const TensorProgram& program) {
  return std::ranges::any_of(program.parts, [](const ProgramPart& part) {
    const auto of = [](const auto& tensor) { return names_sequence(tensor.dims); };
    return std::ranges::any_of(part.inputs, of) || std::ranges::any_of(part.data, of) ||
           std::ranges::any_of(part.parameters, of) ||
           std::ranges::any_of(part.operations, [](const ProgramOperation& op) {
             return std::ranges::any_of(op.dims, names_sequence);
           });
  });
}

}  // namespace podsim
