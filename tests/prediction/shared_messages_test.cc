// Vectors travel in messages of matrices and decide no sharding: no activations move to spare their
// reductions, so that a worse network takes longer.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"

namespace podsim::shared_messages_test {
namespace {

// A dense model whose weights, or gradients and state, lie on `shards` times `tensor` GPUs.
struct Layout {
  std::string model, stack, axis, presets;
  int shards = 1, tensor = 1;

  std::string name() const {
    return model + ", " + stack + ", " + axis + " " + std::to_string(shards) + " x " + std::to_string(tensor);
  }
};

Report report_of(const Layout& layout, double oversubscription) {
  const std::string shards = std::to_string(layout.shards), tensor = std::to_string(layout.tensor),
                    chips = std::to_string(layout.shards * layout.tensor);
  const std::string text = R"(
      cluster { chip: "h100" fabric: "dgx_h100" chips: )" +
                           chips + " oversubscription: " + std::to_string(oversubscription) + R"( }
      job {
        model: ")" + layout.model +
                           R"(" stack: ")" + layout.stack + R"("
        mesh { name: ")" + layout.axis +
                           R"(" size: )" + shards + R"( } mesh { name: "tensor" size: )" + tensor + R"( }
        )" + layout.presets +
                           R"( sharding: "megatron_sp" global_batch_sequences: )" + shards + R"(
        microbatch_sequences: 1 sequence_tokens: 4096 recompute: selective
      })";
  return predict_step(testing::load_text(text), {}).report;
}

std::vector<Layout> layouts() {
  const std::string fsdp = R"(sharding: "fsdp")", zero2 = R"(sharding: "data" sharding: "zero2")";
  std::vector<Layout> all;
  for (const char* model : {"llama3_8b", "llama2_7b"}) {
    for (const char* stack : {"torchtitan", "generic_fsdp"})
      for (const auto& [shards, tensor] : {std::pair{128, 1}, {64, 8}, {512, 2}, {1536, 1}})
        all.push_back({model, stack, "fsdp", fsdp, shards, tensor});
    for (const int shards : {32, 128}) all.push_back({model, "generic_megatron", "data", zero2, shards, 8});
  }
  all.push_back({"llama3_70b", "torchtitan", "fsdp", fsdp, 64, 8});
  return all;
}

// What tables of embeddings may do: they are no vectors.
constexpr double kTables = 1e-3;

TEST(SharedMessages, an_oversubscribed_network_takes_no_less_time) {
  for (const Layout& layout : layouts()) {
    double before = 0;
    for (const double oversubscription : {1.0, 1.5, 2.0, 4.0}) {
      const double step = report_of(layout, oversubscription).step_time.in_seconds();
      EXPECT_GE(step * (1 + kTables), before) << layout.name() << ", " << oversubscription;
      before = step;
    }
  }
}

TEST(SharedMessages, nothing_is_exchanged_along_the_axis_of_shards) {
  for (const Layout& layout : layouts())
    for (const std::string& collective : report_of(layout, 1).algorithms)
      EXPECT_FALSE(collective.starts_with(layout.axis + " all-to-all"))
          << layout.name() << ": " << collective;
}

}  // namespace
}  // namespace podsim::shared_messages_test
