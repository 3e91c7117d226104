// Regions of conditionals and loops that use values from around them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "ingest/hlo/parse.h"
#include "ingest/partitioning/import_modules.h"
#include "ingest/partitioning/module_file.h"
#include "ingest/partitioning/module_totals.h"
#include "ingest/stablehlo/lower.h"

namespace podsim::partitioned_regions_test {
namespace {

using partitioning::TakenModule;

TakenModule taken(const std::string& text) {
  std::vector<Problem> problems;
  auto modules = partitioning::take_modules({"m", text}, {}, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  return modules ? std::move(modules->front()) : TakenModule{};
}

std::string sums(const TakenModule& module) {
  std::string text = module.refused;
  for (const partitioning::CollectiveSum& sum : collective_sums(module.partitioned))
    text += sum.kind + " " + sum.axes + " (" + std::to_string(sum.group) + ") x" +
            std::to_string(sum.executed) + " " + std::to_string(sum.sent_bytes) + "\n";
  return text;
}

std::string module_of_4(const std::string& body) {
  return "module @m attributes {mhlo.num_partitions = 4 : i32} {\n  sdy.mesh @mesh = <[\"x\"=4]>\n"
         "  func.func public @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, "
         "{}]>}, "
         "%p: tensor<i32>, %q: tensor<i1>, %n: tensor<i32>) -> tensor<64x64xf32> {\n" +
         body + "  }\n}\n";
}

const std::string kType = "tensor<64x64xf32>";

std::string product(const std::string& result, const std::string& left, const std::string& right) {
  return "    " + result + " = stablehlo.dot_general " + left + ", " + right +
         ", contracting_dims = [1] x [0] : (" + kType + ", " + kType + ") -> " + kType + "\n";
}

std::string given_back(const std::string& value) {
  return "    stablehlo.return " + value + " : " + kType + "\n";
}

constexpr double kProduct = 2.0 * 64 * 64 * 64;

// 64 x 64 of f32, of which a device has a quarter: three more.
TEST(PartitionedRegions, what_a_branch_takes_from_around_it_is_gathered_once) {
  const TakenModule cases = taken(module_of_4(
      "    %0 = \"stablehlo.case\"(%p) ({\n" + product("%1", "%a", "%a") + given_back("%1") + "    }, {\n" +
      given_back("%a") + "    }) : (tensor<i32>) -> " + kType + "\n    return %0 : " + kType + "\n"));
  EXPECT_EQ(sums(cases), "all-gather x (4) x1 12288\n");
  EXPECT_EQ(product_flops(cases.partitioned), kProduct);
  EXPECT_EQ(cases.partitioned.not_planned, (std::map<std::string, std::int64_t>{{"conditional", 1}}));
  const TakenModule either = taken(module_of_4(
      "    %c = stablehlo.constant dense<1.0> : " + kType + "\n    %0:2 = \"stablehlo.if\"(%q) ({\n" +
      product("%1", "%a", "%c") + "    stablehlo.return %1, %1 : " + kType + ", " + kType + "\n    }, {\n" +
      "    stablehlo.return %c, %c : " + kType + ", " + kType + "\n    }) : (tensor<i1>) -> (" + kType +
      ", " + kType + ")\n    return %0#1 : " + kType + "\n"));
  EXPECT_EQ(sums(either), "all-gather x (4) x1 12288\n");
  EXPECT_EQ(product_flops(either.partitioned), kProduct);
}

// As cost analysis has it.
TEST(PartitionedRegions, of_a_conditional_the_branch_that_costs_most_counts) {
  const std::string branches = "    %0 = \"stablehlo.case\"(%p) ({\n" + product("%1", "%a", "%a") +
                               given_back("%1") + "    }, {\n" + product("%1", "%a", "%a") +
                               product("%2", "%1", "%a") + given_back("%2") + "    }) : (tensor<i32>) -> " +
                               kType + "\n    return %0 : " + kType + "\n";
  EXPECT_EQ(product_flops(taken(module_of_4(branches)).partitioned), 2 * kProduct);
  const std::string product_of_x = "f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const TakenModule compiled = taken(
      "HloModule m, num_partitions=4\none {\n  x = f32[64,64] parameter(0)\n  ROOT y = " + product_of_x +
      "\n}\ntwo {\n  x = f32[64,64] parameter(0)\n  y = " + product_of_x +
      "\n  ROOT z = f32[64,64] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
      "ENTRY e {\n  x = f32[64,64] parameter(0)\n  i = s32[] parameter(1)\n"
      "  ROOT c = f32[64,64] conditional(i, x, x), branch_computations={one, two}\n}\n");
  EXPECT_TRUE(compiled.compiled);
  EXPECT_EQ(product_flops(compiled.partitioned), 2 * kProduct);
}

std::string loop(const std::string& limit, const std::string& body) {
  return "    %c = stablehlo.constant dense<0> : tensor<i32>\n    %c_1 = stablehlo.constant dense<1> : "
         "tensor<i32>\n    %c_5 = stablehlo.constant dense<5> : tensor<i32>\n"
         "    %0:2 = stablehlo.while(%i = %c, %y = %a) : tensor<i32>, " +
         kType + "\n    cond {\n    %1 = stablehlo.compare  LT, %i, " + limit +
         ",  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return %1 : tensor<i1>\n    } "
         "do {\n" +
         body + "    %3 = stablehlo.add %i, %c_1 : tensor<i32>\n    stablehlo.return %3, %2 : tensor<i32>, " +
         kType + "\n    }\n    return %0#1 : " + kType + "\n";
}

// The left operand stays cut by rows; the right one is gathered.
TEST(PartitionedRegions, what_a_loop_takes_from_around_it_is_carried_unchanged) {
  const TakenModule module = taken(module_of_4(loop("%c_5", product("%2", "%y", "%a"))));
  EXPECT_EQ(module.refused, "");
  EXPECT_EQ(product_flops(module.partitioned), 5 * kProduct / 4);
  // The same loop that is given its operand as an element.
  const std::string given =
      "    %c = stablehlo.constant dense<0> : tensor<i32>\n    %0:3 = stablehlo.while(%i = %c, %y = %a, %w = "
      "%a) : "
      "tensor<i32>, " +
      kType + ", " + kType +
      "\n    cond {\n    %c_5 = stablehlo.constant dense<5> : tensor<i32>\n    %1 = stablehlo.compare  LT, "
      "%i, "
      "%c_5,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return %1 : tensor<i1>\n    } "
      "do {\n" +
      product("%2", "%y", "%w") +
      "    %c_1 = stablehlo.constant dense<1> : tensor<i32>\n    %3 = stablehlo.add %i, %c_1 : tensor<i32>\n"
      "    stablehlo.return %3, %2, %w : tensor<i32>, " +
      kType + ", " + kType + "\n    }\n    return %0#1 : " + kType + "\n";
  EXPECT_EQ(sums(module), sums(taken(module_of_4(given))));
}

TEST(PartitionedRegions, nested_ones_and_conditions_take_values_from_all_around) {
  const std::string inner = "    %2 = \"stablehlo.case\"(%p) ({\n" + product("%4", "%y", "%a") +
                            given_back("%4") + "    }, {\n" + given_back("%a") +
                            "    }) : (tensor<i32>) -> " + kType + "\n";
  std::vector<Problem> problems;
  const auto lowered = stablehlo::lower_modules("m", module_of_4(loop("%n", inner)), problems);
  ASSERT_TRUE(lowered);
  ASSERT_EQ(lowered->front().refused, "");
  const auto modules = hlo::parse_modules("m", lowered->front().hlo, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem) << lowered->front().hlo;
  ASSERT_TRUE(modules);
  EXPECT_EQ(taken(module_of_4(loop("%n", inner))).refused, "");
}

TEST(PartitionedRegions, that_use_values_of_each_other_are_refused_at_their_place) {
  std::vector<Problem> problems;
  const auto explained = explain_modules(
      {"m", module_of_4("    %0 = \"stablehlo.case\"(%p) ({\n" + product("%1", "%a", "%a") +
                        given_back("%1") + "    }, {\n" + given_back("%1") + "    }) : (tensor<i32>) -> " +
                        kType + "\n    return %0 : " + kType + "\n")},
      {}, "", problems);
  EXPECT_FALSE(explained);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "value %1 is not in sight: it is of another region");
  EXPECT_EQ(problems[0].line, 8);
  EXPECT_EQ(problems[0].column, 5);
}

}  // namespace
}  // namespace podsim::partitioned_regions_test
