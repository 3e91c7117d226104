// What each kind of operation makes of its inputs.
#include <algorithm>
#include <utility>

#include "engine/contains.h"
#include "workload/graph/op_rule.h"
#include "workload/model/program_operation.h"

namespace podsim {
namespace {

constexpr std::size_t kAny = 1000;  // inputs; files have fewer

// One side of a reshape as letters, "b(sn)d"; a dimension of size 1 has a letter of its own.
std::string reshaped_letters(const FactorMap& dims, char& next) {
  std::string all;
  for (const std::vector<int>& factors : dims) {
    std::string letters;
    for (const int factor : factors) letters += static_cast<char>('a' + factor);
    if (factors.empty()) letters += next++;
    all += letters.size() == 1 ? letters : "(" + letters + ")";
  }
  return all;
}

}  // namespace

void ProgramOperationBuilder::einsum() {
  if (!take_inputs(2, 2) || !outputs_of(1) || !bind_inputs() || !check_sizes()) return;
  if (op_.equation.empty() && op_.dims.empty())
    return report("", "has neither dims nor an equation", "write the dims of " + op_.outputs.front());
  if (!add_output(0, {})) return;
  for (const auto& [key, letter] : letters_) {
    if (has_input_key(key)) continue;
    return report(op_.dims.empty() ? "equation" : "dims",
                  "the output has \"" + key + "\", which no input has",
                  "the inputs are " + text(inputs_[0]) + " and " + text(inputs_[1]));
  }
  result_.low_precision = layer_;
  push(OperationKind::kEinsum);
}

// Same indices in and out; vectors are broadcast.
void ProgramOperationBuilder::pointwise() {
  const bool several = op_.kind == ProgramKind::kElementwise;
  if (!take_inputs(1, kAny) || !outputs_of(several ? std::max<std::size_t>(op_.outputs.size(), 1) : 1))
    return;
  if (!bind_inputs() || !check_sizes()) return;
  if (op_.outputs.size() > 1) free_ = "*";
  for (std::size_t i = 0; i < op_.outputs.size(); ++i) {
    if (!add_output(i, inputs_.front().tensor->terms)) return;
  }
  if (!splits()) return;
  for (const auto& [key, letter] : letters_) {
    const auto has = [&, c = letter](const Operand& output) {
      return output.letters.find(c) != std::string::npos;
    };
    const bool out = std::any_of(result_.outputs.begin(), result_.outputs.end(), has);
    const bool in = has_input_key(key);
    if (in && !out && !term_of(key)->name.empty())
      return report("dims", "\"" + key + "\" of an input is in no output", "a sum over it is a reduce");
    if (!in && op_.kind != ProgramKind::kBroadcast)
      return report("dims", "the output has \"" + key + "\", which no input has",
                    "the first input is " + text(inputs_.front()) + "; broadcast adds dimensions");
  }
  if (op_.kind == ProgramKind::kNorm || op_.kind == ProgramKind::kSoftmax) {
    result_.statistics = letters(along(inputs_.front()));
    if (result_.statistics.empty()) return;
    result_.reductions = op_.kind == ProgramKind::kNorm ? op_.statistics : 2;
  }
  result_.saves_inputs = !op_.linear && op_.kind != ProgramKind::kBroadcast;
  result_.passes = op_.passes;
  push(op_.kind == ProgramKind::kAdd ? OperationKind::kSum : OperationKind::kElementwise);
}

// Several outputs have an input's dimension each, or share it among them.
bool ProgramOperationBuilder::splits() {
  for (const auto& [key, letter] : letters_) {
    std::int64_t sum = 0;
    bool whole = true;
    for (std::size_t i = 0; i < result_.outputs.size(); ++i) {
      const std::size_t at = result_.outputs[i].letters.find(letter);
      if (at == std::string::npos) continue;
      const std::int64_t size = scope_.tensors.at(op_.outputs[i]).sizes[at];
      sum += size;
      whole &= size == sizes_.at(key);
    }
    if (whole || sum == sizes_.at(key)) continue;
    report("dims", "\"" + key + "\" is " + std::to_string(sizes_.at(key)) + " in the input and " +
                       std::to_string(sum) + " in the outputs together");
    return false;
  }
  return true;
}

void ProgramOperationBuilder::reduce() {
  if (!take_inputs(1, 1) || !outputs_of(1) || !bind_inputs() || !check_sizes()) return;
  const std::vector<std::string> gone = along(inputs_.front());
  if (gone.empty()) return;
  std::vector<DimTerm> rest;
  for (std::size_t i = 0; i < inputs_.front().keys.size(); ++i) {
    if (!contains(gone, inputs_.front().keys[i])) rest.push_back(inputs_.front().tensor->terms[i]);
  }
  if (!add_output(0, rest)) return;
  for (const auto& [key, letter] : letters_) {
    if (!has_input_key(key))
      return report("dims", "the output has \"" + key + "\", which the input does not have");
  }
  result_.saves_inputs = false;
  result_.passes = op_.passes;
  push(OperationKind::kReduce);
}

void ProgramOperationBuilder::reshape() {
  if (!take_inputs(1, 1) || !outputs_of(1)) return;
  if (!op_.equation.empty()) return report("equation", "its factors follow from the sizes");
  if (op_.dims.empty()) return report("dims", "needs the dims of its output");
  std::vector<DimTerm> terms;
  if (!parse_output(0, terms)) return;
  const ScopeTensor& from = *inputs_.front().tensor;
  const std::vector<std::int64_t> before = from.sizes;
  Tensor tensor{.name = op_.outputs.front()};
  const ScopeTensor* to =
      scope_.declare(std::move(tensor), std::move(terms), path_ + ".output[0]", path_ + ".dims[0]");
  if (!to) return;
  if (element_count(before) != element_count(to->sizes))
    return report("dims[0]", "makes " + std::to_string(element_count(to->sizes)) + " elements of the " +
                                 std::to_string(element_count(before)) + " of " + text(inputs_.front()));
  const OpRule rule = reshape_rule(before, to->sizes);
  const std::size_t ones = static_cast<std::size_t>(std::count(before.begin(), before.end(), 1) +
                                                    std::count(to->sizes.begin(), to->sizes.end(), 1));
  if (rule.factors.size() + ones > ProgramLimits::kLetters)
    return report("dims[0]", "has more than 26 factors in common with " + text(inputs_.front()));
  auto next = static_cast<char>('a' + rule.factors.size());
  result_.kind = OperationKind::kReshape;
  result_.inputs = {{from.id, reshaped_letters(rule.operands.front(), next)}};
  result_.outputs = {{to->id, reshaped_letters(rule.results.front(), next)}};
  for (std::size_t i = 0; i < rule.factors.size(); ++i) {
    if (rule.factors[i].kind == FactorKind::kNeedReplication) result_.whole += static_cast<char>('a' + i);
  }
  result_.saves_inputs = false;
  scope_.graph.operations.push_back(std::move(result_));
}

void ProgramOperationBuilder::transpose() {
  if (!take_inputs(1, 1) || !outputs_of(1) || !bind_inputs() || !check_sizes()) return;
  if (op_.equation.empty() && op_.dims.empty()) return report("dims", "needs the dims of its output");
  if (!add_output(0, {})) return;
  std::string before = letters(inputs_.front().keys), after = result_.outputs.front().letters;
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  if (before != after)
    return report("dims", "the output does not have the dimensions of " + text(inputs_.front()));
  result_.saves_inputs = false;
  push(OperationKind::kTranspose);
}

void ProgramOperationBuilder::concatenate() {
  if (!take_inputs(2, kAny) || !outputs_of(1) || !bind_inputs()) return;
  const std::vector<std::string> keys = along(inputs_.front());
  if (keys.size() != 1) {
    if (!keys.empty()) report("along", "concatenates along one dimension");
    return;
  }
  const std::string& key = keys.front();
  if (!check_sizes(key)) return;
  std::vector<DimTerm> terms = inputs_.front().tensor->terms;
  std::int64_t total = 0;
  for (const Input& input : inputs_) {
    const auto at = std::find(input.keys.begin(), input.keys.end(), key);
    if (input.keys.size() != terms.size() || at == input.keys.end())
      return report("input", text(input) + " has other dimensions than " + text(inputs_.front()));
    total += input.tensor->sizes[static_cast<std::size_t>(at - input.keys.begin())];
  }
  const auto at = std::find(inputs_.front().keys.begin(), inputs_.front().keys.end(), key);
  DimTerm& joined = terms[static_cast<std::size_t>(at - inputs_.front().keys.begin())];
  joined = sized_term(joined.name, total);
  if (!op_.equation.empty()) return report("equation", "its dimensions go by name");
  if (!op_.dims.empty() && (!same_sizes(terms) || !parse_output(0, terms))) return;
  if (!add_output(0, terms, inputs_.front().keys)) return;
  result_.whole = letter(key);
  result_.saves_inputs = false;
  push(OperationKind::kConcatenate);
}

void ProgramOperationBuilder::embedding() {
  if (!take_inputs(2, kAny) || !outputs_of(1) || !bind_inputs() || !check_sizes()) return;
  const Input &table = inputs_.front(), &index = inputs_.back();
  std::vector<DimTerm> implied = index.tensor->terms;
  std::string rows;
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    if (contains(index.keys, table.keys[i])) continue;
    if (rows.empty()) {
      rows = table.keys[i];
    } else {
      implied.push_back(table.tensor->terms[i]);
    }
  }
  if (rows.empty())
    return report("input", text(table) + " has no rows that the ids of " + text(index) + " name");
  if (!add_output(0, implied)) return;
  for (const auto& [key, letter] : letters_) {
    const bool out = result_.outputs.front().letters.find(letter) != std::string::npos;
    if (out && (key == rows || !has_input_key(key)))
      return report("dims", "the output has \"" + key + "\", " +
                                (key == rows ? "the rows of the table" : "which no input has"));
    if (!out && key != rows && contains(table.keys, key))
      return report("dims", "the output lacks \"" + key + "\" of " + text(table));
  }
  push(OperationKind::kEmbedding);
}

void ProgramOperationBuilder::scatter() {
  if (!take_inputs(2, 2) || !outputs_of(1) || !bind_inputs() || !check_sizes()) return;
  if (op_.dims.empty()) return report("dims", "needs the dims of the table it adds to");
  if (add_output(0, {})) push(OperationKind::kEmbedding);
}

// Sizes differ where tokens become slots: a capacity follows the sequence it is filled from.
void ProgramOperationBuilder::routing() {
  const bool route = op_.kind == ProgramKind::kRoute;
  if (!take_inputs(route ? 1 : 2, route ? 1 : 2) || !outputs_of(1) || !bind_inputs() || !check_sizes("*"))
    return;
  if (!route && op_.dims.empty() && op_.equation.empty())
    return report("dims", "needs the dims of its output");
  if (!add_output(0, inputs_.front().tensor->terms)) return;
  if (route) result_.whole = letters(along(inputs_.front()));
  result_.passes = op_.passes;
  push(route                                ? OperationKind::kRoute
       : op_.kind == ProgramKind::kDispatch ? OperationKind::kDispatch
                                            : OperationKind::kCombine);
}

// Dimensions by position: batch, sequence, heads, width of a head.
void ProgramOperationBuilder::attention() {
  if (!take_inputs(2, 3) || !outputs_of(1)) return;
  for (Input& input : inputs_) {
    if (input.tensor->terms.size() != 4)
      return report("input",
                    text(input) + " must have four dimensions: batch, sequence, heads, width of a head");
    const bool query = &input == &inputs_.front();
    input.keys = {"batch", query ? "queries" : "keys", "heads", "width"};
  }
  letters_ = {{"batch", 'b'}, {"queries", 's'}, {"keys", 't'}, {"heads", 'n'}, {"width", 'h'}};
  if (!check_sizes("heads")) return;
  const std::int64_t heads = inputs_[0].tensor->sizes[2], fused = inputs_.size() == 2 ? 2 : 1;
  for (std::size_t i = 1; i < inputs_.size(); ++i) {
    const std::int64_t of_keys = inputs_[i].tensor->sizes[2];
    if (of_keys % fused == 0 && heads % std::max<std::int64_t>(of_keys / fused, 1) == 0) continue;
    return report("input", std::to_string(heads) + " heads are no multiple of the " +
                               std::to_string(of_keys / fused) + " key heads of " + text(inputs_[i]));
  }
  std::vector<DimTerm> terms = inputs_[0].tensor->terms;
  if (!op_.dims.empty() && !parse_output(0, terms)) return;
  if (!op_.equation.empty()) return report("equation", "its dimensions go by position");
  if (terms.size() != 4) return report("dims", "the output has four dimensions, as the queries");
  if (!add_output(0, terms, inputs_[0].keys)) return;
  result_.whole = "th";
  result_.causal = op_.causal;
  result_.attention_window = op_.attention_window;
  push(OperationKind::kAttention);
}

void ProgramOperationBuilder::loss() {
  if (!take_inputs(1, 2) || !outputs_of(1) || !bind_inputs() || !check_sizes()) return;
  const std::vector<std::string> classes = along(inputs_.front());
  if (classes.empty()) return;
  std::vector<DimTerm> rest;
  for (std::size_t i = 0; i < inputs_.front().keys.size(); ++i) {
    if (!contains(classes, inputs_.front().keys[i])) rest.push_back(inputs_.front().tensor->terms[i]);
  }
  if (!add_output(0, rest)) return;
  result_.statistics = letters(classes);
  result_.reductions = 3;  // maximum, sum of exponentials, score of the target
  push(OperationKind::kLoss);
}

}  // namespace podsim
