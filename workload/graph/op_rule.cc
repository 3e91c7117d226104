// Factors of the operations that have no window and keep dimensions as they are.
#include "workload/graph/op_rule.h"

#include <algorithm>

#include "engine/check.h"

namespace podsim {
namespace {

using Sizes = std::vector<std::int64_t>;

// One new factor of its own for each dimension.
FactorMap add_each(OpRule& rule, const Sizes& dims, FactorKind kind = FactorKind::kPassThrough) {
  FactorMap map;
  for (std::int64_t size : dims) map.push_back({rule.add({size, kind})});
  return map;
}

// The factors of the first dimensions, then those of the last.
FactorMap joined(FactorMap first, const FactorMap& last) {
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

// [letter] its factor in an einsum, in order of first appearance.
class LetterFactors {
 public:
  explicit LetterFactors(OpRule& rule) : rule_(rule) {}

  FactorMap map(const std::string& letters, const Sizes& dims) {
    PODSIM_CHECK(letters.size() == dims.size(), letters + ": one letter per dimension");
    FactorMap result;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      std::size_t factor = seen_.find(letters[i]);
      if (factor == std::string::npos) {
        factor = static_cast<std::size_t>(rule_.add({dims[i]}));
        seen_ += letters[i];
      }
      PODSIM_CHECK(rule_.factors[factor].size == dims[i], letters + ": dimensions of one letter are equal");
      result.push_back({static_cast<int>(factor)});
    }
    return result;
  }

  char letter(std::size_t factor) const { return seen_[factor]; }

 private:
  OpRule& rule_;
  std::string seen_;  // [factor]
};

}  // namespace

bool has_factor(const FactorMap& map, std::size_t factor) {
  for (const std::vector<int>& dim : map)
    if (std::find(dim.begin(), dim.end(), static_cast<int>(factor)) != dim.end()) return true;
  return false;
}

int OpRule::add(Factor factor) {
  factors.push_back(factor);
  return static_cast<int>(factors.size()) - 1;
}

OpRule einsum_rule(const std::vector<std::string>& operands, const std::vector<std::string>& results,
                   const std::vector<Sizes>& operand_dims, const std::vector<Sizes>& result_dims) {
  PODSIM_CHECK(operands.size() == operand_dims.size() && results.size() == result_dims.size(),
               "sizes of every tensor of the einsum");
  OpRule rule;
  LetterFactors letters(rule);
  for (std::size_t i = 0; i < operands.size(); ++i)
    rule.operands.push_back(letters.map(operands[i], operand_dims[i]));
  for (std::size_t i = 0; i < results.size(); ++i)
    rule.results.push_back(letters.map(results[i], result_dims[i]));
  for (std::size_t f = 0; f < rule.factors.size(); ++f) {
    const auto has = [&](const std::string& tensor) {
      return tensor.find(letters.letter(f)) != std::string::npos;
    };
    if (std::none_of(results.begin(), results.end(), has)) rule.factors[f].kind = FactorKind::kReduction;
  }
  return rule;
}

OpRule elementwise_rule(const Sizes& dims, int operands) {
  OpRule rule;
  rule.results = {add_each(rule, dims)};
  rule.operands.assign(static_cast<std::size_t>(operands), rule.results[0]);
  rule.rule_class = RuleClass::kElementwise;
  rule.elementwise = true;
  return rule;
}

OpRule transpose_rule(const Sizes& dims, const std::vector<int>& permutation) {
  OpRule rule;
  rule.operands = {add_each(rule, dims)};
  rule.results.emplace_back();
  for (int from : permutation) rule.results[0].push_back({from});
  rule.rule_class = RuleClass::kElementwise;
  return rule;
}

OpRule broadcast_rule(const Sizes& in, const Sizes& out, const std::vector<int>& dimension) {
  OpRule rule;
  rule.results = {add_each(rule, out)};
  rule.operands.emplace_back();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto to = static_cast<std::size_t>(dimension[i]);
    // The one index of a dimension that is expanded goes everywhere.
    const bool expanded = in[i] != out[to];
    rule.operands[0].push_back(expanded ? std::vector<int>{} : rule.results[0][to]);
  }
  rule.rule_class = RuleClass::kBroadcast;
  return rule;
}

OpRule reduce_rule(const Sizes& in, const std::vector<int>& reduced) {
  OpRule rule;
  rule.operands = {add_each(rule, in)};
  for (int dim : reduced) rule.factors[static_cast<std::size_t>(dim)].kind = FactorKind::kReduction;
  rule.results.emplace_back();
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (rule.factors[i].kind != FactorKind::kReduction) rule.results[0].push_back(rule.operands[0][i]);
  }
  return rule;
}

OpRule concatenate_rule(const std::vector<Sizes>& in, int dim) {
  const auto along = static_cast<std::size_t>(dim);
  Sizes out = in.at(0);
  out[along] = 0;
  for (const Sizes& operand : in) out[along] += operand[along];
  OpRule rule;
  rule.results = {add_each(rule, out)};
  rule.factors[along].kind = FactorKind::kNeedReplication;
  rule.operands.assign(in.size(), rule.results[0]);
  return rule;
}

OpRule shift_rule(const Sizes& in, const Sizes& out, const std::vector<bool>& changed) {
  PODSIM_CHECK(in.size() == out.size() && in.size() == changed.size(), "a shift keeps the rank");
  OpRule rule;
  rule.results = {add_each(rule, out)};
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (changed[i]) rule.factors[i].kind = FactorKind::kPermutation;
  }
  rule.operands = rule.results;
  return rule;
}

OpRule dynamic_slice_rule(const Sizes& in, const Sizes& out) {
  OpRule rule;
  rule.operands = {add_each(rule, in)};
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] != out[i])
      rule.factors[i] = {.size = in[i], .kind = FactorKind::kNeedReplication, .blocked = true};
  }
  rule.results = rule.operands;
  rule.rule_class = RuleClass::kSliceForward;
  return rule;
}

OpRule dynamic_update_slice_rule(const Sizes& in, const Sizes& update) {
  OpRule rule;
  rule.results = {add_each(rule, in)};
  FactorMap part = rule.results[0];
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (update[i] != in[i]) part[i] = {rule.add({update[i], FactorKind::kNeedReplication})};
  }
  rule.operands = {rule.results[0], part};
  rule.rule_class = RuleClass::kSliceForward;
  return rule;
}

OpRule gather_rule(const Sizes& table, const Sizes& indices) {
  OpRule rule;
  const FactorMap rows = {{rule.add({table.at(0), FactorKind::kReduction})}};
  const FactorMap width = add_each(rule, Sizes(table.begin() + 1, table.end()));
  const FactorMap batch = add_each(rule, indices);
  rule.operands = {joined(rows, width), batch};
  rule.results = {joined(batch, width)};
  return rule;
}

OpRule scatter_rule(const Sizes& table, const Sizes& indices, bool adds) {
  OpRule rule;
  const FactorMap whole = add_each(rule, table);
  const FactorMap width(whole.begin() + 1, whole.end());
  const FactorMap batch =
      add_each(rule, indices, adds ? FactorKind::kReduction : FactorKind::kNeedReplication);
  rule.operands = {whole, batch, joined(batch, width)};
  rule.results = {whole};
  return rule;
}

OpRule whole_dim_rule(const Sizes& dims, const std::vector<int>& whole, int results) {
  OpRule rule;
  rule.operands = {add_each(rule, dims)};
  for (int dim : whole) rule.factors[static_cast<std::size_t>(dim)].kind = FactorKind::kNeedReplication;
  rule.results.assign(static_cast<std::size_t>(results), rule.operands[0]);
  return rule;
}

}  // namespace podsim
