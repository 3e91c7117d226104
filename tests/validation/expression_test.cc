// Arithmetic over figures.
#include "validation/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace podsim::expression_test {
namespace {

const std::map<std::string, double> kFigures = {
    {"a", 2}, {"list[0].b", 3}, {"rows[size=8,kind=x y].c", 5}, {"t.\"forward-compute\"", 7}, {"[1].S", 11}};

Evaluated evaluated(const std::string& text) {
  return evaluate(text, [](const std::string& name) {
    const auto found = kFigures.find(name);
    return found == kFigures.end() ? Evaluated{std::nullopt, "no " + name} : Evaluated{found->second, ""};
  });
}

TEST(Expression, follows_the_order_of_operations) {
  const std::map<std::string, double> cases = {
      {"1 + 2 * 3", 7},   {"(1 + 2) * 3", 9}, {"8 - 2 - 1", 5},  {"8 / 2 / 2", 2},
      {"2 ^ 3 ^ 2", 512}, {"-2 ^ 2", -4},     {"2 ^ -1", 0.5},   {"1e-3*1e3", 1},
      {"--1", 1},         {".5", 0.5},        {"min(3, 2)", 2},  {"max(1, 1 + 1)", 2},
      {"sqrt(16)", 4},    {"abs(-3)", 3},     {"floor(2.7)", 2}, {"exp(log(5)) / 5", 1}};
  for (const auto& [text, value] : cases) EXPECT_DOUBLE_EQ(evaluated(text).value.value(), value) << text;
}

TEST(Expression, reads_figures_with_brackets_and_quotes) {
  EXPECT_EQ(evaluated("a * list[0].b").value, 6);
  EXPECT_EQ(evaluated("rows[size=8,kind=x y].c - 1").value, 4);
  EXPECT_EQ(evaluated("t.\"forward-compute\" / [1].S").value, 7.0 / 11);
}

TEST(Expression, tells_what_is_wrong) {
  const std::map<std::string, std::string> cases = {
      {"", "\"\" ends where a number or figure should be"},
      {"1 +", "\"1 +\" ends where a number or figure should be"},
      {"2 3", "\"3\" is left over"},
      {"(1", "\"(1\" lacks a closing parenthesis"},
      {"gone", "no gone"},
      {"list[0", "\"list[0\" is not closed"},
      {"*2", "\"*2\" is neither a number nor a figure"},
      {"1 / 0", "\"1 / 0\" is not a finite number"},
      {"sin(1)",
       "there is no function sin of 1 numbers; there are abs, sqrt, exp, log and floor of one, min "
       "and max of two"}};
  for (const auto& [text, problem] : cases) {
    EXPECT_FALSE(evaluated(text).value.has_value()) << text;
    EXPECT_EQ(evaluated(text).problem, problem);
  }
  EXPECT_FALSE(evaluated(std::string(100'000, '(')).value.has_value());
}

}  // namespace
}  // namespace podsim::expression_test
