// Jobs: a mesh over the chips, shardings for its axes, a pipeline, a batch that divides, and how layers run.
#include <algorithm>
#include <map>
#include <numeric>

#include "proto/scenario.pb.h"
#include "tests/swarm/random_model.h"
#include "tests/swarm/random_scenario.h"
#include "workload/job/model.h"

namespace podsim::testing {
namespace {

using Names = std::vector<std::string>;

class JobDrawer {
 public:
  JobDrawer(Draw& draw, const DrawnCluster& cluster, int chips, schema::JobChoice& job)
      : draw_(draw), cluster_(cluster), chips_(chips), job_(job) {}

  void run() {
    model_ = draw_model_kind(draw_);
    mesh();
    pipeline();
    sharding();
    batch();
    write_model(draw_, model_, pieces_, sizes_, job_);
    if (model_.kind == ModelKind::kMeasured) {
      if (draw_.chance(0.5)) job_.set_stack(draw_.of(cluster_.stacks));
    } else {
      partitioning();
      stack();
      precision();
      adapters();
      recompute();
    }
    input();
    lengths();
    evaluation();
  }

 private:
  bool has(const std::string& axis) const { return sizes_.count(axis) > 0; }
  int size(const std::string& axis) const { return has(axis) ? sizes_.at(axis) : 1; }

  void mesh();
  Names axis_names();
  void pipeline();
  void sharding();
  void batch();
  void partitioning();
  void stack();
  void precision();
  void adapters();
  void recompute();
  void input();
  void lengths();
  void shapes(Draw& padding);
  void evaluation();

  Draw& draw_;
  const DrawnCluster& cluster_;
  const int chips_;
  schema::JobChoice& job_;
  DrawnModel model_;
  std::map<std::string, int> sizes_;  // of the mesh axes
  int pieces_ = 1;                    // of the model, that the pipeline cuts it into
};

// Major to minor, as jobs are usually laid out, and now and then in another order.
Names JobDrawer::axis_names() {
  Names names;
  const auto perhaps = [&](const char* name, double probability) {
    if (draw_.chance(probability)) names.emplace_back(name);
  };
  const bool transformer = model_.kind == ModelKind::kTransformer;
  perhaps("data", 0.6);
  perhaps("pipeline", model_.layered ? 0.4 : 0);
  perhaps("fsdp", 0.35);
  perhaps("expert", model_.experts ? 0.7 : 0.02);
  perhaps("context", transformer ? 0.15 : 0);
  perhaps("tensor", transformer ? 0.5 : 0.15);
  perhaps("expert_tensor", model_.experts ? 0.1 : 0);
  if (transformer && draw_.chance(0.03)) names = {"x", "y"};
  if (names.empty()) names.emplace_back(draw_.of({"data", "fsdp"}));
  if (draw_.chance(0.1))
    std::rotate(names.begin(), names.begin() + draw_.below(int(names.size())), names.end());
  return names;
}

void JobDrawer::mesh() {
  const Names names = axis_names();
  for (const std::string& name : names) sizes_[name] = 1;
  int rest = chips_;
  for (int factor = 2; rest > 1;) {
    if (rest % factor != 0) {
      ++factor;
      continue;
    }
    sizes_[draw_.of(names)] *= factor;
    rest /= factor;
  }
  for (const std::string& name : names) {
    if (sizes_[name] == 1 && !draw_.chance(0.2)) {
      sizes_.erase(name);
      continue;
    }
    schema::MeshAxis& axis = *job_.add_mesh();
    axis.set_name(name);
    axis.set_size(schema::MeshAxis::Size(sizes_[name]));
  }
  if (job_.mesh_size() == 0) {
    job_.add_mesh()->set_name("data");
    job_.mutable_mesh(0)->set_size(schema::MeshAxis::Size(1));
    sizes_["data"] = 1;
  }
}

void JobDrawer::pipeline() {
  pieces_ = size("pipeline");
  if (!has("pipeline") || draw_.chance(0.15)) return;
  schema::Pipeline& pipeline = *job_.mutable_pipeline();
  if (draw_.chance(0.1)) pipeline.set_axis("pipeline");
  const auto schedule =
      static_cast<schema::Pipeline::Schedule>(draw_.between(1, schema::Pipeline::Schedule_MAX));
  pipeline.set_schedule(schedule);
  const bool chunked = schedule == schema::Pipeline::interleaved || schedule == schema::Pipeline::shifting;
  if (chunked && draw_.chance(0.8)) {
    pipeline.set_chunks_per_stage(draw_.between(1, 3));
    pieces_ *= pipeline.chunks_per_stage();
  }
  if (schedule == schema::Pipeline::zero_bubble_v) pieces_ *= 2;
  if (draw_.chance(0.1)) {
    for (int i = 0; i < pieces_; ++i) pipeline.add_layers_per_chunk(draw_.between(1, 2));
  }
}

void JobDrawer::sharding() {
  const auto add = [&](const std::string& preset) { job_.add_sharding(preset); };
  if (has("data")) add(draw_.of({"data", "data", "data", "zero3"}));
  if (has("data") && draw_.chance(0.4)) add(draw_.of({"zero1", "zero2"}));
  if (has("fsdp")) add(draw_.of({"fsdp", "hsdp"}));
  if (has("x")) add("2d_finalized");
  if (has("tensor"))
    add(model_.layered ? draw_.of({"megatron", "megatron_sp", "megatron_sp"}) : "vocabulary");
  if (has("context")) add(draw_.of({"context", "ring_context", "ulysses"}));
  if (has("expert_tensor")) {
    add("megatron_experts");
  } else if (has("expert")) {
    add("expert");
  }
  const auto rule = [&](const char* dimension, const std::string& axis) {
    schema::Rule& added = *job_.add_rule();
    added.set_dimension(dimension);
    if (!axis.empty()) added.add_axis(axis);
  };
  if (has("fsdp") && draw_.chance(0.1)) rule("param_embed", "fsdp");
  if (has("tensor") && draw_.chance(0.1)) rule("embed", draw_.chance(0.5) ? "tensor" : "");
  if (model_.kind == ModelKind::kImages && has("tensor")) rule("height", "tensor");
  if (model_.kind == ModelKind::kTables && draw_.chance(0.7))
    rule("param_tables", has("data") ? "data" : "fsdp");
}

void JobDrawer::batch() {
  int shards = size("data") * size("fsdp") * size("x");
  if (has("expert")) shards *= size("expert");
  const int stages = size("pipeline");
  int microbatches = draw_.chance(0.1) ? 8 * stages : draw_.between(1, 2 * stages + 2);
  const auto schedule = job_.pipeline().schedule();
  if (schedule == schema::Pipeline::interleaved || schedule == schema::Pipeline::shifting)
    microbatches = stages * draw_.between(1, 3);
  if (schedule == schema::Pipeline::zero_bubble_v || schedule == schema::Pipeline::dualpipe)
    microbatches = 2 * stages * draw_.between(1, 2);
  const int sequences = draw_.of({1, 1, 1, 2, 3});
  job_.set_global_batch_sequences(shards * microbatches * sequences);
  if (has("pipeline") || draw_.chance(0.7)) job_.set_microbatch_sequences(sequences);
}

void JobDrawer::partitioning() {
  if (draw_.chance(0.06))
    job_.set_partitioner(draw_.of({schema::JobChoice::declared, schema::JobChoice::search}));
  if (model_.kind != ModelKind::kProgram || !has("data") || job_.program().part_size() > 1) return;
  if (draw_.chance(0.5)) return;
  schema::TensorSharding& annotation = *job_.add_annotation();  // of the perceptron
  annotation.set_tensor("h");
  annotation.set_sharding(draw_.of({"[{data},{}]", "[{data},{?}]", "[{?},{?}p1]"}));
}

void JobDrawer::stack() {
  job_.set_stack(draw_.of(cluster_.stacks));
  if (Draw apart = draw_.apart(); apart.chance(0.2)) job_.set_stack(apart.of(cluster_.generic));
  if (!draw_.chance(0.35)) return;
  schema::Stack& stack = *job_.mutable_stack_override();
  const auto perhaps = [&] { return draw_.chance(0.15); };
  if (perhaps()) stack.set_prefetch_forward(draw_.below(4));
  if (perhaps()) stack.set_prefetch_backward(draw_.below(4));
  if (perhaps()) stack.set_tensor_hidden(draw_.real(0, 1));
  if (perhaps()) stack.set_tensor_chunks(draw_.between(1, 4));
  if (perhaps()) stack.set_send_exposed(draw_.real(0, 1));
  if (perhaps()) stack.set_gradient_bucket_mb(draw_.of({0.0, 25.0, 400.0}));
  if (perhaps()) stack.set_gradients_overlapped(draw_.chance(0.5));
  if (perhaps()) stack.set_host_launch_us(draw_.of({0.0, 4.0, 40.0}));
  if (perhaps()) stack.set_graphs_captured(draw_.chance(0.5));
  if (perhaps()) stack.set_skew_per_doubling(draw_.of({0.0, 0.01}));
  if (perhaps()) stack.set_windowed_einsum(draw_.chance(0.5));
  if (perhaps()) stack.set_scatter_gather_sends(draw_.chance(0.5));
  if (perhaps()) stack.set_gathers_layers(draw_.chance(0.5));
  if (perhaps()) stack.set_interference(draw_.real(0, 0.5));
  if (perhaps()) stack.set_fixed_step_ms(draw_.of({0.0, 5.0}));
  if (perhaps()) stack.set_update_us_per_weight(draw_.of({0.0, 25.0, 500.0}));
  if (Draw apart = draw_.apart(); apart.chance(0.3)) stack.set_gradient_pass_bytes(apart.of({0.0, 16.0}));
  if (perhaps()) stack.set_host_copies(draw_.between(1, 3));
  if (perhaps()) stack.set_weight_passes(draw_.of({0.0, 1.0, 2.0}));
  if (perhaps()) stack.set_attention_block(draw_.of({0.0, 128.0}));
  if (model_.experts && draw_.chance(0.4)) {
    stack.mutable_experts()->set_exchange_hidden(draw_.real(0, 1));
    stack.mutable_experts()->set_synchronises(draw_.chance(0.5));
    stack.mutable_experts()->set_once_per_domain(draw_.chance(0.5));
  }
}

void JobDrawer::precision() {
  const auto name = [&] {
    schema::PrecisionRecipe::Name value = schema::PrecisionRecipe::bf16;
    schema::PrecisionRecipe::Name_Parse(draw_.of(cluster_.precisions), &value);
    return value;
  };
  if (cluster_.chip == "v100" || draw_.chance(0.6)) job_.set_precision(name());
  if (model_.kind != ModelKind::kTransformer || !draw_.chance(0.1)) return;
  schema::GemmPrecision& own = *job_.add_gemm_precision();
  own.set_gemm(draw_.of({"ffn down", "ffn up", "attention out"}));
  own.set_precision(name());
}

void JobDrawer::adapters() {
  Draw draw = draw_.apart();
  if (!draw.chance(0.1)) return;
  schema::Adapters& adapters = *job_.mutable_adapters();
  adapters.set_rank(draw.of({4, 16, 64}));
  if (model_.kind == ModelKind::kTransformer && draw.chance(0.5)) adapters.add_matmul("attention out");
  if (draw.chance(0.5)) adapters.set_frozen_weight_bytes(draw.of({0.5, 1.0}));
  if (draw.chance(0.5)) adapters.set_dropout(true);
}

void JobDrawer::recompute() {
  switch (draw_.below(8)) {
    case 0:
    case 1:
      job_.set_recompute(schema::JobChoice::full);
      break;
    case 2:
      job_.set_recompute(draw_.of({schema::JobChoice::none, schema::JobChoice::selective}));
      break;
    case 3:
      job_.set_recompute_policy(
          draw_.of({"minimal", "save_qkv_proj", "qkv_proj_offloaded", "minimal_offloaded",
                    "save_dot_with_context_except_mlp", "save_out_proj"}));
      break;
    case 4:
      if (model_.kind == ModelKind::kTransformer)
        job_.add_recompute_modules(draw_.of({"core_attn", "layernorm"}));
      break;
    case 5:
      if (model_.kind == ModelKind::kTransformer) job_.add_keep(draw_.of({"context", "norm 1", "q"}));
      break;
    default:
      break;
  }
  if (draw_.chance(0.08)) job_.set_recompute_layers(draw_.between(1, 2));
  if (draw_.chance(0.08)) job_.set_recompute_every(draw_.between(1, 3));
  if (model_.kind == ModelKind::kTransformer && draw_.chance(0.08))
    job_.add_offload(draw_.of({"context", "q"}));
  if (draw_.chance(0.06)) job_.set_offload_optimizer(true);
}

void JobDrawer::input() {
  if (!draw_.chance(0.2)) return;
  job_.set_input_bytes_per_token(draw_.of({4.0, 4000.0}));
  if (draw_.chance(0.7)) job_.set_input_rate_mb_per_s(draw_.of({1.0, 50.0, 5000.0}));
  if (draw_.chance(0.3)) job_.set_storage_rate_gb_per_s(draw_.of({0.01, 1.0}));
  if (draw_.chance(0.4)) job_.set_input_batches_ahead(draw_.between(1, 4));
  Draw machines = draw_.apart();
  if (machines.chance(0.3)) job_.set_input_disk_mb_per_s(machines.of({20.0, 2000.0}));
  if (!machines.chance(0.4)) return;
  job_.set_input_core_mb_per_s(machines.of({2.0, 200.0}));
  if (machines.chance(0.6)) job_.set_input_cores(machines.between(1, 64));
}

void JobDrawer::lengths() {
  if (model_.kind != ModelKind::kTransformer || !draw_.chance(0.2)) return;
  if (draw_.chance(0.5)) {
    job_.set_lengths("long_tail_32k");
  } else {
    for (const double tokens : {100.0, 700.0, 4096.0}) {
      schema::LengthBin& bin = *job_.mutable_lengths_override()->add_bin();
      bin.set_tokens(tokens);
      bin.set_share(draw_.real(0.1, 2));
    }
  }
  if (draw_.chance(0.5))
    job_.set_length_balance(
        static_cast<schema::JobChoice::LengthBalance>(draw_.between(1, schema::JobChoice::squares)));
  if (Draw padding = draw_.apart(); !job_.has_length_balance() && padding.chance(0.3)) shapes(padding);
}

void JobDrawer::shapes(Draw& padding) {
  schema::PaddedShapes& shapes = *job_.mutable_shapes();
  if (padding.chance(0.2)) {
    shapes.set_exact(true);
  } else if (job_.sequence_tokens() >= 1024) {
    shapes.add_bucket_tokens(job_.sequence_tokens() / 2);
  }
  if (!padding.chance(0.5)) return;
  shapes.set_compile_s(padding.of({1.0, 90.0}));
  shapes.set_run_steps(padding.of({100.0, 1e5}));
}

void JobDrawer::evaluation() {
  if (!draw_.chance(0.08)) return;
  schema::Evaluation& evaluation = *job_.mutable_evaluation();
  evaluation.set_sequences(draw_.of({1, 64, 1000}));
  if (draw_.chance(0.5)) {
    evaluation.set_every_steps(draw_.between(1, 50));
  } else {
    evaluation.set_every_sequences(draw_.of({1, 512}));
  }
}

}  // namespace

void draw_job(Draw& draw, const DrawnCluster& cluster, int chips, schema::JobChoice& job) {
  JobDrawer(draw, cluster, chips, job).run();
}

}  // namespace podsim::testing
