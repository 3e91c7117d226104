// Mutated scenarios never crash the loader, and whatever loads keeps what the later stages rely on.
#include <gtest/gtest.h>

#include "engine/random.h"
#include "scheduler/placement/subcluster.h"
#include "scheduler/question/spec.h"
#include "tests/proto/scenario/program_scenario.h"
#include "tests/rounds.h"
#include "topology/fabric.h"
#include "workload/partition/job_validity.h"

namespace podsim::fuzz_test {
namespace {

constexpr std::uint64_t kSeed = 20'260'101;
// What sanitizers find is looked for by tests/fuzz too.
constexpr int kInputs = testing::rounds(20'000, 4);

const Lines& originals() {
  static const Lines texts = {
      valid_scenario(),
      R"(name: "tpu" seed: 7 steps: 3
cluster { chip: "tpu_v5p" fabric: "v5p_pod" slice_shape: [4, 4, 8] slices: 2 twisted: true oversubscription: 2
          chip_override { hbm_capacity_gib: 100 matmul { dtype: bf16 peak_tflops: 459 sustained: 0.7 } } }
job { model: "palm_8b" stack: "maxtext_2025" model_override { layers: 16 }
      mesh { name: "data" size: 2 } mesh { name: "fsdp" size: 32 } mesh { name: "tensor" size: 4 torus_dimension: 0 }
      sharding: "fsdp" sharding: "data" rule { dimension: "ffn" axis: "tensor" } rule { dimension: "param_ffn" axis: "tensor" }
      global_batch_sequences: 256 microbatch_sequences: 2 sequence_tokens: 2048 precision: bf16 recompute: full }
adversity { slow_chip { chip: 3 speed_fraction: 0.5 } slow_link { chip: 9 kind: "ici" speed_fraction: 0.25 }
            jitter_coefficient_of_variation: 0.01
            slow { which { kind: "host" index: 3 random_fraction: 0.5 together: "cube" } speed_fraction: 0.5
                   when { window { from_s: 1 to_s: 2 } repeat_every_s: 9 on_off { share: 0.5 slot_s: 1 } } }
            slow { which { kind: "chip" indices { first: 40 last: 50 } stage: 0 } compose: multiply
                   speed { shape: normal mean: 0.9 coefficient_of_variation: 0.1 } }
            nic_flap { which { kind: "ici" index: 3 } at_s: 1 down_s: 2 library_timeout_s: 3 } }
)",
      R"({"cluster": {"chip": "h100", "chips": 128, "fabric": "dgx_h100", "priceTerm": "spot"},
"job": {"model": "llama3_8b", "stack": "torchtitan", "mesh": [{"name": "pipeline", "size": 4}, {"name": "fsdp", "size": 32}],
"sharding": ["fsdp"], "pipeline": {"schedule": "interleaved", "chunks_per_stage": 2}, "microbatch_sequences": 1,
"global_batch_sequences": 256, "sequence_tokens": 4096, "recompute": "selective"}}
)",
      R"(cluster { chip: "h100" chips: 128 fabric: "dgx_h100" }
jobs { name: "a" first_chip: 0 chips: 64
       job { model: "llama3_8b" stack: "torchtitan" mesh { name: "fsdp" size: 64 } sharding: "fsdp"
             global_batch_sequences: 64 sequence_tokens: 8192 } }
jobs { name: "b" first_chip: 68 chips: 4
       job { model: "llama3_8b" stack: "torchtitan" mesh { name: "tensor" size: 4 } sharding: "megatron"
             global_batch_sequences: 4 sequence_tokens: 8192 } }
)",
      mlp_scenario(),
      R"(cluster { chip: "h100" chips: 8 fabric: "dgx_h100" }
job { stack: "torchtitan" mesh { name: "data" size: 8 } rule { dimension: "batch" axis: "data" }
      annotation { tensor: "t" sharding: "[{data},{?},{}p1]" } global_batch_sequences: 8 sequence_tokens: 16
      program { dimension { name: "c" size: 8 } order { part: "stem" } order { part: ["body"] repeat: 2 } order { part: "head" }
        part { name: "stem" data { name: "i" dims: "batch h=32 w=32 3" } parameter { name: "f" dims: "5 5 3 c" }
               operation { kind: convolution input: ["i", "f"] output: "x" window { stride: 2 pad: 2 } }
               operation { kind: pool input: "x" output: "p" window { along: "h" size: 3 stride: 2 dilation: 2 pad_low: 1 } } }
        part { name: "body" layer: true input { name: "x" dims: "batch h=7 w=16 c" } parameter { name: "s" dims: "2 c" }
               operation { kind: norm input: ["x", "s"] output: "n" along: "h w" statistics: 2 }
               operation { kind: reshape input: "n" output: "r" dims: "batch (h=7 w=16) c" }
               operation { kind: reshape input: "r" output: "y" dims: "batch h=7 w=16 c" } }
        part { name: "head" input { name: "x" dims: "batch h=7 w=16 c" } parameter { name: "e" dims: "rows=99 c" }
               data { name: "ids" dims: "batch n=4" }
               operation { kind: reduce input: "x" output: "m" along: "h w" }
               operation { kind: embedding input: ["e", "ids"] output: "t" }
               operation { kind: einsum input: ["t", "m"] output: "d" equation: "bnc,bc->bn" }
               operation { kind: concatenate input: ["d", "d"] output: "z" along: "n" }
               operation { kind: loss input: "z" output: "l" } } } }
)"};
  return texts;
}

const Lines& dictionary() {
  static const Lines tokens = {
      "0",     "-1",    "1",      "7",        "64",          "2147483647", "99999999999999999999",
      "1e308", "nan",   "-inf",   "0.5",      "{",           "}",          "[",
      "]",     ":",     "\"\"",   "\"h100\"", "\"tpu_v5e\"", "<",          ">",
      ",",     "\"",    "true",   "bf16",     "fp4",         "cluster",    "job",
      "#",     "size:", "mesh {", "\\",       "\xff",        "\t"};
  return tokens;
}

// Words, numbers, strings' quotes and brackets apart; what lies between them belongs to the token before.
Lines tokens_of(const std::string& text) {
  Lines tokens(1);
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && (!word(text[i]) || !word(text[i - 1]))) tokens.emplace_back();
    tokens.back() += text[i];
  }
  return tokens;
}

// Draws of one input, each addressed by its place in the order.
class Draws {
 public:
  explicit Draws(int input) : input_(static_cast<std::uint64_t>(input)) {}
  std::size_t below(std::size_t n) {
    return n == 0 ? 0 : random_bits(kSeed, RandomPurpose::kTest, input_, next_++) % n;
  }

 private:
  std::uint64_t input_, next_ = 0;
};

void mutate_bytes(std::string& text, Draws& draws) {
  if (text.empty()) return;
  const std::size_t at = draws.below(text.size());
  if (draws.below(8) == 0) {
    text.resize(at);
  } else {
    text[at] = static_cast<char>(draws.below(256));
  }
}

void mutate_tokens(std::string& text, Draws& draws) {
  Lines tokens = tokens_of(text);
  std::string& token = tokens[draws.below(tokens.size())];
  switch (draws.below(4)) {
    case 0:
      std::swap(token, tokens[draws.below(tokens.size())]);
      break;
    case 1:
      token += token;
      break;
    case 2:
      token.clear();
      break;
    default:
      token = dictionary()[draws.below(dictionary().size())];
  }
  text.clear();
  for (const std::string& each : tokens) text += each;
}

std::string mutant(int input) {
  Draws draws(input);
  std::string text = originals()[draws.below(originals().size())];
  for (std::size_t i = 1 + draws.below(3); i > 0; --i) {
    if (draws.below(4) == 0) {
      mutate_bytes(text, draws);
    } else {
      mutate_tokens(text, draws);
    }
  }
  return text;
}

void expect_sound(const LoadResult& result, const std::string& text) {
  ASSERT_EQ(result.spec.has_value(), result.problems.empty()) << text;
  ASSERT_LE(result.problems.size(), 20u) << text;
  for (const Problem& problem : result.problems) {
    ASSERT_FALSE(problem.message.empty()) << text;
    ASSERT_LT(format_problem(problem).size(), 1500u) << text;
  }
  if (!result.spec) return;
  ASSERT_EQ(explain_invalid(result.spec->cluster.fabric), "") << text;
  const Spec& spec = *result.spec;
  std::vector<PlacedJob> jobs = spec.jobs;
  if (jobs.empty()) jobs.push_back({"", 0, spec.cluster.fabric.chips, spec.job, spec.placement});
  std::vector<int> taken(spec.cluster.fabric.chips);
  for (const PlacedJob& job : jobs) {
    ASSERT_TRUE(explain_invalid(job.job).empty()) << text;
    ASSERT_EQ(job.job.mesh.devices(), job.chips) << text;
    ASSERT_EQ(spec.cluster.chip.matmul.count(job.job.precision.dtype), 1u) << text;
    ASSERT_EQ(explain_invalid_subcluster(spec.cluster.fabric, job.first_chip, job.chips), "") << text;
    for (int chip = job.first_chip; chip < job.first_chip + job.chips; ++chip)
      ASSERT_EQ(taken[chip]++, 0) << text;
  }
}

TEST(LoaderFuzz, the_originals_load) {
  for (const std::string& text : originals()) EXPECT_EQ(problems_of(text, {}, "input"), Lines{}) << text;
}

TEST(LoaderFuzz, mutants_never_crash_and_what_loads_is_valid) {
  int loaded = 0;
  for (int input = 0; input < kInputs; ++input) {
    const std::string text = mutant(input);
    const LoadResult result = load(text, {}, "input");
    ASSERT_NO_FATAL_FAILURE(expect_sound(result, text)) << "input " << input;
    loaded += result.spec ? 1 : 0;
  }
  EXPECT_GT(loaded, kInputs / 100);  // mutations small enough to reach the later checks
}

TEST(LoaderFuzz, mutated_overrides_never_crash) {
  const Lines paths = {"job.mesh[0].size",
                       "job.mesh.tensor.size",
                       "cluster.slice_shape",
                       "cluster.chip_override.matmul[0].dtype",
                       "adversity.slow_chip[0].chip",
                       "job.rule[0].axis",
                       "cluster.fabric_override.dcn.host.latency_us"};
  for (int input = 0; input < kInputs / 10; ++input) {
    Draws draws(kInputs + input);
    std::string argument =
        paths[draws.below(paths.size())] + "=" + dictionary()[draws.below(dictionary().size())];
    mutate_bytes(argument, draws);
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const Override set{argument.substr(0, equals), argument.substr(std::min(equals + 1, argument.size()))};
    ASSERT_NO_FATAL_FAILURE(expect_sound(load(valid_scenario(), {set}), argument));
  }
}

}  // namespace
}  // namespace podsim::fuzz_test
