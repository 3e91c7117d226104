// What fields of a job and of its cluster need beside them to change a figure.
#include "proto/scenario/field_needs.h"

#include <algorithm>
#include <string>

#include "proto/scenario.pb.h"

namespace podsim {
namespace {

constexpr JobNeed kJobNeeds[] = {
    {{"sequence_tokens"},
     [](const JobSetting& s) { return s.job.sequence == 1 || !s.job.program || has_tokens(*s.job.program); },
     "a sample of the program has no tokens, and figures per token are then of a part of a sample",
     "write sequence_tokens: 1"},
    {{"pipeline.schedule"}, [](const JobSetting& s) { return s.stages() > 1; }, "the pipeline has one stage"},
    {{"recompute_layers", "recompute_every"},
     [](const JobSetting& s) { return s.job.recompute != Recompute::kNone || !s.job.offloaded.empty(); },
     "no layer recomputes or offloads anything",
     "write, for example, recompute: full"},
    {{"input_bytes_per_token"},
     [](const JobSetting& s) { return s.reads_input(); },
     "nothing limits how fast input is read",
     "input_rate_mb_per_s or storage_rate_gb_per_s does"},
    {{"input_batches_ahead"},
     [](const JobSetting& s) { return s.reads_input() || s.adversities.variation.input.probability > 0; },
     "nothing limits how fast input is read",
     "input_rate_mb_per_s or storage_rate_gb_per_s does"},
    // The stack.
    {{"stack_override.graph_launch_share"},
     [](const JobSetting& s) { return s.stack().graphs_captured; },
     "kernels are launched one by one",
     "graphs_captured: true launches layers as graphs"},
    {{"stack_override.retry_stall"},
     [](const JobSetting& s) { return s.stack().retry_free_share > 0; },
     "retry_free_share is missing or 0, so that the allocator never retries"},
    {{"stack_override.retry_free_share"},
     [](const JobSetting& s) { return s.stack().retry_stall > 0; },
     "retry_stall is missing or 0, so that retries cost nothing"},
    {{"stack_override.host_launch_us", "stack_override.host_collective_us", "stack_override.kernel_gap_us",
      "stack_override.graphs_captured", "stack_override.launch_queue"},
     [](const JobSetting& s) { return s.launches_kernels(); },
     "the stack runs one compiled program",
     "kernels_per_layer says how many kernels a layer has"},
    {{"stack_override.kernels_per_layer", "stack_override.backward_kernels_per_layer",
      "stack_override.loss_kernels"},
     [](const JobSetting& s) { return s.stack().host_launch.ps > 0 || s.stack().kernel_gap.ps > 0; },
     "a kernel costs nothing to launch",
     "host_launch_us or kernel_gap_us"},
    {{"stack_override.optimizer_calls_per_weight", "stack_override.launch_queue"},
     [](const JobSetting& s) { return s.stack().host_launch.ps > 0; },
     "a kernel costs the host nothing to launch",
     "host_launch_us"},
    {{"stack_override.sharded_state_overlapped", "stack_override.gathers_by_owner"},
     [](const JobSetting& s) { return s.shards_state(); },
     "no mesh axis cuts optimizer state alone",
     "zero1 does"},
    {{"stack_override.pads_matmuls"},
     [](const JobSetting& s) { return s.knows_misaligned_rows(); },
     "the kernels of the chip say nothing of rows that begin anywhere, or none of the model does"},
    {{"stack_override.balances_stages"},
     [](const JobSetting& s) { return s.stages() > 1 && s.job.layers_per_chunk.empty(); },
     "there is no pipeline with several stages whose layers are dealt out"},
    {{"stack_override.keeps_gathered"},
     [](const JobSetting& s) { return s.inner_axes() != 0; },
     "no mesh axis cuts the layers of a batch shard"},
    {{"stack_override.fused.rotary"},
     [](const JobSetting& s) { return s.transformer() && s.job.model.learned_positions == 0; },
     "the model adds positions to its embedding"},
    {{"stack_override.fused.activation"},
     [](const JobSetting& s) { return s.transformer() && (s.job.model.gated_ffn || s.experts()); },
     "the activation is one kernel"},
    {{"stack_override.fused.dropout"},
     [](const JobSetting& s) { return s.transformer() && s.job.model.dropout; },
     "the model has no dropout"},
    {{"stack_override.recompute_stops_early"},
     [](const JobSetting& s) { return s.job.recompute == Recompute::kFull; },
     "it is about recompute: full"},
    {{"stack_override.host_copies"},
     [](const JobSetting& s) { return !s.job.offloaded.empty(); },
     "nothing is offloaded to the host",
     "offload names activations"},
    {{"stack_override.send_exposed", "stack_override.scatter_gather_sends"},
     [](const JobSetting& s) { return s.stages() > 1; },
     "there is no pipeline with several stages"},
    {{"stack_override.scatter_gather_sends"},
     [](const JobSetting& s) { return s.copies_residual() || !s.transformer(); },
     "no two devices of a stage have the same activations between layers",
     "tensor parallelism without a cut sequence leaves copies"},
    {{"stack_override.skew_per_doubling"},
     [](const JobSetting& s) { return s.hosts_in_step() > 1; },
     "the job has one host (tori: one slice), which waits for no other"},
    {{"stack_override.network_share", "stack_override.experts.once_per_domain"},
     [](const JobSetting& s) { return s.between_servers(); },
     "nothing leaves the NVLink domain (tori: the slice)"},
    {{"stack_override.prefetch_forward", "stack_override.prefetch_backward", "stack_override.gathers_layers",
      "stack_override.weight_passes"},
     [](const JobSetting& s) { return s.gathers_weights(); },
     "no weights are gathered before use",
     "fsdp shards weights so"},
    {{"stack_override.gradient_bucket_mb", "stack_override.gradients_overlapped"},
     [](const JobSetting& s) { return s.batch_axes() != 0; },
     "there is one batch shard, and gradients are not reduced"},
    {{"stack_override.tensor_hidden", "stack_override.windowed_einsum", "stack_override.tensor_chunks"},
     [](const JobSetting& s) {
       return s.inner_axes() != 0 || (s.experts() && !s.stack().experts.exchange_hidden);
     },
     "no mesh axis cuts the layers of a batch shard, and no activations are exchanged"},
    {{"stack_override.interference"},
     [](const JobSetting& s) { return s.job.mesh.devices() > 1; },
     "one chip has no collectives"},
    {{"stack_override.cast_bytes"},
     [](const JobSetting& s) { return s.low_precision(); },
     "no matmul runs in fewer than 16 bits",
     "precision: fp8 does"},
    {{"stack_override.experts"}, [](const JobSetting& s) { return s.experts(); }, "the model has no experts"},
    {{"stack_override.experts.tile_rows"},
     [](const JobSetting& s) {
       return s.chip.tiles.empty() || (s.lone_experts() && s.stack().experts.gemm_factor != 1);
     },
     "the chip has tiles of its own, and a device has several experts or no slower matmuls of them"},
    {{"stack_override.experts.tile"},
     [](const JobSetting& s) { return s.chip.tiles.empty() && s.stack().experts.tile_rows > 0; },
     "the chip has tiles of its own, or tile_rows is 0"},
    {{"stack_override.experts.gemm_factor"},
     [](const JobSetting& s) { return !s.lone_experts() || s.stack().experts.tile_rows > 0; },
     "a device has one expert, whose matmuls are plain"},
    {{"stack_override.experts.once_per_domain"},
     [](const JobSetting& s) { return s.shards("experts") > 1; },
     "all experts are on each device, and no token leaves it"},
    {{"stack_override.sink_attention"},
     [](const JobSetting& s) { return s.transformer() && s.job.model.attention_sinks; },
     "the model has no attention sinks"},
    {{"stack_override.attention_block"},
     [](const JobSetting& s) { return s.fused_attention(); },
     "unfused attention computes all scores"},
    // The model.
    {{"model_override.parameters_billion", "model_override.active_parameters_billion"},
     [](const JobSetting&) { return false; },
     "it is a published count to compare with, and podsim counts parameters itself"},
    {{"model_override.usual_sequence_tokens"},
     [](const JobSetting&) { return false; },
     "it is what podsim init writes as sequence_tokens"},
    {{"model_override.tied_embedding", "model_override.masked"},
     [](const JobSetting& s) { return !s.job.model.vision; },
     "a model of images has no table of tokens"},
    {{"model_override.rms_norm"},
     [](const JobSetting& s) { return s.job.model.biases; },
     "norms have no offset anyhow, because the model has no biases"},
    {{"model_override.full_every"},
     [](const JobSetting& s) { return s.job.model.attention_window > 0; },
     "no layer is local",
     "attention_window says how many tokens a query of a local layer sees"},
    {{"model_override.attention_window"},
     [](const JobSetting& s) {
       return s.job.model.attention_window < s.job.sequence && s.job.model.full_every != 1;
     },
     "it hides no token from any query of this sequence"},
    {{"model_override.kv_heads", "model_override.head_dim", "model_override.qk_norm"},
     [](const JobSetting& s) { return !s.job.model.latent; },
     "latent_attention has the sizes of heads"},
    {{"model_override.attention_sinks"},
     [](const JobSetting& s) { return s.stack().sink_attention != 1; },
     "kernels of the stack compute sinks at full speed",
     "stack_override { sink_attention: 0.8 }"},
    {{"model_override.experts.most_groups"},
     [](const JobSetting& s) { return s.stack().experts.once_per_domain && s.between_servers(); },
     "a token crosses to each of its experts by itself, or nothing leaves the NVLink domain",
     "stack_override { experts { once_per_domain: true } }"},
};

bool any_offload(const JobSetting& s) { return s.offloads(); }
// Some matmul of a job runs in a format for which the chip's kernels have no tiles.
bool older_matmuls(const ClusterSetting& s) {
  if (!s.cluster.chip.kernels) return true;
  const auto lacks = [&](Dtype dtype) {
    return !s.cluster.chip.kernels->matmul.contains(dtype == Dtype::kFp16 ? "bf16"
                                                                          : std::string(to_string(dtype)));
  };
  return lacks(Dtype::kBf16) || std::ranges::any_of(s.jobs, [&](const JobSetting& job) {
           return lacks(job.job.precision.dtype) ||
                  std::ranges::any_of(job.job.gemm_precision,
                                      [&](const GemmPrecision& own) { return lacks(own.recipe.dtype); });
         });
}

bool any_fused(const JobSetting& s) { return s.job.program || (s.transformer() && s.fused_attention()); }
double head_dim(const JobSetting& s) {
  return s.job.model.latent ? s.job.model.latent->plain_dim + s.job.model.latent->rotary_dim
                            : s.job.model.head_dim;
}

// What a chip-hour costs and which carbon it is, whatever the chips do.
constexpr ClusterNeed kPriceNeeds[] = {
    {{"price_term", "provider", "region"},
     [](const ClusterSetting& s) { return !s.choice.has_usd_per_chip_hour(); },
     "usd_per_chip_hour is the price"},
    {{"owned"},
     [](const ClusterSetting& s) { return s.choice.price_term() == kOwnedTerm; },
     "the chips are rented",
     "price_term: \"owned\""},
    {{"embodied_kg"},
     [](const ClusterSetting& s) { return s.cluster.carbon.has_value(); },
     "nobody says what carbon the power has",
     "grid: \"sweden\" names it"},
};

constexpr ClusterNeed kClusterNeeds[] = {
    {{"routing", "fabric_override.routing"},
     [](const ClusterSetting& s) { return s.beyond_domain(); },
     "one NVLink domain holds all GPUs, and there is one path between any two"},
    {{"routing_seed", "fabric_override.routing_seed"},
     [](const ClusterSetting& s) { return s.fabric().routing == Routing::kEcmp; },
     "only ecmp draws paths by a seed",
     "routing: ecmp"},
    {{"transport", "fabric_override.transport"},
     [](const ClusterSetting& s) {
       return s.beyond_domain() &&
              (s.fabric().routing != Routing::kAdaptive || s.fabric().transport.is_ideal());
     },
     "under adaptive routing flows are spread over all paths and do not collide",
     "routing: ecmp gives each flow one path"},
    {{"fabric_override.gpu_cluster.nic", "fabric_override.gpu_cluster.tier",
      "fabric_override.gpu_cluster.rail_optimised", "fabric_override.gpu_cluster.sharp"},
     [](const ClusterSetting& s) { return s.beyond_domain(); },
     "one NVLink domain holds all GPUs"},
    {{"fabric_override.gpu_cluster.nvlink", "fabric_override.gpu_cluster.nvls",
      "fabric_override.gpu_cluster.nvlink_mesh"},
     [](const ClusterSetting& s) { return s.has(LinkKind::kNvlink); },
     "each GPU is an NVLink domain of its own"},
    {{"fabric_override.dcn.host", "fabric_override.dcn.oversubscription"},
     [](const ClusterSetting& s) { return s.fabric().slices > 1; },
     "there is one slice, and the DCN joins slices",
     "slices: 2"},
    {{"fabric_override.dcn.oversubscription"},
     [](const ClusterSetting& s) { return !s.choice.has_oversubscription(); },
     "oversubscription of the cluster counts"},
    {{"fabric_override.torus.shape"},
     [](const ClusterSetting& s) { return s.choice.slice_shape_size() == 0; },
     "slice_shape of the cluster counts"},
    {{"fabric_override.torus.twisted"},
     [](const ClusterSetting& s) { return !s.choice.has_twisted(); },
     "twisted of the cluster counts"},
    {{"fabric_override.torus.wrap_length"},
     [](const ClusterSetting& s) { return s.has(LinkKind::kIci) && !s.made_of_cubes(); },
     "optical circuit switches close whole cubes to rings"},
    {{"fabric_override.torus.pod_cubes"},
     [](const ClusterSetting& s) { return s.made_of_cubes(); },
     "the pod is not made of cubes"},
    {{"fabric_override.routing"},
     [](const ClusterSetting& s) { return !s.choice.has_routing(); },
     "routing of the cluster counts"},
    {{"fabric_override.routing_seed"},
     [](const ClusterSetting& s) { return !s.choice.has_routing_seed(); },
     "routing_seed of the cluster counts"},
    {{"fabric_override.transport"},
     [](const ClusterSetting& s) { return !s.choice.has_transport(); },
     "transport of the cluster counts"},
    {{"fabric_override.measured_as"},
     [](const ClusterSetting&) { return false; },
     "podsim validate reads it in the catalogue"},
    {{"hypothetical.scale_up"},
     [](const ClusterSetting& s) { return s.has(LinkKind::kNvlink) || s.has(LinkKind::kIci); },
     "each GPU is an NVLink domain of its own"},
    {{"hypothetical.scale_out"},
     [](const ClusterSetting& s) { return s.fabric().gpu ? s.beyond_domain() : s.fabric().slices > 1; },
     "no transfer leaves the NVLink domain or the slice"},
    {{"chip_override.host_link_gb_per_s", "hypothetical.host_link"},
     [](const ClusterSetting& s) { return s.any(any_offload); },
     "nothing is offloaded to the host",
     "offload or offload_optimizer"},
    {{"chip_override.attention_half_sequence"},
     [](const ClusterSetting& s) { return s.any(any_fused); },
     "no attention kernel is fused"},
    {{"chip_override.attention_head_dim_exponent"},
     [](const ClusterSetting& s) {
       return std::any_of(s.jobs.begin(), s.jobs.end(), [&](const JobSetting& job) {
         return any_fused(job) && std::min(head_dim(job), s.cluster.chip.attention_widest_head_dim) != 128;
       });
     },
     "rates of attention are stated at heads of 128, which the model has, or no kernel is fused"},
    {{"chip_override.attention_widest_head_dim"},
     [](const ClusterSetting& s) {
       return s.cluster.chip.attention_head_dim_exponent > 0 &&
              std::any_of(s.jobs.begin(), s.jobs.end(), [&](const JobSetting& job) {
                return any_fused(job) && head_dim(job) > s.cluster.chip.attention_widest_head_dim;
              });
     },
     "no head is wider, or attention_head_dim_exponent is 0"},
    {{"chip_override.tile", "chip_override.blocking"},
     older_matmuls,
     "matmuls of the chip take the tiles of its kernels"},
    {{"chip_override.wave_exponent", "chip_override.short_k"},
     [](const ClusterSetting& s) { return !s.cluster.chip.tiles.empty() && older_matmuls(s); },
     "the chip has no tile, or its kernels have tiles of their own"},
    {{"chip_override.compute_units"},
     [](const ClusterSetting& s) {
       return s.cluster.chip.kernels || (!s.cluster.chip.tiles.empty() && s.cluster.chip.wave_exponent > 0) ||
              s.any([](const JobSetting& job) { return job.stack().experts.tile_rows > 0 && job.experts(); });
     },
     "the chip has no tile whose waves they would run"},
};

}  // namespace

std::span<const JobNeed> needs_of_job() { return kJobNeeds; }
std::span<const ClusterNeed> needs_of_price() { return kPriceNeeds; }
std::span<const ClusterNeed> needs_of_cluster() { return kClusterNeeds; }

}  // namespace podsim
