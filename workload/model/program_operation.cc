// One operation of a user's program: which dimensions are one, what it yields, and what is wrong with it.
#include "workload/model/program_operation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/words.h"

namespace podsim {
namespace {

constexpr std::array<const char*, kProgramKinds> kKindNames = {
    "einsum",    "elementwise", "add",     "broadcast", "norm",        "softmax", "reduce",    "reshape",
    "transpose", "concatenate", "slice",   "pad",       "shift",       "pool",    "embedding", "scatter",
    "route",     "dispatch",    "combine", "attention", "convolution", "loss"};

// Dimensions of the same size without a name: the second one of an operand is another dimension than the
// first.
std::vector<std::string> keys_of(const std::vector<DimTerm>& terms) {
  std::vector<std::string> keys;
  for (const DimTerm& term : terms) {
    std::string key = key_of(term);
    while (std::find(keys.begin(), keys.end(), key) != keys.end()) key += "'";
    keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<std::string> keys_of(const EquationOperand& operand) {
  std::vector<std::string> keys;
  for (const std::vector<std::string>& names : operand)
    keys.push_back(names.size() == 1 ? names.front() : "(" + separated(names, " ") + ")");
  return keys;
}

}  // namespace

std::string kind_name(ProgramKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

ProgramOperationBuilder::ProgramOperationBuilder(ProgramScope& scope, const ProgramOperation& op, bool layer,
                                                 std::string path)
    : scope_(scope), op_(op), layer_(layer), path_(std::move(path)) {
  result_.name = op.name;
}

void ProgramOperationBuilder::report(const std::string& field, const std::string& message,
                                     const std::string& hint) {
  scope_.report(field.empty() ? path_ : path_ + "." + field,
                kind_name(op_.kind) + " " + op_.name + ": " + message, hint);
}

std::string ProgramOperationBuilder::text(const Input& input) const {
  std::vector<std::string> dims;
  for (const DimTerm& term : input.tensor->terms) dims.push_back(term.text);
  return scope_.graph.tensors[static_cast<std::size_t>(input.tensor->id)].name + " [" + separated(dims, " ") +
         "]";
}

bool ProgramOperationBuilder::take_inputs(std::size_t least, std::size_t most) {
  bool found = true;
  for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
    ScopeTensor* tensor = scope_.find(op_.inputs[i], path_ + ".input[" + std::to_string(i) + "]");
    found &= tensor != nullptr;
    inputs_.push_back({tensor, {}});
  }
  if (op_.inputs.size() < least || op_.inputs.size() > most) {
    report("input", "takes " +
                        (least == most ? std::to_string(least)
                         : most > 64   ? "at least " + std::to_string(least)
                                       : std::to_string(least) + " to " + std::to_string(most)) +
                        " inputs, not " + std::to_string(op_.inputs.size()));
    return false;
  }
  return found;
}

bool ProgramOperationBuilder::bind_inputs() {
  if (op_.equation.empty()) {
    for (Input& input : inputs_) input.keys = keys_of(input.tensor->terms);
    return true;
  }
  std::vector<std::size_t> ranks;
  for (const Input& input : inputs_) ranks.push_back(input.tensor->terms.size());
  equation_ = parse_equation(op_.equation, ranks);
  if (!equation_.problem.empty()) {
    report("equation", equation_.problem, "write, for example, \"batch embed, embed ffn -> batch ffn\"");
    return false;
  }
  if (equation_.inputs.size() != inputs_.size() || equation_.outputs.size() != op_.outputs.size()) {
    report("equation", "\"" + op_.equation + "\" has " + std::to_string(equation_.inputs.size()) +
                           " inputs and " + std::to_string(equation_.outputs.size()) +
                           " outputs, the operation has " + std::to_string(inputs_.size()) + " and " +
                           std::to_string(op_.outputs.size()));
    return false;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].keys = keys_of(equation_.inputs[i]);
    if (inputs_[i].keys.size() == ranks[i]) continue;
    report("equation", "\"" + op_.equation + "\" gives " + std::to_string(inputs_[i].keys.size()) +
                           " dimensions to " + text(inputs_[i]));
    return false;
  }
  return true;
}

bool ProgramOperationBuilder::outputs_of(std::size_t count) {
  if (op_.outputs.size() != count) {
    report("output",
           "makes " + std::to_string(count) + " outputs, not " + std::to_string(op_.outputs.size()));
    return false;
  }
  if (op_.dims.size() > count) {
    report("dims[" + std::to_string(count) + "]", "has dims for more outputs than it makes");
    return false;
  }
  return true;
}

char ProgramOperationBuilder::letter(const std::string& key) {
  const auto known = letters_.find(key);
  if (known != letters_.end()) return known->second;
  for (char c = 'a'; c <= 'z'; ++c) {
    const bool taken =
        std::any_of(letters_.begin(), letters_.end(), [&](const auto& entry) { return entry.second == c; });
    if (!taken) return letters_[key] = c;
  }
  return 0;
}

std::string ProgramOperationBuilder::letters(const std::vector<std::string>& keys) {
  std::string all;
  for (const std::string& key : keys) all += letter(key);
  return all;
}

bool ProgramOperationBuilder::has_input_key(const std::string& key) const { return term_of(key) != nullptr; }

const DimTerm* ProgramOperationBuilder::term_of(const std::string& key) const {
  for (const Input& input : inputs_) {
    const auto at = std::find(input.keys.begin(), input.keys.end(), key);
    if (at != input.keys.end())
      return &input.tensor->terms[static_cast<std::size_t>(at - input.keys.begin())];
  }
  return nullptr;
}

std::vector<std::string> ProgramOperationBuilder::along(const Input& input) {
  if (op_.along.empty()) {
    if (input.keys.empty()) report("input", "needs a dimension, and " + text(input) + " has none");
    return input.keys.empty() ? std::vector<std::string>{} : std::vector<std::string>{input.keys.back()};
  }
  const ParsedDims parsed = parse_dims(op_.along);
  if (!parsed.problem.empty()) report("along", parsed.problem);
  std::vector<std::string> keys;
  for (const DimTerm& term : parsed.terms) {
    keys.push_back(key_of(term));
    if (std::find(input.keys.begin(), input.keys.end(), keys.back()) != input.keys.end()) continue;
    report("along", "\"" + term.text + "\" is no dimension of " + text(input));
    return {};
  }
  return keys;
}

bool ProgramOperationBuilder::parse_output(std::size_t i, std::vector<DimTerm>& terms) {
  ParsedDims parsed = parse_dims(op_.dims[i]);
  if (!parsed.problem.empty()) {
    report("dims[" + std::to_string(i) + "]", parsed.problem);
    return false;
  }
  terms = std::move(parsed.terms);
  return true;
}

bool ProgramOperationBuilder::add_output(std::size_t i, const std::vector<DimTerm>& implied) {
  std::vector<DimTerm> terms = implied;
  const bool written = i < op_.dims.size();
  if (written && !parse_output(i, terms)) return false;
  if (op_.equation.empty()) {
    std::vector<std::string> keys = keys_of(terms);
    return add_output(i, std::move(terms), std::move(keys));
  }
  std::vector<std::string> keys = keys_of(equation_.outputs[i]);
  if (!written) {
    terms.clear();
    for (const std::string& key : keys) {
      if (const DimTerm* term = term_of(key)) {
        terms.push_back(*term);
        continue;
      }
      report("equation", "the output has \"" + key + "\", which no input has",
             "give the sizes of the output in dims");
      return false;
    }
  }
  if (keys.size() != terms.size()) {
    report("dims", "\"" + op_.dims[i] + "\" has " + std::to_string(terms.size()) +
                       " dimensions, the equation " + std::to_string(keys.size()));
    return false;
  }
  return add_output(i, std::move(terms), std::move(keys));
}

bool ProgramOperationBuilder::add_output(std::size_t i, std::vector<DimTerm> terms,
                                         std::vector<std::string> keys) {
  Tensor tensor{.name = op_.outputs[i]};
  const std::string index = "[" + std::to_string(i) + "]";
  const std::string dims = i < op_.dims.size() ? ".dims" + index : "";
  const ScopeTensor* declared =
      scope_.declare(std::move(tensor), std::move(terms), path_ + ".output" + index, path_ + dims);
  if (!declared) return false;
  result_.outputs.push_back({declared->id, letters(keys)});
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto [known, fresh] = sizes_.insert({keys[k], declared->sizes[k]});
    if (fresh || known->second == declared->sizes[k] || free_ == "*" || keys[k] == free_) continue;
    report("dims",
           "\"" + keys[k] + "\" is " + std::to_string(known->second) + " in the input and " +
               std::to_string(declared->sizes[k]) + " in the output",
           "one name is one dimension here; give them different names");
    return false;
  }
  return true;
}

bool ProgramOperationBuilder::check_sizes(const std::string& free) {
  free_ = free;
  for (const Input& input : inputs_) {
    letters(input.keys);
    for (std::size_t k = 0; k < input.keys.size(); ++k) {
      const std::string& key = input.keys[k];
      const auto [known, fresh] = sizes_.insert({key, input.tensor->sizes[k]});
      if (fresh || known->second == input.tensor->sizes[k]) continue;
      if (free == "*" || key == free) continue;
      std::string all;
      for (const Input& each : inputs_) all += (all.empty() ? "" : ", ") + text(each);
      report(op_.equation.empty() ? "input" : "equation",
             "\"" + key + "\" has different sizes: " + std::to_string(known->second) + " and " +
                 std::to_string(input.tensor->sizes[k]) + " in " + all,
             "one name is one dimension here; give them different names, or write an equation");
      return false;
    }
  }
  return true;
}

void ProgramOperationBuilder::push(OperationKind kind) {
  if (letters_.size() > ProgramLimits::kLetters) {
    return report("", "has more than " + std::to_string(ProgramLimits::kLetters) + " different dimensions");
  }
  result_.kind = kind;
  std::vector<Operand> inputs;
  for (const Input& input : inputs_) inputs.push_back({input.tensor->id, letters(input.keys)});
  result_.inputs = std::move(inputs);
  scope_.graph.operations.push_back(std::move(result_));
}

void ProgramOperationBuilder::run() {
  switch (op_.kind) {
    case ProgramKind::kEinsum:
      return einsum();
    case ProgramKind::kElementwise:
    case ProgramKind::kAdd:
    case ProgramKind::kBroadcast:
    case ProgramKind::kNorm:
    case ProgramKind::kSoftmax:
      return pointwise();
    case ProgramKind::kReduce:
      return reduce();
    case ProgramKind::kReshape:
      return reshape();
    case ProgramKind::kTranspose:
      return transpose();
    case ProgramKind::kConcatenate:
      return concatenate();
    case ProgramKind::kSlice:
    case ProgramKind::kPad:
    case ProgramKind::kShift:
    case ProgramKind::kPool:
      return shift();
    case ProgramKind::kEmbedding:
      return embedding();
    case ProgramKind::kScatter:
      return scatter();
    case ProgramKind::kRoute:
    case ProgramKind::kDispatch:
    case ProgramKind::kCombine:
      return routing();
    case ProgramKind::kAttention:
      return attention();
    case ProgramKind::kConvolution:
      return convolution();
    case ProgramKind::kLoss:
      return loss();
  }
}

}  // namespace podsim
