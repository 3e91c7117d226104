// Published models and small jobs that the workload tests share.

#include "tests/workload/models.h"

#include <stdexcept>

#include "workload/sharding/presets.h"
#include "workload/sharding/sharding.h"

namespace podsim::testing {
namespace {

Model gpt(const std::string& name, int layers, int d_model, int heads, int vocabulary, int positions) {
  Model model;
  model.name = name;
  model.layers = layers;
  model.d_model = d_model;
  model.heads = model.kv_heads = heads;
  model.head_dim = d_model / heads;
  model.ffn = 4 * d_model;
  model.vocabulary = vocabulary;
  model.learned_positions = positions;
  model.tied_embedding = true;
  model.biases = true;
  return model;
}

Model llama(const std::string& name, int layers, int d_model, int heads, int ffn, int vocabulary) {
  Model model;
  model.name = name;
  model.layers = layers;
  model.d_model = d_model;
  model.heads = heads;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.ffn = ffn;
  model.gated_ffn = true;
  model.vocabulary = vocabulary;
  return model;
}

const Part& part_named(const StepProgram& program, const std::string& name) {
  for (const Part& part : program.parts) {
    if (part.name == name) return part;
  }
  throw std::out_of_range("no part " + name);
}

}  // namespace

Model gpt3_175b() { return gpt("gpt3_175b", 96, 12288, 96, 50257, 2048); }
Model llama2_70b() { return llama("llama2_70b", 80, 8192, 64, 28672, 32000); }
Model llama3_8b() { return llama("llama3_8b", 32, 4096, 32, 14336, 128256); }
Model llama3_70b() { return llama("llama3_70b", 80, 8192, 64, 28672, 128256); }
Model llama31_405b() { return llama("llama31_405b", 126, 16384, 128, 53248, 128256); }
Model bloom_176b() { return gpt("bloom_176b", 70, 14336, 112, 250880, 0); }
Model megatron_22b() { return gpt("megatron_22b", 48, 6144, 64, 51200, 2048); }
Model megatron_530b() { return gpt("megatron_530b", 105, 20480, 128, 51200, 2048); }
Model megatron_1t() { return gpt("megatron_1t", 128, 25600, 160, 51200, 2048); }

Model palm_540b() {
  Model model = llama("palm_540b", 118, 18432, 48, 4 * 18432, 256000);
  model.kv_heads = 1;
  model.head_dim = 256;
  model.tied_embedding = true;
  model.parallel_block = true;
  return model;
}

Model bert_large() {
  Model model = gpt("bert_large", 24, 1024, 16, 30522, 512);
  model.causal = false;
  return model;
}

Stack plain_stack() {
  Stack stack;
  stack.name = "plain";
  stack.attention_kernel = "flash2";
  return stack;
}

Job job_of(const Model& model, const std::vector<MeshAxis>& axes, const std::vector<std::string>& presets,
           int sequence) {
  Job job;
  job.model = model;
  job.stack = plain_stack();
  job.mesh.axes = axes;
  for (const std::string& preset : presets) {
    const auto rules = preset_rules(preset, job.mesh);
    if (!rules) throw std::invalid_argument(preset);
    job.rules.insert(job.rules.end(), rules->begin(), rules->end());
  }
  job.microbatch = 1;
  job.sequence = sequence;
  job.global_batch = batch_shards(job);
  return job;
}

const Part& embedding_of(const StepProgram& program) { return part_named(program, "embedding"); }
const Part& layer_of(const StepProgram& program) { return part_named(program, "layer"); }
const Part& head_of(const StepProgram& program) { return part_named(program, "head"); }

std::vector<CollectiveOp> collectives(const Block& block) {
  std::vector<CollectiveOp> found;
  for (const ProgramOp& op : block) {
    if (const auto* collective = std::get_if<CollectiveOp>(&op)) found.push_back(*collective);
  }
  return found;
}

std::vector<CollectiveOp> collectives(const Block& block, CollectiveKind kind, Purpose purpose) {
  std::vector<CollectiveOp> found = collectives(block);
  std::erase_if(found, [&](const CollectiveOp& op) { return op.kind != kind || op.purpose != purpose; });
  return found;
}

std::vector<ComputeOp> computes(const Block& block, OpClass op_class) {
  std::vector<ComputeOp> found;
  for (const ProgramOp& op : block) {
    const auto* compute = std::get_if<ComputeOp>(&op);
    if (compute && compute->op_class == op_class) found.push_back(*compute);
  }
  return found;
}

double total_bytes(const std::vector<CollectiveOp>& ops) {
  double sum = 0;
  for (const CollectiveOp& op : ops) sum += op.bytes.value;
  return sum;
}

double total_flops(const Block& block, OpClass op_class) {
  double sum = 0;
  for (const ComputeOp& op : computes(block, op_class)) sum += op.flops.value;
  return sum;
}

double total_hbm(const Block& block, OpClass op_class) {
  double sum = 0;
  for (const ComputeOp& op : computes(block, op_class)) sum += op.hbm.value;
  return sum;
}

bool has_op(const Block& block, const std::string& name) {
  for (const ProgramOp& op : block) {
    const auto* compute = std::get_if<ComputeOp>(&op);
    if (compute && compute->name == name) return true;
  }
  return false;
}

const ComputeOp& op_named(const Block& block, const std::string& name) {
  for (const ProgramOp& op : block) {
    const auto* compute = std::get_if<ComputeOp>(&op);
    if (compute && compute->name == name) return *compute;
  }
  throw std::out_of_range("no operation " + name);
}

}  // namespace podsim::testing
