// Models that the user writes as operations: what loads, what it amounts to, and how mistakes are told.
#include "workload/partition/program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/proto/scenario/program_scenario.h"
#include "workload/model/model_program.h"
#include "workload/partition/model_flops.h"

namespace podsim::program_test {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(std::string(PODSIM_SOURCE_DIR) + "/scenarios/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Job job_of(const std::string& text, const std::vector<Override>& overrides = {}) {
  const LoadResult result = load(text, overrides);
  for (const Problem& problem : result.problems) ADD_FAILURE() << format_problem(problem);
  return result.spec ? result.spec->job : Job{};
}

double model_gflops(const Job& job) { return flops_per_token(job, model_program(job)).full.value / 1e9; }

// What a block does, without the names of tensors.
std::vector<std::string> trace(const Block& block) {
  std::vector<std::string> lines;
  for (const ProgramOp& op : block) {
    std::ostringstream line;
    line.precision(17);
    if (const auto* compute = std::get_if<ComputeOp>(&op)) {
      line << "compute " << static_cast<int>(compute->op_class) << ' ' << static_cast<int>(compute->dtype)
           << ' ' << compute->m << ' ' << compute->n << ' ' << compute->k << ' ' << compute->flops.value
           << ' ' << compute->hbm.value << ' ' << compute->causal;
    } else {
      const auto& collective = std::get<CollectiveOp>(op);
      line << "collective " << static_cast<int>(collective.kind) << ' ' << collective.axes << ' '
           << collective.bytes.value << ' ' << static_cast<int>(collective.purpose);
    }
    lines.push_back(line.str());
  }
  return lines;
}

void expect_same_step(const StepProgram& own, const StepProgram& built_in) {
  EXPECT_EQ(own.parameters, built_in.parameters);
  EXPECT_EQ(own.flops_per_token.full, built_in.flops_per_token.full);
  EXPECT_EQ(own.flops_per_token.causal, built_in.flops_per_token.causal);
  EXPECT_EQ(own.flops_per_token.hardware, built_in.flops_per_token.hardware);
  EXPECT_EQ(own.memory.front().total(), built_in.memory.front().total());
  ASSERT_EQ(own.parts.size(), built_in.parts.size());
  for (std::size_t i = 0; i < own.parts.size(); ++i) {
    SCOPED_TRACE(own.parts[i].name);
    EXPECT_EQ(trace(own.parts[i].forward), trace(built_in.parts[i].forward));
    EXPECT_EQ(trace(own.parts[i].backward), trace(built_in.parts[i].backward));
    EXPECT_EQ(trace(own.parts[i].gradient_reduce), trace(built_in.parts[i].gradient_reduce));
    EXPECT_EQ(trace(own.parts[i].optimizer), trace(built_in.parts[i].optimizer));
    EXPECT_EQ(trace(own.parts[i].parameter_gather), trace(built_in.parts[i].parameter_gather));
  }
}

TEST(OwnProgram, a_transformer_written_out_takes_the_step_of_the_built_in_one) {
  const std::string own = file("custom_layer_64_h100.textproto");
  const std::size_t program = own.find("  program {");
  const std::string built_in = own.substr(0, program) + "  model: \"llama3_8b\"\n}\n";
  for (const std::vector<Override>& layout : std::vector<std::vector<Override>>{
           {},
           {{"job.sharding", "data,megatron_sp,zero1"}, {"job.mesh[0].name", "data"}},
           {{"job.sharding", "data,zero2"}, {"job.mesh[0].name", "data"}},
           {{"job.sharding", "megatron_sp"}, {"job.mesh[0].size", "1"}, {"cluster.chips", "4"}},
           {{"job.sharding", "fsdp,megatron"}, {"job.recompute", "none"}},
           {{"job.sharding", "fsdp"}, {"job.mesh[0].size", "64"}, {"job.mesh[1].size", "1"}}}) {
    SCOPED_TRACE(layout.empty() ? "as written" : layout.front().value);
    expect_same_step(partition(job_of(own, layout)), partition(job_of(built_in, layout)));
  }
}

// The batch has a rule, which the axis makes say nothing; and no rule.
TEST(OwnProgram, an_axis_of_size_1_changes_nothing) {
  const std::string own = file("custom_layer_64_h100.textproto");
  const std::vector<Override> one = {{"job.mesh[0].size", "1"}, {"cluster.chips", "4"}};
  for (const std::string preset : {"megatron", "megatron_sp"}) {
    SCOPED_TRACE(preset);
    std::vector<Override> ruled = one, plain = one;
    ruled.push_back({"job.sharding", "fsdp," + preset});
    plain.push_back({"job.sharding", preset});
    expect_same_step(partition(job_of(own, ruled)), partition(job_of(own, plain)));
  }
}

TEST(OwnProgram, resnet50_has_the_published_parameters_and_operations) {
  const Job job = job_of(file("resnet50_256_v4.textproto"));
  const ModelProgram model = model_program(job);
  EXPECT_EQ(parameter_count(model), 25'557'032);  // torchvision's resnet50
  // 4.09 GMAC of torchvision's table; three times two of them in training.
  EXPECT_NEAR(model_gflops(job) / 6, 4.09, 0.01);
  EXPECT_EQ(model.sequence.size(), 1u + 16u + 1u);
}

TEST(OwnProgram, dlrm_has_the_rows_and_matrices_of_the_reference) {
  const Job job = job_of(file("dlrm_64_h100.textproto"));
  const double rows = 204'184'588, bottom = 171'392, cross = 10'627'200, top = 5'245'953;
  EXPECT_EQ(parameter_count(model_program(job)), rows * 128 + bottom + cross + top);
  // Weights of matrices, without biases, once per sample; lookups multiply nothing.
  const double weights = 13 * 512 + 512 * 256 + 256 * 128 + 3 * 2 * 3456 * 512.0 +
                         (3456 * 1024 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256.0);
  EXPECT_DOUBLE_EQ(model_gflops(job), 6 * weights / 1e9);
}

TEST(OwnProgram, tables_cut_by_rows_send_sums_of_rows_back_to_the_samples) {
  const StepProgram program = partition(job_of(file("dlrm_64_h100.textproto")));
  int scattered = 0;
  for (const ProgramOp& op : program.parts.front().forward) {
    const auto* collective = std::get_if<CollectiveOp>(&op);
    if (!collective) continue;
    EXPECT_NE(collective->kind, CollectiveKind::kAllGather) << collective->tensor;  // no table is gathered
    if (collective->kind != CollectiveKind::kReduceScatter) continue;
    EXPECT_EQ(collective->bytes, Bytes{65536 * 128 * 2.0});  // bags of all samples, in 16 bits
    ++scattered;
  }
  EXPECT_GE(scattered, 5);  // tables of 40 million rows
}

TEST(OwnProgram, an_mlp_has_twice_its_weights_in_flops_per_sample) {
  const Job job = job_of(mlp_scenario());
  EXPECT_EQ(parameter_count(model_program(job)), 2 * 1024 * 4096);
  EXPECT_DOUBLE_EQ(model_gflops(job), 3 * 2 * 2 * 1024 * 4096 / 1e9);
}

TEST(OwnProgram, json_is_the_same_program) {
  const std::string json = R"({"cluster": {"chip": "h100", "fabric": "dgx_h100", "chips": 8},
 "job": {"stack": "torchtitan", "mesh": [{"name": "data", "size": 8}], "rule": [{"dimension": "batch", "axis": ["data"]}],
  "globalBatchSequences": 64, "sequenceTokens": 1, "program": {
   "dimension": [{"name": "embed", "size": 1024}, {"name": "ffn", "size": 4096}],
   "part": [{"name": "mlp", "data": [{"name": "x", "dims": "batch embed"}],
    "parameter": [{"name": "w_in", "dims": "embed ffn"}, {"name": "w_out", "dims": "ffn embed"}],
    "operation": [{"kind": "einsum", "input": ["x", "w_in"], "output": ["h"], "dims": ["batch ffn"]},
                  {"kind": "elementwise", "input": ["h"], "output": ["a"]},
                  {"kind": "einsum", "input": ["a", "w_out"], "output": ["y"], "dims": ["batch embed"]},
                  {"kind": "loss", "input": ["y"], "output": ["losses"]}]}]}}})";
  expect_same_step(partition(job_of(json)), partition(job_of(mlp_scenario())));
}

TEST(OwnProgram, an_annotation_of_one_tensor_replaces_its_rules) {
  const Job job =
      job_of(replaced(mlp_scenario(), "  program {",
                      "  annotation { tensor: \"w_in\" sharding: \"[{},{data}]\" }\n  program {"));
  const Graph graph = model_program(job).parts.front().graph;
  for (const Tensor& tensor : graph.tensors) {
    EXPECT_EQ(tensor.annotation.has_value(), tensor.name == "w_in");
    if (!tensor.annotation) continue;
    EXPECT_EQ(to_string(job.mesh, *tensor.annotation), "[{},{data}]");
  }
}

TEST(OwnProgram, what_has_no_rule_and_no_annotation_is_open) {
  const Job job = job_of(mlp_scenario());
  const ModelProgram ruled = model_program(job);
  for (const Tensor& tensor : ruled.parts.front().graph.tensors)
    EXPECT_TRUE(tensor.constrained) << tensor.name;  // all activations have a batch, which has a rule
  const Job open = job_of(replaced(mlp_scenario(), "  rule { dimension: \"batch\" axis: \"data\" }\n", ""));
  const ModelProgram silent = model_program(open);
  for (const Tensor& tensor : silent.parts.front().graph.tensors)
    EXPECT_EQ(tensor.constrained, tensor.role != TensorRole::kActivation) << tensor.name;
}

}  // namespace
}  // namespace podsim::program_test
