// Propagation along one operation: published cases by name, with the expected shardings as printed.
#include <gtest/gtest.h>

#include <sstream>

#include "workload/sharding/propagate.h"

namespace podsim::testing::propagation_cases_test {
namespace {

using Sizes = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

Annotation read(const Mesh& mesh, std::size_t rank, const std::string& text) {
  const ParsedAnnotation parsed = parse_annotation(mesh, rank, text);
  EXPECT_FALSE(parsed.problem) << text << ": " << parsed.problem->message;
  return parsed.annotation;
}

// "ik,kj->ij" as operands {"ik", "kj"} and results {"ij"}.
std::pair<Texts, Texts> split(const std::string& equation) {
  const auto list = [](const std::string& text) {
    Texts parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    return parts;
  };
  const std::size_t arrow = equation.find("->");
  return {list(equation.substr(0, arrow)), list(equation.substr(arrow + 2))};
}

// Equal letters in every tensor: elementwise.
OpRule rule_of_equation(const std::string& equation, const std::vector<Sizes>& dims) {
  const auto [operands, results] = split(equation);
  const auto first_result = dims.begin() + static_cast<std::ptrdiff_t>(operands.size());
  OpRule rule = einsum_rule(operands, results, {dims.begin(), first_result}, {first_result, dims.end()});
  rule.elementwise = true;
  for (const std::string& operand : operands) rule.elementwise &= operand == results[0];
  if (rule.elementwise) rule.rule_class = RuleClass::kElementwise;
  return rule;
}

// --- One operation: the published cases ---

struct Case {
  std::string name;
  std::vector<MeshAxis> mesh;
  std::string equation;  // empty = reshape
  std::vector<Sizes> dims;
  Texts shardings, expected;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class PropagationCase : public ::testing::TestWithParam<Case> {};

TEST_P(PropagationCase, gives_the_expected_shardings) {
  const Case& c = GetParam();
  const Mesh mesh{c.mesh};
  ShardedOp op{
      .name = c.name,
      .rule = c.equation.empty() ? reshape_rule(c.dims[0], c.dims[1]) : rule_of_equation(c.equation, c.dims),
      .operands = {},
      .results = {}};
  std::vector<ShardedTensor> tensors;
  for (std::size_t i = 0; i < c.dims.size(); ++i) {
    const std::size_t rank = c.dims[i].size();
    tensors.push_back({"t" + std::to_string(i), c.dims[i], read(mesh, rank, c.shardings[i])});
    (i < op.rule.operands.size() ? op.operands : op.results).push_back(static_cast<int>(i));
  }
  const Propagated result = propagate(mesh, tensors, {op});
  for (std::size_t i = 0; i < c.dims.size(); ++i) {
    EXPECT_EQ(result.annotations[i], read(mesh, c.dims[i].size(), c.expected[i]))
        << tensors[i].name << " is " << to_string(mesh, result.annotations[i]) << ", not " << c.expected[i];
    const Texts all_open = {"[{?},{?}]", "[{?}]", "unset"};
    const bool open = std::find(all_open.begin(), all_open.end(), c.expected[i]) != all_open.end();
    EXPECT_EQ(to_string(mesh, result.annotations[i]), open ? "unset" : c.expected[i]);
  }
}

const std::vector<Case> kCases = {
    {"across_factors_diff_size",
     {{"a", 2}, {"b", 2}, {"c", 2}},
     "ik,kj->ij",
     {{8, 4}, {4, 16}, {8, 16}},
     {"[{a,b},{?}]", "[{?},{a,c}]", "unset"},
     {"[{a,b},{?}]", "[{?},{a,c}]", "[{?},{a,c,?}]"}},
    {"across_factors_same_size",
     {{"a", 2}, {"b", 2}, {"c", 2}},
     "ij,ij->ij",
     {{8, 8}, {8, 8}, {8, 8}},
     {"[{a},{?}]", "[{?},{a}]", "unset"},
     {"[{a},{?}]", "[{?},{a}]", "[{a,?},{?}]"}},
    {"closed_dim",
     {{"a", 2}, {"b", 2}},
     "ik,kj->ij",
     {{8, 8}, {8, 16}, {8, 16}},
     {"[{a},{}]", "[{},{b}]", "[{},{?}]"},
     {"[{a},{}]", "[{},{b}]", "[{},{b,?}]"}},
    {"fake_conflict_c_nc",
     {{"a", 2}, {"b", 2}, {"c", 2}},
     "ik,jk->ij",
     {{256, 512}, {128, 512}, {256, 128}},
     {"[{a},{b,c}]", "[{c,b},{a}]", "unset"},
     {"[{a},{b,c}]", "[{c,b},{a}]", "[{a,?},{c,b,?}]"}},
    {"fake_conflict_closed",
     {{"a", 2}, {"b", 2}, {"c", 2}},
     "ij,ij->ij",
     {{8, 8}, {8, 8}, {8, 8}},
     {"[{a,?},{b}]", "[{},{b,c,?}]", "unset"},
     {"[{a,?},{b}]", "[{},{b,c,?}]", "[{a,?},{b,c,?}]"}},
    {"lhs_first_dot",
     {{"a", 2}, {"b", 2}},
     "ik,kj->ij",
     {{8, 8}, {8, 8}, {8, 8}},
     {"[{a},{}]", "[{},{b,a}]", "unset"},
     {"[{a},{}]", "[{},{b,a}]", "[{a,?},{b,?}]"}},
    {"most_sharded_factor",
     {{"a", 2}, {"b", 2}},
     "ij,ij->ij",
     {{8, 8}, {8, 8}, {8, 8}},
     {"[{},{a}]", "[{b,a},{}]", "unset"},
     {"[{},{a}]", "[{b,a},{}]", "[{b,a,?},{?}]"}},
    {"real_and_fake",
     {{"a", 2}, {"b", 2}, {"c", 2}},
     "ij,ij->ij",
     {{8, 8}, {8, 8}, {8, 8}},
     {"[{a,?},{?}]", "[{b,?},{a,?}]", "unset"},
     {"[{a,?},{?}]", "[{b,?},{a,?}]", "[{?},{a,?}]"}},
    {"reshape_merge_dim_only_major_most_factor_sharded",
     {{"a", 2}, {"b", 2}},
     "",
     {{2, 4}, {8}},
     {"[{a},{}]", "unset"},
     {"[{a},{}]", "[{a,?}]"}},
    {"reshape_split_dim_only_major_most_factor_sharded",
     {{"a", 2}, {"b", 2}},
     "",
     {{16}, {4, 4}},
     {"[{b,a}]", "unset"},
     {"[{b,a}]", "[{b,a,?},{?}]"}},
    {"reshape_split_dim_single_axis_shards_both_factors",
     {{"a", 4}, {"b", 2}},
     "",
     {{8}, {2, 4}},
     {"[{a}]", "unset"},
     {"[{a}]", "[{a:(1)2,?},{a:(2)2,?}]"}},
    {"sideways_closed_empty",
     {{"a", 2}, {"b", 2}},
     "i,i->i",
     {{8}, {8}, {8}},
     {"[{a}]", "unset", "[{}]"},
     {"[{a}]", "unset", "[{}]"}},
    {"sideways_open",
     {{"a", 2}, {"b", 2}},
     "i,i->i",
     {{8}, {8}, {8}},
     {"[{a,b}]", "[{?}]", "[{?}]"},
     {"[{a,b}]", "[{a,b,?}]", "[{a,b,?}]"}},
};

INSTANTIATE_TEST_SUITE_P(Published, PropagationCase, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace podsim::testing::propagation_cases_test
