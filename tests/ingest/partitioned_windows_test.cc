// Convolutions, sorts, gathers and scatters: what cutting each of their dimensions sends.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/partitioning/module_file.h"
#include "ingest/partitioning/module_totals.h"

namespace podsim::partitioned_windows_test {
namespace {

using partitioning::CollectiveSum;
using partitioning::TakenModule;

// Of the text's only module, on four devices along x.
TakenModule taken_from(const std::string& text) {
  std::vector<Problem> problems;
  Stated stated;
  stated.mesh = {{"x", 4}};
  auto modules = partitioning::take_modules({"m", text}, stated, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << format_problem(problem);
  EXPECT_TRUE(modules && modules->size() == 1);
  if (!modules || modules->size() != 1) return {};
  return std::move(modules->front());
}

TakenModule taken(const std::string& parameters, const std::string& root, const std::string& more = "") {
  return taken_from("HloModule m\n" + more + "ENTRY e {\n" + parameters + "  ROOT r = " + root + "\n}\n");
}

// "all-gather x1 128", one line for each kind, then what is whole.
std::string sums(const TakenModule& module) {
  std::string text = module.refused;
  for (const CollectiveSum& sum : collective_sums(module.partitioned))
    text += sum.kind + " x" + std::to_string(sum.executed) + " " + std::to_string(sum.sent_bytes) + "\n";
  for (const auto& [name, count] : module.partitioned.not_planned) text += "whole: " + name + "\n";
  return text;
}

std::string parameter(int number, const std::string& shape, const std::string& sharding) {
  const std::string name(1, static_cast<char>('a' + number));
  return "  " + name + " = " + shape + " parameter(" + std::to_string(number) + "), sharding={" + sharding +
         "}\n";
}

constexpr const char* kWhole = "replicated";

std::string convolution(const std::string& input, const std::string& kernel, const std::string& output) {
  const TakenModule module =
      taken(parameter(0, "f32[8,16,16,32]", input) + parameter(1, "f32[3,3,32,64]", kernel),
            "f32[8,16,16,64] convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
            "sharding={" +
                output + "}");
  EXPECT_EQ(product_flops(module.partitioned), 2.0 * 8 * 16 * 16 * 64 * 9 * 32 / 4);
  return sums(module);
}

TEST(PartitionedConvolution, by_batch_and_by_output_features_sends_nothing) {
  EXPECT_EQ(convolution("devices=[4,1,1,1]<=[4]", kWhole, "devices=[4,1,1,1]<=[4]"), "");
  EXPECT_EQ(convolution(kWhole, "devices=[1,1,1,4]<=[4]", "devices=[1,1,1,4]<=[4]"), "");
}

// Every device has a part of the sum over input features: [8,16,16,4] of f32, twice three quarters of it.
TEST(PartitionedConvolution, by_input_features_is_a_partial_sum) {
  EXPECT_EQ(sums(taken(parameter(0, "f32[8,16,16,256]", "devices=[1,1,1,4]<=[4]") +
                           parameter(1, "f32[3,3,256,4]", "devices=[1,1,4,1]<=[4]"),
                       "f32[8,16,16,4] convolution(a, b), window={size=3x3 pad=1_1x1_1}, "
                       "dim_labels=b01f_01io->b01f, sharding={replicated}")),
            "all-reduce x1 49152\n");
}

// One row of neighbours on each side, [8,1,16,32] of f32.
TEST(PartitionedConvolution, by_rows_brings_rows_of_neighbours) {
  EXPECT_EQ(convolution("devices=[1,4,1,1]<=[4]", kWhole, "devices=[1,4,1,1]<=[4]"),
            "collective-permute x2 32768\n");
}

TEST(PartitionedConvolution, by_rows_computes_as_many_positions_as_the_shard_has) {
  const TakenModule module =
      taken(parameter(0, "f32[1,16,16,4]", "devices=[1,4,1,1]<=[4]") + parameter(1, "f32[3,3,4,4]", kWhole),
            "f32[1,16,16,4] convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, "
            "sharding={devices=[1,4,1,1]<=[4]}");
  const auto& instructions = module.partitioned.local.entry_computation().instructions;
  bool found = false;
  for (const hlo::Instruction& each : instructions) {
    if (each.opcode != "convolution") continue;
    found = true;
    EXPECT_EQ(each.shape.dimensions, (std::vector<std::int64_t>{1, 4, 16, 4}));
    EXPECT_EQ(instructions[static_cast<std::size_t>(each.operands[0])].shape.dimensions,
              (std::vector<std::int64_t>{1, 6, 16, 4}));
    EXPECT_NE(each.attribute("window").find("pad=0_0x1_1"), std::string::npos) << each.attribute("window");
  }
  EXPECT_TRUE(found);
}

constexpr const char* kLess =
    "less {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
    "  ROOT c = pred[] compare(p, q), direction=LT\n}\n";
constexpr const char* kSum =
    "sum {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
    "  ROOT c = f32[] add(p, q)\n}\n";
constexpr const char* kLast = "last {\n  p = f32[] parameter(0)\n  ROOT q = f32[] parameter(1)\n}\n";

std::string sort(const std::string& sharding) {
  return sums(taken(parameter(0, "f32[64,32]", sharding),
                    "f32[64,32] sort(a), dimensions={1}, to_apply=less, sharding={" + sharding + "}", kLess));
}

TEST(PartitionedSort, of_rows_that_are_whole_sends_nothing) { EXPECT_EQ(sort("devices=[4,1]<=[4]"), ""); }

// To rows and back: each time three quarters of [64,8] of f32.
TEST(PartitionedSort, of_cut_rows_makes_them_whole_first) {
  EXPECT_EQ(sort("devices=[1,4]<=[4]"), "all-to-all x2 3072\n");
}

std::string gather(const std::string& table, const std::string& indices, const std::string& result) {
  return sums(
      taken(parameter(0, "f32[100,32]", table) + parameter(1, "s32[16,1]", indices),
            "f32[16,32] gather(a, b), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,32}, sharding={" +
                result + "}"));
}

TEST(PartitionedGather, by_width_or_by_indices_sends_nothing) {
  EXPECT_EQ(gather("devices=[1,4]<=[4]", kWhole, "devices=[1,4]<=[4]"), "");
  EXPECT_EQ(gather(kWhole, "devices=[4,1]<=[4]", "devices=[4,1]<=[4]"), "");
}

// Rows that a device lacks are zeros there: [16,32] of f32, twice three quarters of it.
TEST(PartitionedGather, by_rows_adds_what_each_device_has) {
  EXPECT_EQ(gather("devices=[4,1]<=[4]", kWhole, kWhole), "all-reduce x1 3072\n");
}

TEST(PartitionedGather, of_batches_in_step_with_its_indices_sends_nothing) {
  EXPECT_EQ(
      sums(taken(parameter(0, "f32[8,100,32]", "devices=[4,1,1]<=[4]") +
                     parameter(1, "s32[8,16,1]", "devices=[4,1,1]<=[4]"),
                 "f32[8,16,32] gather(a, b), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
                 "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, "
                 "slice_sizes={1,1,32}, sharding={devices=[4,1,1]<=[4]}")),
      "");
}

TEST(PartitionedGather, of_longer_pieces_has_the_dimension_whole) {
  EXPECT_EQ(sums(taken(
                parameter(0, "f32[100,32]", "devices=[4,1]<=[4]") + parameter(1, "s32[16,1]", kWhole),
                "f32[16,5,32] gather(a, b), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
                "index_vector_dim=1, slice_sizes={5,32}, sharding={replicated}")),
            "all-gather x1 9600\n");
}

std::string scatter(const std::string& table, const std::string& updates, const std::string& result,
                    const std::string& function) {
  return sums(taken(parameter(0, "f32[100,32]", table) + parameter(1, "s32[16,1]", updates) +
                        parameter(2, "f32[16,32]", updates),
                    "f32[100,32] scatter(a, b, c), update_window_dims={1}, inserted_window_dims={0}, "
                    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=" +
                        function + ", sharding={" + result + "}",
                    std::string(function == "sum" ? kSum : kLast)));
}

// The updates are smaller than the table: three quarters of [16,32] of f32 and of [16,1] of s32.
TEST(PartitionedScatter, of_few_sums_brings_the_updates_together) {
  EXPECT_EQ(scatter(kWhole, "devices=[4,1]<=[4]", kWhole, "sum"), "all-gather x2 1584\n");
}

TEST(PartitionedScatter, by_rows_of_the_table_writes_its_own_rows) {
  EXPECT_EQ(scatter("devices=[4,1]<=[4]", kWhole, "devices=[4,1]<=[4]", "sum"), "");
  EXPECT_EQ(scatter("devices=[4,1]<=[4]", kWhole, "devices=[4,1]<=[4]", "last"), "");
}

// Of updates at one place the last counts: they are brought together.
TEST(PartitionedScatter, that_overwrites_has_its_updates_whole) {
  EXPECT_EQ(scatter(kWhole, "devices=[4,1]<=[4]", kWhole, "last"), "all-gather x2 1584\n");
}

// Many updates into a small table cost more than the table.
TEST(PartitionedScatter, of_many_sums_reduces_the_table) {
  EXPECT_EQ(
      sums(taken(parameter(0, "f32[10,32]", kWhole) + parameter(1, "s32[4096,1]", "devices=[4,1]<=[4]") +
                     parameter(2, "f32[4096,32]", "devices=[4,1]<=[4]"),
                 "f32[10,32] scatter(a, b, c), update_window_dims={1}, inserted_window_dims={0}, "
                 "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum, sharding={replicated}",
                 kSum)),
      "all-reduce x1 1920\n");
}

TEST(PartitionedReduceWindow, by_rows_brings_rows_of_neighbours) {
  EXPECT_EQ(sums(taken(parameter(0, "f32[16,8]", "devices=[4,1]<=[4]") + "  z = f32[] constant(0)\n",
                       "f32[16,8] reduce-window(a, z), window={size=3x1 pad=1_1x0_0}, to_apply=sum, "
                       "sharding={devices=[4,1]<=[4]}",
                       kSum)),
            "collective-permute x2 64\n");
}

constexpr const char* kRows = "devices=[4,1]<=[4]";

std::string shift(const std::string& from, const std::string& to, const std::string& operation) {
  const bool pads = operation.starts_with("pad");
  return sums(taken(parameter(0, from, kRows) + (pads ? "  z = f32[] constant(0)\n" : ""),
                    to + " " + operation + ", sharding={" + kRows + "}"));
}

// Of 17 rows devices have five, and of the first 16 of them four: up to three come from the left. Rows 4r + 1
// to 4r + 4 of device r: one of its right neighbour, [1,8] of f32. A half of the rows lies on two
// devices and goes to four: rows 2 and 3 come from the left neighbour, as do 4 and 5, 6 and 7 from the one
// before it: two permutes of [2,8].
TEST(PartitionedSlice, brings_what_neighbours_have_of_it) {
  EXPECT_EQ(shift("f32[17,8]", "f32[16,8]", "slice(a), slice={[0:16], [0:8]}"), "collective-permute x1 96\n");
  EXPECT_EQ(shift("f32[16,8]", "f32[15,8]", "slice(a), slice={[1:16], [0:8]}"), "collective-permute x1 32\n");
  EXPECT_EQ(shift("f32[16,8]", "f32[8,8]", "slice(a), slice={[0:8], [0:8]}"), "collective-permute x2 128\n");
  EXPECT_EQ(shift("f32[16,8]", "f32[8,8]", "slice(a), slice={[0:16:2], [0:8]}"), "");
  EXPECT_EQ(shift("f32[16,8]", "f32[16,4]", "slice(a), slice={[0:16], [2:6]}"), "");
}

// Behind one row of padding device r has rows 4r - 1 to 4r + 2: one of its left neighbour. Padding between
// rows leaves them where they are; padding behind them spreads 12 rows in threes over devices of four.
TEST(PartitionedPad, brings_what_neighbours_have_of_it) {
  EXPECT_EQ(shift("f32[15,8]", "f32[16,8]", "pad(a, z), padding=1_0x0_0"), "collective-permute x1 32\n");
  EXPECT_EQ(shift("f32[16,8]", "f32[32,8]", "pad(a, z), padding=0_1_1x0_0"), "");
  EXPECT_EQ(shift("f32[16,8]", "f32[16,8]", "pad(a, z), padding=-1_1x0_0"), "collective-permute x1 32\n");
  EXPECT_EQ(shift("f32[16,8]", "f32[16,12]", "pad(a, z), padding=0_0x2_2"), "");
}

TEST(PartitionedPad, of_nothing_is_whole) {
  EXPECT_EQ(shift("f32[0,8]", "f32[4,8]", "pad(a, z), padding=2_2x0_0"), "all-gather x1 0\nwhole: pad\n");
}

std::string selection(const std::string& sources, const std::string& window) {
  const std::string greatest =
      "ge {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
      "  ROOT c = pred[] compare(p, q), direction=GE\n}\n";
  return sums(
      taken(parameter(0, "f32[16,8]", kRows) + parameter(1, sources, kRows) + "  z = f32[] constant(0)\n",
            "f32[16,8] select-and-scatter(a, b, z), window={" + window +
                "}, select=ge, scatter=sum, sharding={" + kRows + "}",
            greatest + kSum));
}

// Windows of three rows, two apart, from one row before the first: row 4r + 3 is in the window of the next
// device too, whose source [1,8] comes, and with it up to two rows of the array from either side.
TEST(PartitionedSelection, has_windows_side_by_side_and_brings_those_that_overlap) {
  EXPECT_EQ(selection("f32[8,8]", "size=2x1 stride=2x1"), "");
  EXPECT_EQ(selection("f32[8,8]", "size=3x1 stride=2x1 pad=1_0x0_0"), "collective-permute x3 160\n");
}

// The same operations as JAX writes them.
TEST(PartitionedStablehlo, has_convolutions_gathers_scatters_and_sorts) {
  const std::string cut = R"({mhlo.sharding = "{devices=[4,1]<=[4]}"})";
  const std::string text = R"(module @m {
  func.func public @main(%a: tensor<8x16x16x32xf32> {mhlo.sharding = "{devices=[4,1,1,1]<=[4]}"}, %b: tensor<3x3x32x64xf32>,
      %t: tensor<100x32xf32>, %i: tensor<16x1xi32> )" +
                           cut + R"(, %u: tensor<16x32xf32> )" + cut + R"()
      -> (tensor<8x16x16x64xf32>, tensor<16x32xf32>, tensor<100x32xf32>, tensor<16x32xf32>) {
    %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x16x16x32xf32>, tensor<3x3x32x64xf32>) -> tensor<8x16x16x64xf32>
    %1 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<100x32xf32>, tensor<16x1xi32>) -> tensor<16x32xf32>
    %2 = "stablehlo.scatter"(%t, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<100x32xf32>, tensor<16x1xi32>, tensor<16x32xf32>) -> tensor<100x32xf32>
    %3 = "stablehlo.sort"(%u) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %5 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    return %0, %1, %2, %3 : tensor<8x16x16x64xf32>, tensor<16x32xf32>, tensor<100x32xf32>, tensor<16x32xf32>
  }
}
)";
  const TakenModule module = taken_from(text);
  // Updates of the scatter are brought together: fewer bytes than the table.
  EXPECT_EQ(sums(module), "all-gather x2 1584\n");
  EXPECT_EQ(product_flops(module.partitioned), 2.0 * 8 * 16 * 16 * 64 * 9 * 32 / 4);
}

// Max-pooling and its backward pass, as JAX writes them.
TEST(PartitionedStablehlo, has_poolings_and_their_backward_passes) {
  const std::string rows = R"({mhlo.sharding = "{devices=[1,4,1,1]<=[4]}"})";
  const std::string text = R"(module @m {
  func.func public @main(%a: tensor<2x16x16x8xf32> )" +
                           rows + R"(, %s: tensor<2x8x8x8xf32> )" + rows + R"()
      -> (tensor<2x8x8x8xf32> )" +
                           rows + R"(, tensor<2x16x16x8xf32> )" + rows + R"() {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%a, %cst) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %2 = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x16x16x8xf32>, tensor<f32>) -> tensor<2x8x8x8xf32>
    %1 = "stablehlo.select_and_scatter"(%a, %s, %zero) <{padding = dense<[[0, 0], [1, 0], [1, 0], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %3 = stablehlo.compare GE, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }, {
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %4 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2x16x16x8xf32>, tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x16x16x8xf32>
    return %0, %1 : tensor<2x8x8x8xf32>, tensor<2x16x16x8xf32>
  }
}
)";
  const TakenModule module = taken_from(text);
  // Two rows of the array from either side, [2,2,16,8] of f32 each, and one of the source, [2,1,8,8].
  EXPECT_EQ(sums(module), "collective-permute x3 4608\n");
}

}  // namespace
}  // namespace podsim::partitioned_windows_test
