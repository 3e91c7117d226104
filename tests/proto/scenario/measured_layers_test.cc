// Measured layers in a scenario: units, and values that are refused.
#include <gtest/gtest.h>

#include "tests/proto/scenario.h"

namespace podsim::measured_layers_test {
namespace {

// Fields of the job follow on line 12, those of the layer on line 9.
std::string scenario(const std::string& layer, const std::string& job = "") {
  return R"(cluster {
  chip: "h100"
  chips: 64
  fabric: "dgx_h100"
}
job {
  measured_layers {
    layer { name: "block"
)" + layer +
         R"(
    }
  }
)" + job +
         R"(
  mesh { name: "data" size: 8 }
  mesh { name: "tensor" size: 8 }
  global_batch_sequences: 64
  sequence_tokens: 1
}
)";
}

TEST(MeasuredLayersFields, have_units) {
  const auto result = load(scenario(
      "count: 3 forward_us: 1.5 input_gradient_us: 2 weight_gradient_us: 3 update_us: 0.25 output_bytes: 1e6 "
      "forward_collective { kind: all_gather axis: \"tensor\" bytes: 4096 } "
      "weight_gradient_collective { kind: all_reduce axis: \"data\" bytes: 8192 }"));
  ASSERT_EQ(problems_of(result), Lines{});
  const MeasuredLayers& measured = result.spec->job.measured.value();
  EXPECT_EQ(measured.name, "measured layers");
  const MeasuredLayer& layer = measured.layers.at(0);
  EXPECT_EQ(layer.count, 3);
  EXPECT_EQ(layer.forward, Time{1'500'000});
  EXPECT_EQ(layer.input_gradient, Time{2'000'000});
  EXPECT_EQ(layer.weight_gradient, Time{3'000'000});
  EXPECT_EQ(layer.update, Time{250'000});
  EXPECT_EQ(layer.output, Bytes{1e6});
  EXPECT_EQ(layer.forward_collective.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(layer.forward_collective.axes, std::vector<std::string>{"tensor"});
  EXPECT_EQ(layer.forward_collective.bytes, Bytes{4096});
  EXPECT_EQ(layer.input_gradient_collective.bytes, Bytes{});
  EXPECT_EQ(layer.weight_gradient_collective.kind, CollectiveKind::kAllReduce);
}

TEST(MeasuredLayersFields, need_no_stack_and_take_one) {
  EXPECT_TRUE(load(scenario("forward_us: 1")).spec->job.stack.gradients_overlapped);
  EXPECT_EQ(load(scenario("forward_us: 1", "stack: \"torchtitan\"")).spec->job.stack.name, "torchtitan");
}

TEST(MeasuredLayersFields, need_no_format_of_the_chip) {
  for (const auto& [chip, fabric, format] :
       {std::tuple("t4", "t4_g4dn", Dtype::kFp16), std::tuple("v100", "v100_4gpu", Dtype::kFp16),
        std::tuple("h100", "dgx_h100", Dtype::kBf16)}) {
    const auto result = load(scenario("forward_us: 1"), {{"cluster.chip", chip}, {"cluster.fabric", fabric}});
    ASSERT_EQ(problems_of(result), Lines{}) << chip;
    EXPECT_EQ(result.spec->job.precision.dtype, format) << chip;
  }
}

TEST(MeasuredLayersFields, out_of_range_or_missing_are_told) {
  EXPECT_EQ(problems_of(scenario("count: 0 forward_us: -1 forward_collective { bytes: 5 }")),
            (Lines{"9:1 job.measured_layers.layer[0].count must be from 1 to 10,000, not 0",
                   "9:10 job.measured_layers.layer[0].forward_us must be from 0 to 10,000,000,000, not -1",
                   "9:25 job.measured_layers.layer[0].forward_collective.kind is missing | write, for "
                   "example, kind: all_reduce"}));
}

TEST(MeasuredLayersFields, name_axes_of_the_mesh) {
  EXPECT_EQ(problems_of(scenario("forward_collective { kind: all_reduce axis: \"tensr\" bytes: 5 }")),
            (Lines{"9:39 the mesh has no axis \"tensr\" | did you mean \"tensor\"?"}));
}

TEST(MeasuredLayersFields, leave_operations_without_meaning) {
  EXPECT_EQ(problems_of(scenario("forward_us: 1", "recompute: full model: \"llama3_8b\"")).size(), 2u);
}

TEST(MeasuredLayersFields, that_take_no_time_are_refused) {
  EXPECT_EQ(problems_of(scenario("count: 3")),
            (Lines{"7:3 the measured layers take no time | write, for example, "
                   "layer { name: \"block\" forward_us: 850 }"}));
  EXPECT_EQ(problems_of(scenario("weight_gradient_collective { kind: all_reduce axis: \"data\" bytes: 5 }")),
            Lines{});
}

TEST(MeasuredLayersFields, of_a_day_or_more_are_refused) {
  EXPECT_EQ(problems_of(scenario("forward_us: 1e10 count: 1000")).size(), 1u);
  EXPECT_EQ(problems_of(scenario("count: 10000 } layer { name: \"more\"")).size(), 1u) << "too many layers";
}

}  // namespace
}  // namespace podsim::measured_layers_test
