// size: rest: a mesh axis that takes the chips which the others leave.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "proto/scenario.pb.h"
#include "tests/proto/scenario.h"

namespace podsim::mesh_rest_test {
namespace {

std::string with_rest() { return valid_but("size: 128 }", "size: rest }"); }

int fsdp_size(const LoadResult& result) {
  EXPECT_EQ(problems_of(result), Lines{});
  return result.spec ? result.spec->job.mesh.axes[0].size : 0;
}

schema::Scenario message() {
  schema::Scenario scenario;
  scenario.mutable_cluster()->set_chip("h100");
  scenario.mutable_cluster()->set_chips(512);
  scenario.mutable_cluster()->set_fabric("dgx_h100");
  auto& job = *scenario.mutable_job();
  job.set_model("llama3_70b");
  job.set_stack("torchtitan");
  job.add_mesh()->set_name("fsdp");
  job.mutable_mesh(0)->set_size(schema::MeshAxis::rest);
  job.add_mesh()->set_name("tensor");
  job.mutable_mesh(1)->set_size(schema::MeshAxis::Size(8));
  job.add_sharding("fsdp");
  job.add_sharding("megatron_sp");
  job.set_global_batch_sequences(512);
  job.set_sequence_tokens(8192);
  return scenario;
}

TEST(MeshRest, is_chips_over_the_product_of_the_other_axes) {
  EXPECT_EQ(fsdp_size(load(with_rest())), 128);
  EXPECT_EQ(fsdp_size(load(replaced(with_rest(), "size: 4 }", "size: 8 }"))), 64);
  EXPECT_EQ(fsdp_size(load(with_rest(), {{"cluster.chips", "4"}})), 1);
}

TEST(MeshRest, is_the_same_in_text_json_and_binary) {
  std::string json;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message(), &json).ok());
  EXPECT_NE(json.find("\"rest\""), std::string::npos) << json;
  EXPECT_EQ(fsdp_size(load(json, {}, "job.json")), 64);
  EXPECT_EQ(fsdp_size(load(message().SerializeAsString(), {}, "job.pb")), 64);
  EXPECT_EQ(fsdp_size(load(message().DebugString())), 64);
}

TEST(MeshRest, follows_the_chips_that_the_command_line_sets) {
  EXPECT_EQ(fsdp_size(load(with_rest(), {{"cluster.chips", "1024"}})), 256);
}

TEST(MeshRest, of_a_torus_counts_the_chips_of_its_shape) {
  const std::string torus =
      replaced(replaced(with_rest(), "chip: \"h100\"\n  chips: 512\n  fabric: \"dgx_h100\"",
                        "chip: \"tpu_v5p\"\n  slice_shape: [4, 8, 8]\n  fabric: \"v5p_pod\""),
               "\"megatron_bridge_2025\"", "\"maxtext_2025\"");
  EXPECT_EQ(fsdp_size(load(torus)), 64);
}

TEST(MeshRest, is_refused_where_the_others_do_not_divide_the_chips) {
  EXPECT_EQ(
      problems_of(replaced(with_rest(), "size: 4 }", "size: 3 }")),
      Lines{"10:23 job.mesh[0].size: mesh axis \"fsdp\" cannot take the rest of 512 chips: the other axes "
            "make 3 devices | make their product a divisor of 512"});
}

TEST(MeshRest, is_said_by_one_axis) {
  EXPECT_EQ(
      problems_of(replaced(with_rest(), "size: 4 }", "size: rest }")),
      Lines{"11:25 mesh axes \"fsdp\" and \"tensor\" both take the rest of the chips | one of them needs a "
            "number"});
}

TEST(MeshRest, is_a_word_of_this_field_alone) {
  EXPECT_EQ(problems_of(valid_but("chips: 512", "chips: rest")),
            Lines{"4:10 cluster.chips must be a whole number, not rest"});
  EXPECT_EQ(problems_of(with_rest(), {{"job.mesh.tensor.size", "0"}}),
            Lines{"--set job.mesh[1].size must be from 1 to 16,777,216, not 0"});
}

TEST(MeshRest, says_nothing_more_where_the_chips_are_wrong) {
  EXPECT_EQ(problems_of(replaced(with_rest(), "chips: 512", "chips: -512")),
            Lines{"4:3 cluster.chips must be from 1 to 16,777,216, not -512"});
}

}  // namespace
}  // namespace podsim::mesh_rest_test
