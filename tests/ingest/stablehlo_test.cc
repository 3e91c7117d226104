// StableHLO modules: products through calls and manual regions, annotations, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/stablehlo/import_stablehlo.h"
#include "ingest/stablehlo/read_modules.h"
#include "proto/text/read_file.h"

namespace podsim::stablehlo_test {
namespace {

using stablehlo::Module;

std::vector<Module> modules_in(const std::string& text) {
  std::vector<Problem> problems;
  const auto modules = stablehlo::read_modules("m.mlir", text, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  return modules.value_or(std::vector<Module>{});
}

// Modules that are kept for the reader, too.
std::vector<Module> kept(const std::string& file) {
  std::vector<Problem> problems;
  return modules_in(
      read_file(PODSIM_SOURCE_DIR "/tests/fuzz/corpus/stablehlo_modules/" + file, problems).value_or(""));
}

std::string refusal_of(const std::string& text) {
  std::vector<Problem> problems;
  if (stablehlo::read_modules("m.mlir", text, problems)) return "";
  const Problem& first = problems.front();
  return std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message +
         (first.hint.empty() ? "" : " (" + first.hint + ")");
}

std::string body(const std::string& lines) {
  return "module {\n  func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {\n" +
         lines + "  }\n}\n";
}

// Outside of the manual region a product is that of all devices, inside that of one.
TEST(StableHlo, has_products_of_the_types_as_written_in_and_out_of_manual_regions) {
  const std::vector<Module> modules = kept("shardy.mlir");
  ASSERT_EQ(modules.size(), 1u);
  const Module& module = modules.front();
  const stablehlo::Work work = work_of(module, "main");
  EXPECT_EQ(work.dots, 2);
  EXPECT_EQ(work.dot_flops, 2 * 16 * 64 * 256 + 2 * 8 * 64 * 64);
  EXPECT_EQ(module.partitions, 8);
  ASSERT_EQ(module.meshes.size(), 1u);
  EXPECT_EQ(module.meshes[0].second, (stablehlo::Mesh{{"data", 2}, {"model", 4}}));
  EXPECT_EQ(module.shardy_shardings, 2);
  EXPECT_EQ(module.sharded_arguments, 2);
  EXPECT_EQ(module.constraints, 1);
  EXPECT_EQ(module.manual_regions, 1);
  EXPECT_EQ(module.collectives.at("stablehlo.all_reduce"), 1);
}

// As text of attributes, where a compiler that knows no Shardy passes them on.
TEST(StableHlo, has_the_meshes_and_shardings_that_attributes_hide) {
  const std::vector<Module> modules = modules_in(R"(module attributes {mhlo.frontend_attributes = {
  xla.sdy.meshes = "{none = #sdy.mesh<[]>, mesh = #sdy.mesh<[\22x\22=2, \22y\22=16]>}"}} {
  func.func @main(%a: tensor<4xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}}) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)");
  ASSERT_EQ(modules.size(), 1u);
  ASSERT_EQ(modules[0].meshes.size(), 2u);
  EXPECT_EQ(modules[0].meshes[0], std::pair(std::string("none"), stablehlo::Mesh{}));
  EXPECT_EQ(modules[0].meshes[1], std::pair(std::string("mesh"), stablehlo::Mesh{{"x", 2}, {"y", 16}}));
  EXPECT_EQ(modules[0].shardy_shardings, 2);
  EXPECT_EQ(modules[0].sharded_arguments, 1);
}

TEST(StableHlo, has_a_mesh_once_that_is_said_twice) {
  const std::vector<Module> modules = modules_in(R"(module attributes {mhlo.frontend_attributes = {
  xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2]>}"}} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}
)");
  EXPECT_EQ(modules.at(0).meshes.size(), 1u);
}

TEST(StableHlo, counts_a_function_as_often_as_it_is_called) {
  const std::vector<Module> modules = kept("gspmd.mlir");
  ASSERT_EQ(modules.size(), 1u);
  const stablehlo::Work work = work_of(modules[0], "main");
  EXPECT_EQ(work.dots, 2);
  EXPECT_EQ(work.dot_flops, 2 * (2 * 64 * 64 * 2));
  EXPECT_EQ(modules[0].gspmd_shardings.at("{devices=[8,1]<=[8]}"), 3);
  EXPECT_EQ(modules[0].gspmd_shardings.at("{manual}"), 1);
  EXPECT_EQ(modules[0].constraints, 1);
  EXPECT_EQ(modules[0].manual_regions, 1);
}

TEST(StableHlo, counts_loops_once_and_splits_modules_of_one_file) {
  const std::vector<Module> modules = kept("loop.mlir");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(work_of(modules[0], "main").dots, 1);
  EXPECT_EQ(modules[0].operations.at("stablehlo.while"), 1);
  EXPECT_TRUE(modules[0].name.empty());
  EXPECT_EQ(modules[1].name, "empty_of_products");
}

TEST(StableHlo, words_in_comments_and_strings_are_no_operations) {
  const std::vector<Module> modules = modules_in(body(
      "    // stablehlo.all_reduce\n    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
      "(tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> loc(\"stablehlo.all_gather\")\n    return %0 : "
      "tensor<4x2xf32>\n"));
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_TRUE(modules[0].collectives.empty());
  EXPECT_EQ(modules[0].operations.at("stablehlo.dot_general"), 1);
}

TEST(StableHlo, is_refused_with_line_and_column) {
  EXPECT_EQ(refusal_of(body("    return %c : tensor<4x2xf32>\n")),
            "3:12: value %c is not defined in function @main");
  EXPECT_EQ(refusal_of(body("    %0 = stablehlo.negate %a : tensor<4x8xf33>\n")),
            "3:39: unknown element type \"f33\" (did you mean \"f32\"?)");
  EXPECT_EQ(refusal_of(body("    %0 = call @rely(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n")),
            "3:10: function @rely is not defined");
  EXPECT_EQ(refusal_of(body("    %0 = call @main(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n")),
            "3:10: function @main calls itself");
  EXPECT_EQ(refusal_of(body(
                "    %0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<4x8xf32>, "
                "tensor<8x2xf32>) -> tensor<4x2xf32>\n")),
            "3:10: a product has no dimension 2 to contract");
  EXPECT_EQ(refusal_of("module {\n  func.func @main() {\n"), "2:21: the text ends before this { is closed");
  EXPECT_EQ(refusal_of("module {\n  func.func @main() {\n  ]\n}\n}\n"),
            "3:3: ] stands where } should close what line 2 opens");
  EXPECT_EQ(refusal_of("module @m {\n}\n"),
            "1:1: there is no function (module { func.func @main(...) { ... } })");
}

TEST(StableHlo, with_types_that_do_not_follow_from_each_other_is_refused_at_the_operation) {
  const auto refused = [](const std::string& operation) {
    return refusal_of(
        "func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %z: tensor<f32>) {\n  %0 = " + operation +
        "\n  return\n}\n");
  };
  const std::string of_both = " : (tensor<4x8xf32>, tensor<8x2xf32>) -> ", of_a = " : (tensor<4x8xf32>) -> ";
  const std::string wide =
      "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1]";
  EXPECT_EQ(refused(wide + of_both + "tensor<4xf32>"),
            "2:8: stablehlo.dot_general gives f32[4], but f32[4,8] and f32[8,2] do not agree in what is "
            "contracted");
  EXPECT_EQ(refused("stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [0]" +
                    of_both + "tensor<4x2xf32>"),
            "2:8: stablehlo.dot_general gives f32[4,2], but f32[4,8] and f32[8,2] do not agree in what is a "
            "batch");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]" + of_both + "tensor<4x3xf32>",
       "make it f32[4,2]"},
      {"stablehlo.dot %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>", "contracted"},
      {"stablehlo.reshape %a" + of_a + "tensor<31xf32>", "as many elements as f32[4,8]"},
      {"stablehlo.transpose %a, dims = [1, 0]" + of_a + "tensor<4x8xf32>", "make it f32[8,4]"},
      {"stablehlo.concatenate %a, %b, dim = 1" + of_both + "tensor<4x10xf32>", "differ beside dimension 1"},
      {"stablehlo.broadcast_in_dim %a, dims = [0, 2]" + of_a + "tensor<4x2x9xf32>", "is no part of"},
      {"stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, "
       "tensor<f32>) -> tensor<8xf32>",
       "make it f32[4]"},
      {"stablehlo.slice %a [0:2, 0:9]" + of_a + "tensor<2x9xf32>", "no elements 0 to 9"},
      {"stablehlo.convert %a" + of_a + "tensor<4x9xbf16>", "make it bf16[4,8]"},
      {"stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[o, i]->[b, f], window = {} {batch_group_count = "
       "1 : "
       "i64, feature_group_count = 1 : i64}" +
           of_both + "tensor<4x8xf32>",
       "takes 2 of 8 features"},
      {"\"stablehlo.all_gather\"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : "
       "tensor<1x2xi64>}> : (tensor<8x2xf32>) -> tensor<8x2xf32>",
       "groups of 2 make it f32[16,2]"}};
  for (const auto& [operation, message] : wrong) {
    const std::string problem = refused(operation);
    EXPECT_NE(problem.find(message), std::string::npos) << operation << ": " << problem;
  }
  for (const char* right :
       {"stablehlo.dot %z, %a : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>",
        "stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<4x1xf32>) -> tensor<4x2x9xf32>",
        "stablehlo.reshape %a : (tensor<?x8xf32>) -> tensor<31xf32>",
        "\"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}> "
        "({\n"
        "  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    %s = stablehlo.add %x, %y : tensor<f32>\n"
        "    stablehlo.return %s : tensor<f32>\n  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>"})
    EXPECT_EQ(refused(right), "") << right;
}

TEST(StableHlo, counts_of_a_conditional_the_branch_with_most_products) {
  const std::vector<Module> modules = modules_in(R"(module {
  func.func public @main(%p: tensor<i32>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = "stablehlo.case"(%p) ({
      %1 = stablehlo.dot %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %1 : tensor<4x4xf32>
    }, {
      %1 = func.call @twice(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %1 : tensor<4x4xf32>
    }) : (tensor<i32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  func.func private @twice(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.dot %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}
)");
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(work_of(modules[0], "main").dots, 2);
  EXPECT_EQ(work_of(modules[0], "main").dot_flops, 2 * 2 * 4 * 4 * 4);
}

// Its FLOPs cannot be told: a 1 in place of the size would look right.
TEST(StableHlo, with_a_product_of_open_size_is_refused) {
  std::vector<Problem> problems;
  const std::string text =
      "func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x8xf32>) -> tensor<?x8xf32> {\n"
      "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x4xf32>, "
      "tensor<4x8xf32>) -> "
      "tensor<?x8xf32>\n  return %0 : tensor<?x8xf32>\n}\n";
  EXPECT_FALSE(import_stablehlo({{"m.mlir", text}}, {}, problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].line, 2);
  EXPECT_EQ(problems[0].message, "a product of no stated size");
}

TEST(Stablehlo, that_ends_behind_a_separator_of_modules_is_doubted) {
  const std::string module =
      "module @m {\n  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
      "    return %a : tensor<8xf32>\n  }\n}\n";
  const auto notes = [](const std::string& text) {
    std::vector<Problem> problems;
    const auto imported = import_stablehlo({{"m.mlir", text}}, {}, problems);
    EXPECT_TRUE(imported);
    return imported ? imported->notes.size() : 9;
  };
  EXPECT_EQ(notes(module), 0u);
  EXPECT_EQ(notes(module + "// -----\n// next\n" + module + "// the end\n"), 0u);
  EXPECT_EQ(notes(module + "// -----\n\n// the nex"), 1u);
  EXPECT_EQ(notes(module + "// -----"), 1u);
}

}  // namespace
}  // namespace podsim::stablehlo_test
