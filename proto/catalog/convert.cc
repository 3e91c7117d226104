// Catalogue messages to the structs of the folders below, in their units.
#include "proto/catalog/convert.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/binary_units.h"
#include "proto/catalog.pb.h"
#include "proto/catalog/convert_kernels.h"
#include "proto/catalog/owning_tables.h"
#include "proto/options.pb.h"
#include "proto/text/number_path.h"
#include "workload/job/chip.h"
#include "workload/job/dtype.h"
#include "workload/job/precision.h"
#include "workload/job/stack.h"

namespace podsim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

Bandwidth gb_per_s(double x) { return {x * 1e9}; }
Bytes gib(double x) { return {x * kBytesPerGib}; }
Bytes mib(double x) { return {x * kBytesPerMib}; }

// Whether a field is missing without which no element of a list is whole.
bool in_part(const Message& element) {
  const auto* descriptor = element.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->is_repeated() || field->options().GetExtension(schema::required).empty()) continue;
    if (!element.GetReflection()->HasField(element, field)) return true;
  }
  return false;
}

bool changes_elements(const Message& change, const FieldDescriptor& list) {
  if (list.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return false;
  const auto* reflection = change.GetReflection();
  for (int i = 0; i < reflection->FieldSize(change, &list); ++i) {
    const Message& element = reflection->GetRepeatedMessage(change, &list, i);
    if (!element_name(element).empty() && in_part(element)) return true;
  }
  return false;
}

// Merges each element of the change into the one of the same name, and appends those of new names.
void merge_elements(const Message& change, const FieldDescriptor& list, Message& base) {
  const auto* reflection = change.GetReflection();
  for (int i = 0; i < reflection->FieldSize(change, &list); ++i) {
    const Message& element = reflection->GetRepeatedMessage(change, &list, i);
    const int at = element_named(base, list, element_name(element));
    Message* target =
        at < 0 ? reflection->AddMessage(&base, &list) : reflection->MutableRepeatedMessage(&base, &list, at);
    merge_override(element, *target);
  }
}

// What is more than a dense stack of layers.
void add_structure(const schema::Model& from, Model& model) {
  if (from.has_experts()) {
    const auto& experts = from.experts();
    model.experts =
        MixtureOfExperts{.experts = experts.experts(),
                         .experts_per_token = experts.experts_per_token(),
                         .expert_ffn = experts.expert_ffn(),
                         .gated = experts.has_gated() ? experts.gated() : from.gated_ffn(),
                         .shared_ffn = experts.shared_ffn(),
                         .dense_layers = experts.dense_layers(),
                         .every = experts.has_every() ? experts.every() : 1,
                         .capacity_factor = experts.has_capacity_factor() ? experts.capacity_factor() : 1,
                         .imbalance = experts.has_imbalance() ? experts.imbalance() : 1,
                         .router_bias = experts.router_bias(),
                         .most_groups = experts.most_groups()};
  }
  if (from.has_latent_attention()) {
    const auto& latent = from.latent_attention();
    model.latent = LatentAttention{latent.query_rank(), latent.kv_rank(), latent.plain_dim(),
                                   latent.rotary_dim(), latent.value_dim()};
  }
  if (from.has_masked())
    model.masked = MaskedLanguageModel{from.masked().has_segments() ? from.masked().segments() : 2};
  if (from.has_decoder()) model.decoder = Decoder{from.decoder().layers(), from.decoder().tokens()};
  if (from.has_vision())
    model.vision = Vision{from.vision().patch(), from.vision().has_channels() ? from.vision().channels() : 3};
}

PrecisionRecipe to_recipe(const schema::PrecisionRecipe& from, const Stack& stack) {
  PrecisionRecipe recipe;
  recipe.name = schema::PrecisionRecipe::Name_Name(from.name());
  recipe.dtype = to_dtype(from.dtype());
  recipe.gemms.assign(from.gemm().begin(), from.gemm().end());
  if (from.has_forward()) recipe.forward = from.forward();
  if (from.has_input_gradient()) recipe.input_gradient = from.input_gradient();
  if (from.has_weight_gradient()) recipe.weight_gradient = from.weight_gradient();
  recipe.cast_bytes = from.has_cast_bytes() ? from.cast_bytes() : stack.cast_bytes;
  recipe.weights_cast_once = from.weights_cast_once();
  if (from.has_weight_bytes()) recipe.weight_bytes = from.weight_bytes();
  if (from.has_weight_wire_bytes()) recipe.weight_wire_bytes = from.weight_wire_bytes();
  if (from.has_activation_wire_bytes()) recipe.activation_wire_bytes = from.activation_wire_bytes();
  if (from.has_dispatch_wire_bytes()) recipe.dispatch_wire_bytes = from.dispatch_wire_bytes();
  if (from.has_combine_wire_bytes()) recipe.combine_wire_bytes = from.combine_wire_bytes();
  if (from.has_kept_bytes()) recipe.kept_bytes = from.kept_bytes();
  recipe.extra_kernels = from.extra_kernels_per_layer();
  return recipe;
}

// Systolic arrays that are not said to be of a TPU are like no chip that runs were measured on.
ChipKind kind_of_entry(const schema::Chip& from) {
  if (from.has_kind())
    return from.kind() == schema::Chip::tpu   ? ChipKind::kTpu
           : from.kind() == schema::Chip::gpu ? ChipKind::kGpu
                                              : ChipKind::kNeither;
  return from.matrix_side() > 0 ? ChipKind::kNeither : ChipKind::kGpu;
}

}  // namespace

Dtype to_dtype(int schema_dtype) {
  switch (schema_dtype) {
    case schema::fp32:
      return Dtype::kFp32;
    case schema::fp16:
      return Dtype::kFp16;
    case schema::fp8:
      return Dtype::kFp8;
    case schema::fp4:
      return Dtype::kFp4;
    case schema::int8:
      return Dtype::kInt8;
    default:
      return Dtype::kBf16;
  }
}

Chip to_chip(const schema::Chip& from, const Catalog::Entries& entries) {
  Chip chip;
  if (const schema::Kernels* kernels = find_kernels(entries, from.kernels()))
    chip.kernels = to_kernels(*kernels, from);
  chip.name = from.name();
  chip.kind = kind_of_entry(from);
  for (const auto& rate : from.matmul()) {
    chip.matmul[to_dtype(rate.dtype())] = {{rate.peak_tflops() * 1e12}, rate.sustained()};
  }
  if (from.has_compute_units()) chip.compute_units = from.compute_units();
  for (const auto& tile : from.tile()) chip.tiles.push_back({tile.m(), tile.n(), tile.penalty()});
  chip.matrix_side = from.matrix_side();
  chip.wave_exponent = from.wave_exponent();
  chip.short_k = from.short_k();
  chip.blocking = from.blocking();
  chip.hbm_capacity = gib(from.hbm_capacity_gib());
  chip.hbm = gb_per_s(from.hbm_bandwidth_gb_per_s());
  if (from.has_hbm_efficiency()) chip.hbm_efficiency = from.hbm_efficiency();
  if (from.has_memory_exposed()) chip.memory_exposed = from.memory_exposed();
  for (const auto& rate : from.attention())
    chip.attention.push_back({rate.kernel(), rate.forward(), rate.backward()});
  chip.attention_half_sequence = from.attention_half_sequence();
  chip.attention_head_dim_exponent = from.attention_head_dim_exponent();
  if (from.has_attention_widest_head_dim()) chip.attention_widest_head_dim = from.attention_widest_head_dim();
  chip.host_link = gb_per_s(from.host_link_gb_per_s());
  chip.power_idle_w = from.power_idle_w();
  chip.power_busy_w = from.power_busy_w();
  const PowerTerms power = usual_power();
  if (from.has_power_overhead_w()) chip.power_overhead_w = from.power_overhead_w();
  chip.power_of_host_w = power.host_w;
  chip.power_host_share = power.host_share;
  chip.power_waiting_share =
      from.has_power_waiting_share() ? from.power_waiting_share() : power.waiting_share;
  chip.power_range = from.has_power_range() ? from.power_range() : power.range;
  return chip;
}

std::optional<Chip> catalog_chip(const Catalog& catalog, const std::string& name) {
  const schema::Chip* entry = find_chip(catalog.entries(), name);
  return entry ? std::optional(to_chip(*entry, catalog.entries())) : std::nullopt;
}

Model to_model(const schema::Model& from) {
  Model model;
  model.name = from.name();
  model.layers = from.layers();
  model.d_model = from.d_model();
  model.heads = from.heads();
  model.kv_heads = from.has_kv_heads() ? from.kv_heads() : from.heads();
  model.head_dim = from.has_head_dim() ? from.head_dim() : from.d_model() / from.heads();
  model.ffn = from.ffn();
  model.gated_ffn = from.gated_ffn();
  model.vocabulary = from.vocabulary();
  model.tied_embedding = from.tied_embedding();
  if (from.has_causal()) model.causal = from.causal();
  model.parallel_block = from.parallel_block();
  model.learned_positions = from.learned_positions();
  model.biases = from.biases();
  model.dropout = from.dropout();
  model.rms_norm = from.rms_norm();
  model.qk_norm = from.qk_norm();
  model.post_norms = from.post_norms();
  model.attention_window = from.attention_window();
  model.full_every = from.full_every();
  model.attention_sinks = from.attention_sinks();
  model.usual_sequence = from.usual_sequence_tokens();
  model.prediction_layers = from.prediction_layers();
  add_structure(from, model);
  return model;
}

ExpertExecution to_expert_execution(const schema::ExpertExecution& from) {
  ExpertExecution experts;
  if (from.has_gemm_factor()) experts.gemm_factor = from.gemm_factor();
  if (from.has_traffic()) experts.traffic = from.traffic();
  if (from.has_permutation_traffic()) experts.permutation_traffic = from.permutation_traffic();
  experts.kernels = from.kernels();
  experts.kernels_per_expert = from.kernels_per_expert();
  experts.synchronises = from.synchronises();
  if (from.has_exchange_hidden()) experts.exchange_hidden = from.exchange_hidden();
  experts.once_per_domain = from.once_per_domain();
  experts.tile_rows = from.tile_rows();
  experts.tile = from.tile();
  return experts;
}

FusedKernels to_fused_kernels(const schema::FusedKernels& from) {
  FusedKernels fused;
  if (from.has_norm()) fused.norm = from.norm();
  if (from.has_rotary()) fused.rotary = from.rotary();
  if (from.has_activation()) fused.activation = from.activation();
  if (from.has_dropout()) fused.dropout = from.dropout();
  return fused;
}

std::optional<Stack> catalog_stack(const Catalog& catalog, const std::string& name) {
  const schema::Stack* entry = find_stack(catalog.entries(), name);
  return entry ? std::optional(to_stack(*entry)) : std::nullopt;
}

namespace {

// What of a stack says how much memory steps take.
void add_memory(const schema::Stack& from, Stack& stack) {
  if (from.has_gradient_bytes()) stack.gradient_bytes = from.gradient_bytes();
  if (from.has_logit_bytes()) stack.logit_bytes = from.logit_bytes();
  stack.workspace = mib(from.workspace_mib());
  stack.communicator_buffers = mib(from.communicator_buffers_mib());
  stack.gradient_memory_bytes = from.gradient_memory_bytes();
  if (from.has_optimizer_state_bytes()) stack.optimizer_state_bytes = from.optimizer_state_bytes();
  stack.gradient_pass_bytes = from.gradient_pass_bytes();
  stack.gradient_add_bytes = from.gradient_add_bytes();
  if (from.has_cast_bytes()) stack.cast_bytes = from.cast_bytes();
  if (from.has_loss_bytes_per_logit()) stack.loss_bytes_per_logit = from.loss_bytes_per_logit();
  if (from.has_fragmentation()) stack.fragmentation = from.fragmentation();
}

}  // namespace

Stack to_stack(const schema::Stack& from) {
  Stack stack;
  stack.name = from.name();
  stack.attention_kernel = from.attention_kernel();
  if (from.has_gemm_factor()) stack.gemm_factor = from.gemm_factor();
  if (from.has_elementwise_traffic()) stack.elementwise_traffic = from.elementwise_traffic();
  if (from.has_kernels_per_layer()) stack.kernels_per_layer = from.kernels_per_layer();
  stack.backward_kernels =
      from.has_backward_kernels_per_layer() ? from.backward_kernels_per_layer() : stack.kernels_per_layer;
  stack.windowed_einsum = from.windowed_einsum();
  if (from.has_host_launch_us()) stack.host_launch = Time::microseconds(from.host_launch_us());
  stack.loss_kernels = from.loss_kernels();
  stack.host_collective = Time::microseconds(from.host_collective_us());
  stack.optimizer_calls = from.optimizer_calls_per_weight();
  stack.launch_queue = from.launch_queue();
  stack.fused = to_fused_kernels(from.fused());
  if (from.has_kernel_gap_us()) stack.kernel_gap = Time::microseconds(from.kernel_gap_us());
  if (from.has_tensor_hidden()) stack.tensor_hidden = from.tensor_hidden();
  if (from.has_prefetch_forward()) stack.prefetch_forward = from.prefetch_forward();
  if (from.has_prefetch_backward()) stack.prefetch_backward = from.prefetch_backward();
  if (from.has_gradients_overlapped()) stack.gradients_overlapped = from.gradients_overlapped();
  if (from.has_sharded_state_overlapped()) stack.sharded_state_overlapped = from.sharded_state_overlapped();
  stack.gathers_by_owner = from.gathers_by_owner();
  stack.balances_stages = from.balances_stages();
  stack.keeps_gathered = from.keeps_gathered();
  if (from.has_pads_matmuls()) stack.pads_matmuls = from.pads_matmuls();
  stack.send_exposed = from.send_exposed();
  if (from.has_tensor_chunks()) stack.tensor_chunks = from.tensor_chunks();
  stack.gradient_bucket = {from.gradient_bucket_mb() * 1e6};
  stack.graphs_captured = from.graphs_captured();
  if (from.has_graph_launch_share()) stack.graph_launch_share = from.graph_launch_share();
  if (from.has_host_copies()) stack.host_copies = from.host_copies();
  if (from.has_interference()) stack.interference = from.interference();
  stack.skew_per_doubling = from.skew_per_doubling();
  if (from.has_network_share()) stack.network_share = from.network_share();
  stack.retry_free_share = from.retry_free_share();
  stack.retry_stall = from.retry_stall();
  stack.update_per_weight = Time::microseconds(from.update_us_per_weight());
  if (from.has_fixed_step_ms()) stack.fixed_step = Time::seconds(from.fixed_step_ms() * 1e-3);
  if (from.has_gathers_layers()) stack.gathers_layers = from.gathers_layers();
  add_memory(from, stack);
  if (from.has_optimizer_traffic()) stack.optimizer_traffic = from.optimizer_traffic();
  if (from.has_recompute_stops_early()) stack.recompute_stops_early = from.recompute_stops_early();
  if (from.has_weight_passes()) stack.weight_passes = from.weight_passes();
  stack.attention_block = from.attention_block();
  stack.scatter_gather_sends = from.scatter_gather_sends();
  if (from.has_attention_factor()) stack.attention_factor = from.attention_factor();
  if (from.has_sink_attention()) stack.sink_attention = from.sink_attention();
  stack.experts = to_expert_execution(from.experts());
  for (const auto& recipe : from.precision()) stack.recipes.push_back(to_recipe(recipe, stack));
  return stack;
}

LinkSpec to_link(const schema::Link& from) {
  LinkSpec link;
  link.bandwidth = gb_per_s(from.bandwidth_gb_per_s());
  if (from.has_efficiency()) link.efficiency = from.efficiency();
  link.latency = Time::microseconds(from.latency_us());
  return link;
}

Routing to_routing(int schema_routing) {
  switch (schema_routing) {
    case schema::dimension_order:
      return Routing::kDimensionOrder;
    case schema::ecmp:
      return Routing::kEcmp;
    case schema::static_:
      return Routing::kStatic;
    default:
      return Routing::kAdaptive;
  }
}

TorusSpec to_torus(const schema::Torus& from) {
  TorusSpec torus;
  if (from.has_dimensions()) torus.dimensions = from.dimensions();
  torus.cube = from.cube();
  torus.wrap_lengths.assign(from.wrap_length().begin(), from.wrap_length().end());
  torus.twisted = from.twisted();
  torus.max_chips = from.max_chips();
  torus.pod_cubes = from.pod_cubes();
  torus.ici = to_link(from.ici());
  return torus;
}

GpuClusterSpec to_gpu_cluster(const schema::GpuCluster& from) {
  GpuClusterSpec cluster;
  cluster.gpus_per_domain = from.gpus_per_domain();
  cluster.nvlink = to_link(from.nvlink());
  cluster.nvlink_mesh = from.nvlink_mesh();
  cluster.nvls = from.nvls();
  cluster.sharp = from.sharp();
  cluster.nic = to_link(from.nic());
  if (from.has_rail_optimised()) cluster.rail_optimised = from.rail_optimised();
  for (const auto& tier : from.tier()) {
    cluster.tiers.push_back({tier.down(), tier.has_oversubscription() ? tier.oversubscription() : 1});
  }
  return cluster;
}

Transport to_transport(const schema::Transport& from) {
  return {from.name(), from.collision_loss(), from.collision_floor(), from.weight_spread()};
}

void merge_override(const Message& change, Message& base) {
  const auto* reflection = change.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(change, &fields);
  const std::unique_ptr<Message> rest(change.New());
  rest->CopyFrom(change);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated() && changes_elements(change, *field)) {
      merge_elements(change, *field, base);
      reflection->ClearField(rest.get(), field);
    } else if (field->is_repeated()) {
      reflection->ClearField(&base, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && reflection->HasField(base, field)) {
      merge_override(reflection->GetMessage(change, field), *reflection->MutableMessage(&base, field));
      reflection->ClearField(rest.get(), field);
    }
  }
  base.MergeFrom(*rest);
}

}  // namespace podsim
