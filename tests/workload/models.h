// Published models and small jobs that the workload tests share.
#pragma once

#include <string>
#include <vector>

#include "workload/job/job.h"
#include "workload/partition/program.h"

namespace podsim::testing {

// Sources: arXiv 2005.14165 table 2.1 (GPT-3), 2307.09288 (Llama 2), 2407.21783 table 3 (Llama 3), 2204.02311
// table 1 (PaLM), 2211.05100 (BLOOM), 1810.04805 (BERT), 2205.05198 table 3 (Megatron 22B, 530B, 1T).
Model gpt3_175b();
Model llama2_70b();
Model llama3_8b();
Model llama3_70b();
Model llama31_405b();
Model palm_540b();
Model bloom_176b();
Model bert_large();
Model megatron_22b();
Model megatron_530b();
Model megatron_1t();

// A stack without casts or losses of its own: bytes are those of perfect fusion.
Stack plain_stack();

// One microbatch of one sequence per batch shard, rules of the presets in order.
Job job_of(const Model& model, const std::vector<MeshAxis>& axes, const std::vector<std::string>& presets,
           int sequence = 2048);

// The kinds of pieces of a dense transformer.
const Part& embedding_of(const StepProgram& program);
const Part& layer_of(const StepProgram& program);
const Part& head_of(const StepProgram& program);

// Collectives of a block with this kind and purpose.
std::vector<CollectiveOp> collectives(const Block& block, CollectiveKind kind, Purpose purpose);
std::vector<CollectiveOp> collectives(const Block& block);
std::vector<ComputeOp> computes(const Block& block, OpClass op_class);
double total_bytes(const std::vector<CollectiveOp>& ops);
double total_flops(const Block& block, OpClass op_class);
double total_hbm(const Block& block, OpClass op_class);
const ComputeOp& op_named(const Block& block, const std::string& name);
bool has_op(const Block& block, const std::string& name);

}  // namespace podsim::testing
