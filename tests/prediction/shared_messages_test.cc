// Vectors travel in messages of matrices, which decides no sharding: no activations move for them, and a worse
// network takes longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "prediction/predict.h"
#include "tests/prediction/scenario.h"

namespace podsim::shared_messages_test {
namespace {

struct Layout {
  std::string model, stack, weights;  // the preset that shards what weights need
  int shards, tensor;
  double oversubscription = 1;
};

std::string text(const Layout& layout) {
  const std::string axis = layout.weights == "fsdp" ? "fsdp" : "data";
  std::string job = R"(cluster { chip: "h100" fabric: "dgx_h100" chips: )" +
                    std::to_string(layout.shards * layout.tensor) +
                    " oversubscription: " + std::to_string(layout.oversubscription) + R"( }
      job { model: ")" + layout.model + R"(" stack: ")" + layout.stack + R"(" mesh { name: ")" + axis +
                    R"(" size: )" + std::to_string(layout.shards) + " } ";
  if (axis == "data") job += R"(sharding: "data" )";
  job += "sharding: \"" + layout.weights + "\" ";
  if (layout.tensor > 1)
    job += R"(mesh { name: "tensor" size: )" + std::to_string(layout.tensor) +
           R"( } sharding: "megatron_sp" )";
  return job + "global_batch_sequences: " + std::to_string(layout.shards) +
         " microbatch_sequences: 1 sequence_tokens: 4096 recompute: selective }";
}

Report report_of(const Layout& layout) { return predict_step(testing::load_text(text(layout)), {}).report; }

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (const char* model : {"llama3_8b", "llama2_7b", "llama3_70b"})
    for (const char* stack : {"torchtitan", "generic_fsdp"})
      for (const auto& [shards, tensor] : std::vector<std::pair<int, int>>{{128, 1}, {512, 2}, {1536, 1}})
        all.push_back({model, stack, "fsdp", shards, tensor});
  for (const char* model : {"llama3_8b", "llama2_7b"})
    for (const int shards : {32, 128, 256}) all.push_back({model, "generic_megatron", "zero2", shards, 8});
  return all;
}

std::string name(const Layout& layout) {
  return layout.model + ", " + layout.stack + ", " + layout.weights + " " + std::to_string(layout.shards) +
         " x " + std::to_string(layout.tensor);
}
