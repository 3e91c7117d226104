// Memory of the four models of Korthikanti et al. (arXiv 2205.05198) against the formulas of the paper, with
// no error: section 4.1 (a layer alone), 4.2 (tensor and sequence parallel), 4.3 (pipelines), 5 (selective).
#include <gtest/gtest.h>

#include "scenario.h"
#include "workload/job/job.h"
#include "workload/job/model.h"
#include "workload/partition/program.h"

namespace podsim::testing::korthikanti_test {
namespace {

struct Published {
  std::string scenario;
  double t, p, m;  // tensor and pipeline parallel sizes, chunks per stage
};

class Korthikanti : public ::testing::TestWithParam<Published> {
 protected:
  Job job(const std::string& sharding, const std::string& recompute) const {
    return load("validation/" + GetParam().scenario,
                {{"job.sharding", sharding}, {"job.recompute", recompute}})
        .job;
  }
  StepProgram program(const std::string& sharding, const std::string& recompute) const {
    return partition(job(sharding, recompute));
  }

  // Sizes in the letters of the paper.
  const Job published = job("megatron_sp", "none");
  const double s = published.sequence, b = published.microbatch, h = published.model.d_model,
               a = published.model.heads, layers = published.model.layers, v = published.model.vocabulary;
  const double t = GetParam().t, p = GetParam().p, m = GetParam().m;
};

double kept(const StepProgram& program, const std::string& name) {
  double bytes = 0;
  for (const Part& part : program.parts) {
    if (part.name != name) continue;
    for (const KeptActivation& tensor : part.kept) bytes += tensor.bytes.value;
  }
  return bytes;
}

TEST_P(Korthikanti, state_is_eighteen_bytes_per_parameter_over_tensor_and_pipeline) {
  const StepProgram program = this->program("megatron_sp", "none");
  double bytes = 0;
  for (const MemoryUse& stage : program.memory)
    bytes += t * (stage.weights + stage.gradients + stage.optimizer).value;
  // What the formula leaves out: every tensor rank has norms, biases after row-parallel matmuls and positions
  // as a whole, and the last of several stages has the tied table again.
  const double replicated = 6 * h * layers + 2 * h + published.model.learned_positions * h;
  const double second_table = p > 1 ? v * h : 0;
  bytes -= 18 * ((t - 1) * replicated + second_table);
  EXPECT_EQ(bytes / (t * p), 18 * program.parameters / (t * p));
}

TEST_P(Korthikanti, activations_of_a_layer_with_tensor_parallelism) {
  EXPECT_EQ(kept(program("megatron", "none"), "layer"), s * b / t * (10 * t * h + 24 * h + 5 * a * s));
}

TEST_P(Korthikanti, activations_of_a_layer_with_sequence_parallelism_too) {
  EXPECT_EQ(kept(program("megatron_sp", "none"), "layer"), s * b / t * (34 * h + 5 * a * s));
}

TEST_P(Korthikanti, activations_of_a_layer_with_selective_recompute_too) {
  EXPECT_EQ(kept(program("megatron_sp", "selective"), "layer"), 34 * s * b * h / t);
}

TEST_P(Korthikanti, activations_of_a_layer_with_full_recompute) {
  EXPECT_EQ(kept(program("megatron", "full"), "layer"), 2 * s * b * h);
  EXPECT_EQ(kept(program("megatron_sp", "full"), "layer"), 2 * s * b * h / t);
}

// The first stage holds as many microbatches as there are stages; interleaving adds (p - 1) / m of one layer
// each. Beside the formula stand the masks of the embedding, as many as its chunk has microbatches in flight,
// and on a lone stage what the head keeps.
TEST_P(Korthikanti, activations_of_the_first_stage) {
  for (const std::string recompute : {"none", "selective"}) {
    const StepProgram program = this->program("megatron_sp", recompute);
    const double scores = recompute == "none" ? 5 * a * s : 0;
    const double masks = kept(program, "embedding") * (m > 1 ? 2 * p : p);
    const double head = p > 1 ? 0 : kept(program, "head");
    // While one layer is in backward, its scores are there again.
    const double again = recompute == "none" ? 0 : s * b / t * 5 * a * s;
    EXPECT_EQ(program.memory[0].activations.value - masks - head - again,
              s * b / t * (34 * h + scores) * layers / (p * m) * (p * m + (m > 1 ? p - 1 : 0)));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Korthikanti,
                         ::testing::Values(Published{"g023_korthikanti_22b_8_a100", 8, 1, 1},
                                           Published{"g025_korthikanti_175b_64_a100", 8, 8, 3},
                                           Published{"g028_korthikanti_530b_280_a100", 8, 35, 3},
                                           Published{"g030_korthikanti_1t_512_a100", 8, 64, 1}),
                         [](const auto& model) { return model.param.scenario.substr(0, 4); });

}  // namespace
}  // namespace podsim::testing::korthikanti_test
