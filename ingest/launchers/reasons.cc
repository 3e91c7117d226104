// One table for each launcher.
#include "ingest/launchers/reasons.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace podsim {
namespace {

struct Reason {
  std::string_view why, beginnings;  // of names, with blanks between them
};

// That of the first beginning which the name has.
std::string why_not_used(std::span<const Reason> reasons, std::string_view name) {
  for (const Reason& reason : reasons) {
    for (std::string_view rest = reason.beginnings; !rest.empty();) {
      const std::string_view beginning = rest.substr(0, rest.find(' '));
      if (name.starts_with(beginning)) return std::string(reason.why);
      rest.remove_prefix(std::min(rest.size(), beginning.size() + 1));
    }
  }
  return "";
}

constexpr Reason kNotUsedByMegatron[] = {
    {"data and tokenizer",
     "data- vocab-file merge-file tokenizer- split mock-data num-workers tiktoken- train-data valid-data "
     "test-data per-split reset- eod-mask dataloader no-mmap no-create-attention create-attention blend "
     "num-dataset dataset"},
    {"training schedule and optimizer",
     "lr min-lr weight-decay adam- clip-grad init-method train-iters train-samples exit- decoupled- "
     "optimizer start-weight end-weight sgd- loss-scale initial-loss min-loss hysteresis seed override-opt "
     "use-checkpoint-opt attention-dropout calculate-per-token finetune skip- no-weight-decay "
     "apply-query-key check-for no-check-for rerun- deterministic muon mtp-loss moe-aux-loss moe-z-loss"},
    {"logs, evaluation and profiles",
     "log- logging- tensorboard- wandb- timing- eval- profile no-log one-logger enable-one record-memory "
     "use-pytorch-profiler memory-snapshot disable-straggler straggler"},
    {"checkpoints",
     "save load ckpt- dist-ckpt no-save no-load auto-detect-ckpt use-dist-ckpt async-save no-ckpt "
     "use-persistent-ckpt checkpoint-callback checkpoint-dir checkpoint-path pretrained-checkpoint "
     "non-persistent use-checkpoint-args "
     "exit-on-missing"},
    {"positions, which cost nothing here",
     "rotary- use-rotary rope- no-rope mscale beta-fast beta-slow use-rope original-max "
     "max-position-embeddings position-embedding-type"},
    {"kernels, which a stack describes",
     "attention-backend use-flash-attn transformer-impl no-gradient-accumulation-fusion no-masked no-bias "
     "bias- cross-entropy attention-softmax apply-layernorm norm-epsilon layernorm-epsilon use-mcore "
     "use-legacy manual-gc empty-unused te- enable-cuda-graph cuda-graph external-cuda fp8- fp4- "
     "first-last-layers-bf16 num-layers-at tp-comm- moe-grouped-gemm moe-permute moe-router-fusion "
     "masked-softmax no-persist memory-efficient use-fused distributed-timeout distributed-backend "
     "no-async-tensor defer-embedding delay-wgrad ddp- no-overlap overlap-p2p overlap-moe align- "
     "use-ring-exchange use-te-rng high-priority nccl- use-nccl use-sharp sharp- disable-gloo enable-gloo "
     "local-rank lazy- check-weight use-cpu-init no-initialization perform-init swiglu-limit "
     "accumulate-allreduce main-grads main-params exp-avg use-precision-aware init-model keep-fp8 fsdp- "
     "outer-dp num-distributed-optimizer average-in-collective cp-comm-type hierarchical-context "
     "batch-invariant gradient-accumulation-fusion"},
    {"routing, whose balance is assumed even",
     "moe-router moe-token-drop moe-pad moe-input moe-extended moe-layer-recompute "
     "moe-shared-expert-overlap moe-shared-expert-gate moe-deepep moe-enable-deepep moe-per-layer "
     "moe-apply"},
    {"details of what is kept", "deepspeed-activation-checkpointing"},
    {"of the test or site, not of the model", "outside."},
    {"of evaluation, or of another model", "elsewhere."},
    {"said by another section", "again."},
};

constexpr Reason kNotUsedByTorchtitan[] = {
    {"names, folders and logs",
     "job. profiling. metrics. comm. experimental. debug. model.print_after_conversion"},
    {"training schedule and optimizer",
     "optimizer. lr_scheduler. training.max_norm training.steps training.seed training.deterministic "
     "training.gc_freq"},
    {"data and tokenizer", "training.dataset model.hf_assets_path model.tokenizer_path"},
    {"checkpoints", "checkpoint."},
    {"evaluation", "validation."},
    {"quantised layers, which a stack describes", "quantize. float8. mx."},
    {"details of what is kept", "activation_checkpoint.per_op activation_checkpoint.early_stop"},
    {"fault tolerance", "fault_tolerance."},
    {"kernels, which a stack describes",
     "compile.components parallelism.disable_loss_parallel parallelism.enable_compiled_autograd "
     "parallelism.context_parallel_rotate_method"},
};

constexpr Reason kNotUsedByMaxtext[] = {
    {"names, folders and logs",
     "run_name base_output_directory gcs_metrics profiler log_ enable_tensorboard metrics upload_ "
     "save_config skip_first_n tensorboard enable_goodput monitor_ jax_cache dump_ record_ "
     "enable_jax_profiler vertex_ use_vertex enable_single_controller"},
    {"training schedule and optimizer",
     "steps learning_rate warmup cosine adam_ opt_type gradient_clipping enable_dropout dropout "
     "init_weights normalization_layer_epsilon z_loss eval_ load_balance_loss weight_decay mtp_"},
    {"data and tokenizer",
     "dataset tokenizer hf_ grain_ tfds_ max_segments_per_seq reuse_example_batch packing train_split "
     "train_data add_bos add_eos num_epoch colocated enable_data_shuffling data_shuffle"},
    {"checkpoints",
     "enable_checkpoint async_checkpoint checkpoint load_ enable_emergency local_checkpoint save_"},
    {"kernels, which a stack describes",
     "sa_ use_iota_embed logits_dot_in_fp32 megablox sparse_matmul float32_ matmul_precision use_ragged "
     "tile_ wi_tile wo_tile ragged_ use_tokamax cast_logits fused_ enable_nnx pure_nnx shard_mode "
     "custom_mesh mesh_axes logical_axis_rules context_parallel_ packing tokamax use_custom_sort "
     "quantize_kvcache quantization_local use_qwix allow_split optimizer_memory_host parameter_memory_host "
     "scan_pipeline set_remat stack_ xla_ libtpu hardware internal_compile num_vocab_tiling"},
    {"positions, which cost nothing here",
     "rope_ attn_logits_soft final_logits_soft query_pre_attn use_rope original_max_position mscale yarn"},
    {"routing, whose balance is assumed even",
     "routed_ n_routing topk_routing norm_topk routed_score use_random_routing load_balance"},
    {"a configuration of MaxText, not a figure", "base_config override_model_config model_call_mode"},
};

constexpr Reason kNotUsedByDeepspeed[] = {
    {"training schedule and optimizer",
     "optimizer. scheduler. gradient_clipping prescale_gradients gradient_predivide_factor "
     "zero_allow_untested_optimizer zero_force_ds_cpu_optimizer"},
    {"loss scaling", "fp16. bf16. data_types. amp."},
    {"logs and profiles",
     "steps_per_print wall_clock_breakdown dump_state tensorboard. wandb. csv_monitor. comms_logger. "
     "flops_profiler. memory_breakdown"},
    {"checkpoints", "checkpoint. aio."},
    {"data", "data_efficiency. curriculum_learning."},
    {"details of ZeRO, which a stack describes",
     "zero_optimization.contiguous_gradients zero_optimization.reduce_scatter "
     "zero_optimization.use_multi_rank "
     "zero_optimization.allgather_ zero_optimization.load_from_fp32_weights "
     "zero_optimization.elastic_checkpoint "
     "zero_optimization.offload_param. zero_optimization.offload_optimizer. zero_optimization.sub_group_size "
     "zero_optimization.cpu_offload_use_pin_memory zero_optimization.prefetch_bucket_size "
     "zero_optimization.param_persistence_threshold zero_optimization.model_persistence_threshold "
     "zero_optimization.max_ zero_optimization.gather_16bit zero_optimization.module_granularity "
     "zero_optimization.use_all_reduce_for_fetch_params zero_optimization.stage3_ "
     "zero_optimization.ignore_unused_parameters zero_optimization.legacy_stage1 "
     "zero_optimization.round_robin_gradients zero_optimization.zero_quantized_nontrainable_weights "
     "zero_optimization.zeropp_loco zero_optimization.mics_hierarchical "
     "zero_optimization.memory_efficient_linear "
     "zero_optimization.pipeline_loading_checkpoint zero_optimization.override_module_apply "
     "zero_optimization.log_trace_cache_warnings zero_optimization.save_muon communication_data_type "
     "sparse_gradients"},
    {"details of what is kept", "activation_checkpointing."},
    {"kernels, which a stack describes", "compile."},
};

constexpr Reason kNotUsedByHuggingFace[] = {
    {"positions, which cost nothing here",
     "rope_ rotary_ partial_rotary original_max_position initial_context_length max_window_layers n_ctx "
     "alibi no_rope attn_temperature"},
    {"kernels, which a stack describes", "use_parallel_residual"},
    {"constants of functions",
     "clip_qkv attn_config. ffn_config. rms_norm_eps layer_norm_eps layer_norm_epsilon norm_eps "
     "hidden_activation swiglu_limit attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar "
     "logit_scale scale_attn embedding_multiplier residual_multiplier attention_multiplier logits_scaling"},
    {"parts that are not the language model",
     "vision_config audio_config image_ boi_ eoi_ mm_ vision_ multimodal_ projector_"},
    {"how weights are stored", "quantization_config compression_config pretraining_tp ep_size"},
    {"names, versions and tokens",
     "architectures auto_map transformers _name_or_path bos_ eos_ pad_ unk_ decoder_start id2label "
     "label2id task_specific"},
    {"generation", "use_cache cache_implementation output_ return_dict is_ do_sample"},
    {"initial values", "initializer"},
    {"dropout of pretraining",
     "attention_dropout attn_pdrop embd_pdrop resid_pdrop hidden_dropout embd_ dropout"},
    {"routing, whose balance is assumed even",
     "router_aux router_jitter aux_loss seq_aux norm_topk_prob routed_scaling scoring_func n_group "
     "topk_group"},
    {"says the same as num_experts_per_tok", "experts_per_token"},
};

}  // namespace

std::string why_not_used_by_megatron(const std::string& name) {
  return why_not_used(kNotUsedByMegatron, name);
}
std::string why_not_used_by_torchtitan(const std::string& name) {
  return why_not_used(kNotUsedByTorchtitan, name);
}
std::string why_not_used_by_maxtext(const std::string& name) { return why_not_used(kNotUsedByMaxtext, name); }
std::string why_not_used_by_deepspeed(const std::string& name) {
  return why_not_used(kNotUsedByDeepspeed, name);
}
std::string why_not_used_by_hugging_face(const std::string& name) {
  constexpr std::string_view kText = "text_config.";
  return why_not_used(kNotUsedByHuggingFace, name.starts_with(kText) ? name.substr(kText.size()) : name);
}

}  // namespace podsim
